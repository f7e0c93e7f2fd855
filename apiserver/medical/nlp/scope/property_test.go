// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A passage is a sentence with its mentions.
type passage struct {
	Sentence
	mentions []Mention
}

// The kinds of tokens in random passages, in addition to the cues.
const (
	wordToken = iota
	fillerToken
	commaToken
	linkToken
	endToken
	questionToken
	mentionToken
	cueToken   // plus the index of a cue
	tokenKinds = cueToken + int(model.CueRelative-model.CueNegation) + 1
)

// newPassage creates a passage of the given kinds of tokens. Each mention token is a
// mention. wide adds mentions of several mention tokens.
func newPassage(kinds []int, wide [][]int) passage {
	p := passage{Sentence: Sentence{Tokens: len(kinds)}}
	var free []int
	for i, kind := range kinds {
		p.Fillers = append(p.Fillers, kind == fillerToken)
		p.Commas = append(p.Commas, kind == commaToken)
		p.Links = append(p.Links, kind == linkToken)
		p.ClauseEnds = append(p.ClauseEnds, kind == endToken || kind == questionToken)
		p.QuestionMarks = append(p.QuestionMarks, kind == questionToken)
		switch {
		case kind == mentionToken:
			free = append(free, i)
			p.mentions = append(p.mentions, Mention{Positions: []int{i}, RiskFactor: i%3 == 0, NamesRelative: i%5 == 0, StatesAbsence: i%7 == 0, HasNegation: i%11 == 0, StartsStatement: i%13 == 0, IsSerious: i%17 == 0, NamesWriter: i%19 == 0, OfRelative: i%23 == 0, AppliesToOnlooker: i%29 == 0})
		case kind >= cueToken:
			p.Cues = append(p.Cues, Cue{Kind: model.CueNegation + model.Meaning(kind-cueToken), From: i, To: i + 1})
		}
	}
	for _, chosen := range wide {
		var positions []int
		for _, c := range chosen {
			if len(free) > 0 {
				positions = append(positions, free[c%len(free)])
			}
		}
		slices.Sort(positions)
		if positions = slices.Compact(positions); len(positions) > 0 {
			p.mentions = append(p.mentions, Mention{Positions: positions})
		}
	}
	return p
}

var (
	genTokenKind    = rapid.OneOf(rapid.SampledFrom([]int{wordToken, fillerToken, commaToken, mentionToken, mentionToken}), rapid.IntRange(0, tokenKinds-1))
	genTokenKinds   = rapid.SliceOfN(genTokenKind, 0, 30)
	genWideMentions = rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 30), 1, 3), 0, 3)
	genPassage      = rapid.Custom(func(t *rapid.T) passage {
		return newPassage(genTokenKinds.Draw(t, "kinds"), genWideMentions.Draw(t, "wide"))
	})
)

// append returns the passage followed by another one.
func (p passage) append(next passage) passage {
	both := passage{
		Sentence: Sentence{
			Tokens:        p.Tokens + next.Tokens,
			Cues:          slices.Clone(p.Cues),
			ClauseEnds:    slices.Concat(p.ClauseEnds, next.ClauseEnds),
			QuestionMarks: slices.Concat(p.QuestionMarks, next.QuestionMarks),
			Commas:        slices.Concat(p.Commas, next.Commas),
			Links:         slices.Concat(p.Links, next.Links),
			Fillers:       slices.Concat(p.Fillers, next.Fillers),
		},
		mentions: slices.Clone(p.mentions),
	}
	for _, cue := range next.Cues {
		cue.From, cue.To = cue.From+p.Tokens, cue.To+p.Tokens
		both.Cues = append(both.Cues, cue)
	}
	for _, s := range next.mentions {
		s.Positions = slices.Clone(s.Positions)
		for i := range s.Positions {
			s.Positions[i] += p.Tokens
		}
		both.mentions = append(both.mentions, s)
	}
	return both
}

func (p passage) resolve() []Assertion { return Resolve(p.Sentence, p.mentions) }

// mentionsRelatives reports whether the passage names a person who is the patient
// unless the writer is, in whichever sentence.
func (p passage) mentionsRelatives() bool {
	return slices.ContainsFunc(p.Cues, func(c Cue) bool { return c.Kind == model.CueRelative }) ||
		slices.ContainsFunc(p.mentions, func(s Mention) bool { return s.OfRelative })
}

// TestSentencesAreIndependent checks that sentences are resolved independently if they
// name no relatives.
func TestSentencesAreIndependent(t *testing.T) {
	t.Parallel()
	stop := newPassage([]int{endToken}, nil)
	rapid.Check(t, func(t *rapid.T) {
		a, b := genPassage.Draw(t, "a"), genPassage.Draw(t, "b")
		if a.mentionsRelatives() || b.mentionsRelatives() {
			return
		}
		want := slices.Concat(a.resolve(), b.resolve())
		if diff := cmp.Diff(want, a.append(stop).append(b).resolve(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestMentionOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := genPassage.Draw(t, "passage")
		verdicts := p.resolve()
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		order := random.Perm(len(p.mentions))
		turned, want := make([]Mention, len(order)), make([]Assertion, len(order))
		for i, from := range order {
			turned[i], want[i] = p.mentions[from], verdicts[from]
		}
		if diff := cmp.Diff(want, Resolve(p.Sentence, turned)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestFillersAndNeutralCuesChangeNothing checks that meaningless words may stand
// anywhere, except after an addition, where they start a statement: "no fever and a
// cough".
func TestFillersAndNeutralCuesChangeNothing(t *testing.T) {
	t.Parallel()
	neutral, adds := cueToken+int(model.CueNeutral-model.CueNegation), cueToken+int(model.CueAddition-model.CueNegation)
	rapid.Check(t, func(t *rapid.T) {
		kinds, wide := genTokenKinds.Draw(t, "kinds"), genWideMentions.Draw(t, "wide")
		elsewhere := func(at int) bool { return at == 0 || kinds[at-1] != adds }
		at := rapid.IntRange(0, len(kinds)).Filter(elsewhere).Draw(t, "at")
		added := rapid.SampledFrom([]int{fillerToken, neutral}).Draw(t, "added")
		want := newPassage(kinds, wide).resolve()
		more := newPassage(slices.Insert(slices.Clone(kinds), at, added), wide)
		for i, s := range newPassage(kinds, wide).mentions { // flags depend on positions, which have moved
			s.Positions = more.mentions[i].Positions
			more.mentions[i] = s
		}
		if diff := cmp.Diff(want, more.resolve(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestNothingIsUnassertedWithoutCues checks that a text without cues or relatives
// asserts all mentions as worded.
func TestNothingIsUnassertedWithoutCues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, mentionToken), 0, 40).Draw(t, "kinds")
		p := newPassage(kinds, genWideMentions.Draw(t, "wide"))
		for i := range p.mentions {
			p.mentions[i].NamesRelative, p.mentions[i].OfRelative = false, false
		}
		for i, verdict := range p.resolve() {
			if want := map[bool]Assertion{true: Absent, false: Present}[p.mentions[i].StatesAbsence]; verdict != want {
				t.Fatalf("subject %d is %d, want %d", i, verdict, want)
			}
		}
	})
}

// TestAbsentRequiresNegation checks that no mention is Absent without a negation.
func TestAbsentRequiresNegation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := genPassage.Draw(t, "passage")
		if slices.ContainsFunc(p.Cues, func(c Cue) bool {
			return c.Kind.IsNegation() || c.Kind == model.CueForwardNegation
		}) {
			return
		}
		for i, verdict := range p.resolve() {
			if verdict == Absent && !p.mentions[i].StatesAbsence {
				t.Fatalf("subject %d is absent", i)
			}
		}
	})
}

// TestUnrelatedSentencesChangeNothing checks on whole texts that adding unrelated
// sentences changes nothing.
func TestUnrelatedSentencesChangeNothing(t *testing.T) {
	t.Parallel()
	words := slices.Concat(mentionWords, riskWords, relativeWords, absentWords, fillerWords, strings.Fields(", . ? and but no not gone work today"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 15).Draw(t, "words"), " ")
		want := annotate(text).formatAssertions()
		for _, variant := range []string{"Good morning doctor. " + text, text + ". Thank you for seeing me today."} {
			if got := annotate(variant).formatAssertions(); got != want {
				t.Fatalf("%q: got %s, %q: want %s", variant, got, text, want)
			}
		}
	})
}

// FuzzResolve checks that Resolve returns an assertion for each mention of any
// passage, and the same ones if the passage is repeated.
func FuzzResolve(f *testing.F) {
	f.Add([]byte{cueToken, mentionToken, commaToken, mentionToken}, []byte{0, 1})
	f.Add([]byte{mentionToken, questionToken, cueToken}, []byte{0, 0, 3})
	f.Fuzz(func(t *testing.T, tokens, wide []byte) {
		kinds := make([]int, len(tokens))
		for i, b := range tokens {
			kinds[i] = int(b) % tokenKinds
		}
		var chosen [][]int
		for pair := range slices.Chunk(wide, 2) {
			chosen = append(chosen, []int{int(pair[0]), int(pair[len(pair)-1])})
		}
		p := newPassage(kinds, chosen)
		once := p.resolve()
		if len(once) != len(p.mentions) {
			t.Fatalf("%d verdicts on %d subjects", len(once), len(p.mentions))
		}
		twice := p.append(newPassage([]int{endToken}, nil)).append(p).resolve()
		if diff := cmp.Diff(slices.Concat(once, once), twice, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// BenchmarkResolve resolves a text of the maximum length with many cues.
func BenchmarkResolve(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := make([]int, 500)
	for i := range kinds {
		kinds[i] = random.IntN(tokenKinds)
	}
	p := newPassage(kinds, nil)
	for b.Loop() {
		p.resolve()
	}
}
