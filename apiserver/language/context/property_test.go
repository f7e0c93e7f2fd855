// SPDX-License-Identifier: Apache-2.0

package context

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A passage is a sentence with its subjects.
type passage struct {
	Sentence
	subjects []Subject
}

// The kinds of tokens that drawn passages are made of, beside the cues.
const (
	wordToken = iota
	fillerToken
	commaToken
	linkToken
	endToken
	askToken
	mentionToken
	cueToken   // and each cue after it
	tokenKinds = cueToken + int(model.CueRelatives-model.CueNegates) + 1
)

// compose makes a passage of token kinds. Each mention token is a subject of its
// own; wide adds subjects of several mention tokens.
func compose(kinds []int, wide [][]int) passage {
	p := passage{Sentence: Sentence{Tokens: len(kinds)}}
	var free []int
	for i, kind := range kinds {
		p.Fillers = append(p.Fillers, kind == fillerToken)
		p.Commas = append(p.Commas, kind == commaToken)
		p.Links = append(p.Links, kind == linkToken)
		p.Ends = append(p.Ends, kind == endToken || kind == askToken)
		p.Asks = append(p.Asks, kind == askToken)
		switch {
		case kind == mentionToken:
			free = append(free, i)
			p.subjects = append(p.subjects, Subject{Positions: []int{i}, RiskFactor: i%3 == 0, Relative: i%5 == 0, SaidAbsent: i%7 == 0, Denies: i%11 == 0, Begins: i%13 == 0, Alarm: i%17 == 0, Writer: i%19 == 0, Kin: i%23 == 0, Onlooker: i%29 == 0})
		case kind >= cueToken:
			p.Cues = append(p.Cues, Cue{Kind: model.CueNegates + model.Meaning(kind-cueToken), From: i, To: i + 1})
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
			p.subjects = append(p.subjects, Subject{Positions: positions})
		}
	}
	return p
}

var (
	tokenKind = rapid.OneOf(rapid.SampledFrom([]int{wordToken, fillerToken, commaToken, mentionToken, mentionToken}), rapid.IntRange(0, tokenKinds-1))
	drawKinds = rapid.SliceOfN(tokenKind, 0, 30)
	drawWide  = rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 30), 1, 3), 0, 3)
	drawn     = rapid.Custom(func(t *rapid.T) passage {
		return compose(drawKinds.Draw(t, "kinds"), drawWide.Draw(t, "wide"))
	})
)

// then returns the passage followed by another one.
func (p passage) then(next passage) passage {
	both := passage{
		Sentence: Sentence{
			Tokens:  p.Tokens + next.Tokens,
			Cues:    slices.Clone(p.Cues),
			Ends:    slices.Concat(p.Ends, next.Ends),
			Asks:    slices.Concat(p.Asks, next.Asks),
			Commas:  slices.Concat(p.Commas, next.Commas),
			Links:   slices.Concat(p.Links, next.Links),
			Fillers: slices.Concat(p.Fillers, next.Fillers),
		},
		subjects: slices.Clone(p.subjects),
	}
	for _, cue := range next.Cues {
		cue.From, cue.To = cue.From+p.Tokens, cue.To+p.Tokens
		both.Cues = append(both.Cues, cue)
	}
	for _, s := range next.subjects {
		s.Positions = slices.Clone(s.Positions)
		for i := range s.Positions {
			s.Positions[i] += p.Tokens
		}
		both.subjects = append(both.subjects, s)
	}
	return both
}

func (p passage) judge() []Verdict { return Judge(p.Sentence, p.subjects) }

// speaksOfRelatives reports whether somebody is named who is the patient unless the
// writer is, in whatever sentence that is told.
func (p passage) speaksOfRelatives() bool {
	return slices.ContainsFunc(p.Cues, func(c Cue) bool { return c.Kind == model.CueRelatives }) ||
		slices.ContainsFunc(p.subjects, func(s Subject) bool { return s.Kin })
}

// TestSentencesAreIndependent holds that what is said between full stops is
// judged as if it stood alone, where no relatives are.
func TestSentencesAreIndependent(t *testing.T) {
	t.Parallel()
	stop := compose([]int{endToken}, nil)
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		if a.speaksOfRelatives() || b.speaksOfRelatives() {
			return
		}
		want := slices.Concat(a.judge(), b.judge())
		if diff := cmp.Diff(want, a.then(stop).then(b).judge(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOrderOfSubjectsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn.Draw(t, "passage")
		verdicts := p.judge()
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		order := random.Perm(len(p.subjects))
		turned, want := make([]Subject, len(order)), make([]Verdict, len(order))
		for i, from := range order {
			turned[i], want[i] = p.subjects[from], verdicts[from]
		}
		if diff := cmp.Diff(want, Judge(p.Sentence, turned)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestFillersAndNeutralCuesChangeNothing holds that words that mean nothing can
// stand anywhere but behind a word that adds, where they begin a statement: "no
// fever and a cough".
func TestFillersAndNeutralCuesChangeNothing(t *testing.T) {
	t.Parallel()
	neutral, adds := cueToken+int(model.CueNeutral-model.CueNegates), cueToken+int(model.CueAdds-model.CueNegates)
	rapid.Check(t, func(t *rapid.T) {
		kinds, wide := drawKinds.Draw(t, "kinds"), drawWide.Draw(t, "wide")
		elsewhere := func(at int) bool { return at == 0 || kinds[at-1] != adds }
		at := rapid.IntRange(0, len(kinds)).Filter(elsewhere).Draw(t, "at")
		added := rapid.SampledFrom([]int{fillerToken, neutral}).Draw(t, "added")
		want := compose(kinds, wide).judge()
		more := compose(slices.Insert(slices.Clone(kinds), at, added), wide)
		for i, s := range compose(kinds, wide).subjects { // flags go by position, which has moved
			s.Positions = more.subjects[i].Positions
			more.subjects[i] = s
		}
		if diff := cmp.Diff(want, more.judge(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestNothingIsUnsaidWithoutCues holds that a text without cues or relatives says
// all that it mentions, in the way that it is worded.
func TestNothingIsUnsaidWithoutCues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, mentionToken), 0, 40).Draw(t, "kinds")
		p := compose(kinds, drawWide.Draw(t, "wide"))
		for i := range p.subjects {
			p.subjects[i].Relative, p.subjects[i].Kin = false, false
		}
		for i, verdict := range p.judge() {
			if want := map[bool]Verdict{true: Absent, false: Present}[p.subjects[i].SaidAbsent]; verdict != want {
				t.Fatalf("subject %d is %d, want %d", i, verdict, want)
			}
		}
	})
}

// TestOnlyDenialsMakeAbsent holds that no verdict is Absent where nothing
// denies.
func TestOnlyDenialsMakeAbsent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn.Draw(t, "passage")
		if slices.ContainsFunc(p.Cues, func(c Cue) bool {
			return c.Kind.Denies() || c.Kind == model.CueNegatesAhead
		}) {
			return
		}
		for i, verdict := range p.judge() {
			if verdict == Absent && !p.subjects[i].SaidAbsent {
				t.Fatalf("subject %d is absent", i)
			}
		}
	})
}

// TestUnrelatedSentence holds on whole texts that what is said beside them
// changes nothing.
func TestUnrelatedSentence(t *testing.T) {
	t.Parallel()
	words := slices.Concat(mentionWords, riskWords, relativeWords, absentWords, fillerWords, strings.Fields(", . ? and but no not gone work today"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 15).Draw(t, "words"), " ")
		want := read(text).judged()
		for _, beside := range []string{"Good morning doctor. " + text, text + ". Thank you for seeing me today."} {
			if got := read(beside).judged(); got != want {
				t.Fatalf("%q: got %s, %q: want %s", beside, got, text, want)
			}
		}
	})
}

// FuzzJudge holds that any passage gets a verdict for each subject, and the
// same one for the passage said twice.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{cueToken, mentionToken, commaToken, mentionToken}, []byte{0, 1})
	f.Add([]byte{mentionToken, askToken, cueToken}, []byte{0, 0, 3})
	f.Fuzz(func(t *testing.T, tokens, wide []byte) {
		kinds := make([]int, len(tokens))
		for i, b := range tokens {
			kinds[i] = int(b) % tokenKinds
		}
		var chosen [][]int
		for pair := range slices.Chunk(wide, 2) {
			chosen = append(chosen, []int{int(pair[0]), int(pair[len(pair)-1])})
		}
		p := compose(kinds, chosen)
		once := p.judge()
		if len(once) != len(p.subjects) {
			t.Fatalf("%d verdicts on %d subjects", len(once), len(p.subjects))
		}
		twice := p.then(compose([]int{endToken}, nil)).then(p).judge()
		if diff := cmp.Diff(slices.Concat(once, once), twice, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// BenchmarkJudge judges a text as long as one may be, dense with cues.
func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := make([]int, 500)
	for i := range kinds {
		kinds[i] = random.IntN(tokenKinds)
	}
	p := compose(kinds, nil)
	for b.Loop() {
		p.judge()
	}
}
