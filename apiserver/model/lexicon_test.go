// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func decodedSmall(t *testing.T) *Release {
	t.Helper()
	r, err := Decode(mustEncode(t, small().Layout()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPatternsAreFoundByTheirRarestTerm(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	type found struct {
		Meaning  Meaning
		Elements int
	}
	for word, want := range map[string][]found{
		"head":     nil, // pounding and the class of pain are as rare as can be
		"pound":    {{Mentions, 2}},
		"ach":      {{Mentions, 2}}, // by its class
		"pain":     {{Mentions, 2}},
		"no":       {{CueNegates, 1}},
		"father":   {{CueOthers, 1}},
		"for":      {{SaysDuration, 2}},
		"last":     {{SaysTime, 2}},
		"night":    nil, // the first of two that are as rare
		"the":      nil,
		"pounding": nil, // no stem
	} {
		var got []found
		s, _ := r.FindStem(word)
		for _, term := range Part(r.TermRefs, s.Terms) {
			for _, ref := range Part(r.PatternRefs, r.TermPatterns[term]) {
				p := r.Patterns[ref.Pattern]
				got = append(got, found{p.Meaning, p.Elements.Len()})
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q leads to %s", word, diff)
		}
	}
	if len(r.NumberPatterns) != 1 || r.Patterns[r.NumberPatterns[0]].Observation != 3 {
		t.Errorf("patterns without terms are %v", r.NumberPatterns)
	}
}

// A class that only one pattern names may hold words that all texts have.
func TestPatternsAreRuledOutByTheirLeastCommonTerm(t *testing.T) {
	t.Parallel()
	draft := small()
	often := &DraftClass{Name: "often", Words: []string{"head", "pain"}}
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{
		Meaning: Mentions, Observation: draft.Observations[0], Elements: []DraftElement{{Word: "splitting"}, {Class: often}, {Word: "night"}},
	})
	r := draft.Layout()
	beside := func(word string) (words []string) {
		s, _ := r.FindStem(word)
		for _, term := range Part(r.TermRefs, s.Terms) {
			for _, ref := range Part(r.PatternRefs, r.TermPatterns[term]) {
				for _, other := range []string{"no", "pain", "head", "night"} {
					if s, _ := r.FindStem(other); slices.Contains(Part(r.TermRefs, s.Terms), ref.Beside) {
						words = append(words, other)
					}
				}
			}
		}
		return words
	}
	for word, want := range map[string][]string{"no": {"no"}, "split": {"night"}, "last": {"night"}, "pound": {"head"}} {
		if diff := cmp.Diff(want, beside(word)); diff != "" {
			t.Errorf("beside %q: (-want +got)\n%s", word, diff)
		}
	}
}

func TestPatternsSayWhatTheDraftDoes(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	want := []Pattern{
		{Meaning: Mentions, Observation: 0, AnyOrder: true, Key: 1},
		{Meaning: Mentions, Observation: 0, Key: 1},
		{Meaning: Mentions, Observation: 3},
		{Meaning: CueNegates, Observation: None},
		{Meaning: CueOthers, Observation: None, Relative: true},
		{Meaning: SaysDuration, Observation: None},
		{Meaning: SaysTime, Observation: None, Minutes: 720},
	}
	if diff := cmp.Diff(want, r.Patterns, cmpopts.IgnoreFields(Pattern{}, "Elements")); diff != "" {
		t.Error(diff)
	}
	head := Part(r.Elements, r.Patterns[0].Elements)[0].Term
	elements := []Element{
		{Kind: TermElement, Term: head},
		{Kind: TermElement, Term: Part(r.Elements, r.Patterns[1].Elements)[1].Term, Gap: 6},
		{Kind: NumberElement, Range: 0},
	}
	got := slices.Concat(Part(r.Elements, r.Patterns[1].Elements), Part(r.Elements, r.Patterns[2].Elements))
	if diff := cmp.Diff(elements, got, cmpopts.IgnoreUnexported(Element{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Range{{20, 40}}, r.Ranges); diff != "" {
		t.Error(diff)
	}
}

func TestStemsSayWhatTheirWordsMean(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	for word, want := range map[string]Stem{
		"the":  {Number: math.NaN(), Filler: true},
		"two":  {Number: 2},
		"half": {Number: 0.5},
		"day":  {Number: math.NaN(), Minutes: 1440},
	} {
		got, ok := r.FindStem(word)
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Stem{}, "Terms", "Indications", "Denials", "_")); !ok || diff != "" {
			t.Errorf("%q: %t %s", word, ok, diff)
		}
		if got.IsNumber() != (word == "two" || word == "half") {
			t.Errorf("%q is a number: %t", word, got.IsNumber())
		}
	}
	for _, word := range []string{"", "days", "table", "absent"} {
		if got, ok := r.FindStem(word); ok {
			t.Errorf("%q is the stem %+v", word, got)
		}
	}
}

func TestWordFrequency(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	for word, want := range map[string]uint64{
		"head": 1, "heads": 1, "pain": 1, "ache": 1, "table": 1, "the": 1, "two": 1, "days": 1, "night": 1, // and none of
		"": 0, "ach": 0, "Head": 0, "tables": 0,
	} {
		if got, ok := r.WordFrequency(word); got != want || ok != (want > 0) {
			t.Errorf("%q is used %d times, %t, want %d", word, got, ok, want)
		}
	}
	if got := r.OrdinaryWords(); got < 1 || got >= r.trees.vocabulary.Len() {
		t.Errorf("%d ordinary words of %d", got, r.trees.vocabulary.Len())
	}
	more := small()
	more.Lexicon.Patterns = append(more.Lexicon.Patterns, more.Lexicon.Patterns[2], more.Lexicon.Patterns[2])
	if got, _ := more.Layout().WordFrequency("ache"); got != 3 {
		t.Errorf("a word of three patterns is used %d times", got)
	}
}

func TestWordsNear(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	for word, want := range map[string][]string{
		"haed":                    {"head"},
		"head":                    {"head", "heads"},
		"heds":                    {"heads"},
		"tabel":                   {"table"},
		"zzzzz":                   nil,
		"":                        nil,
		strings.Repeat("z", 4000): nil,
	} {
		if diff := cmp.Diff(want, r.WordsNear(word)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", word, diff)
		}
	}
}

func TestReleaseWithoutLexiconFindsNothing(t *testing.T) {
	t.Parallel()
	draft := small()
	draft.Lexicon, draft.Meta.Stemmer = DraftLexicon{}, ""
	r, err := Decode(mustEncode(t, draft.Layout()))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.OrdinaryWords(); got != 0 {
		t.Errorf("%d ordinary words", got)
	}
	if _, ok := r.WordFrequency("head"); ok || len(r.Patterns) > 0 {
		t.Errorf("%d patterns, and a word: %t", len(r.Patterns), ok)
	}
	if got := r.WordsNear("head"); got != nil {
		t.Errorf("%q is near a word", got)
	}
	if _, ok := r.FindWord("head"); ok {
		t.Error("a word was found")
	}
}

// Servers look words up for many requests at once.
func TestLookUpsAreConcurrent(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				_, inflected := r.FindWord("days")
				_, word := r.WordFrequency("pounding")
				_, found := r.FindStem("pound")
				if !inflected || !word || !found {
					t.Error("what is there was not found")
					return
				}
			}
		})
	}
	all.Wait()
}

// The first term of a word is its own, so that it tells words from classes.
// A look-up allocates nothing.
func TestLookUpsAllocateNothing(t *testing.T) { // not in parallel, which AllocsPerRun does not allow
	r := decodedSmall(t)
	if got := testing.AllocsPerRun(1000, func() { r.WordFrequency("heads") }); got >= 1 {
		t.Errorf("%v allocations", got)
	}
}

func TestTermsBeginWithTheStem(t *testing.T) {
	t.Parallel()
	draft := small()
	wide := &DraftClass{Name: "wide", Words: []string{"pain", "ache", "pounding"}}
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{Meaning: CuePast, Elements: []DraftElement{{Class: wide}}})
	r := draft.Layout()
	of := func(word string) []Term {
		found, _ := r.FindWord(word)
		return Part(r.TermRefs, found.Terms)
	}
	pain, pounding := of("pain"), of("pounding")
	if len(pain) != 3 || len(pounding) != 2 || pain[0] == of("aches")[0] || !slices.IsSorted(pain) || pain[2] != pounding[1] || !slices.Equal(pain[1:], of("aching")[1:]) {
		t.Errorf("the terms of pain are %v, of aching %v, of pounding %v", pain, of("aching"), pounding)
	}
}

// The same words in another order give the same bytes.
func TestLexiconIsRepeatable(t *testing.T) {
	t.Parallel()
	first := mustEncode(t, small().Layout())
	draft := small()
	slices.Reverse(draft.Lexicon.Fillers)
	slices.Reverse(draft.Lexicon.Ordinary)
	slices.Reverse(draft.Observations)
	if !slices.Equal(first, mustEncode(t, draft.Layout())) {
		t.Error("the same lexicon gives other bytes")
	}
}

func TestDeleteHashesOfLongWordsAreBounded(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{"": 1, "a": 1, "ab": 3, "abc": 7, "abcdefg": 29, "abcdefgh": 29, strings.Repeat("é", 1000): 29, "\xff\xfe\xfd": 7} {
		if got := len(slices.Collect(DeleteHashes(word))); got != want {
			t.Errorf("%.10q has %d deletes, want %d", word, got, want)
		}
	}
	a, b := slices.Collect(DeleteHashes("stomach"))[0], slices.Collect(DeleteHashes("stomachache"))[0]
	if a != b {
		t.Error("letters behind the seventh count")
	}
}

// Whatever two slips of the pen make of the beginning of a word, the two have a
// delete in common.
func TestMisspellingsShareADelete(t *testing.T) {
	t.Parallel()
	letter := rapid.RuneFrom([]rune("abcdeü"))
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(letter, 3, 5).Draw(t, "word")
		slipped := slices.Clone(word)
		for range rapid.IntRange(0, 2).Draw(t, "slips") {
			at := rapid.IntRange(0, len(slipped)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "slip") {
			case 0:
				slipped = slices.Delete(slipped, at, at+1)
			case 1:
				slipped = slices.Insert(slipped, at, letter.Draw(t, "letter"))
			case 2:
				slipped[at] = letter.Draw(t, "letter")
			case 3:
				if at > 0 {
					slipped[at-1], slipped[at] = slipped[at], slipped[at-1]
				}
			}
		}
		hashes := slices.Collect(DeleteHashes(string(word)))
		for hash := range DeleteHashes(string(slipped)) {
			if slices.Contains(hashes, hash) {
				return
			}
		}
		t.Fatalf("%q and %q have no delete in common", string(word), string(slipped))
	})
}

// Deletes of a release lead to every word that patterns use, and to no other.
func TestDeletesLeadToTheirWords(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	words := map[string]bool{}
	for _, d := range r.Deletes {
		word := r.Text(r.DeleteWords[d.Word])
		words[word] = true
		if !slices.Contains(slices.Collect(DeleteHashes(word)), d.Hash) {
			t.Errorf("%x is no delete of %q", d.Hash, word)
		}
	}
	for _, word := range []string{"head", "heads", "ache", "pounding", "no", "the", "days", "half"} {
		if !words[word] {
			t.Errorf("no delete leads to %q", word)
		}
	}
	if words["table"] {
		t.Error("an ordinary word is one that misspellings are corrected to")
	}
}

func TestLexiconIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil func(r *Release)
		says  string
	}{
		{"an unknown stemmer", func(r *Release) { r.Meta.Stemmer = "klingon" }, `stemmer "klingon"`},
		{"terms of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].Terms.End++ }, "do not continue"},
		{"indications of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].Indications.End++ }, "indications ["},
		{"an indication of nothing there is", func(r *Release) { r.Indications[0].Observation = 6 }, "speaks for observation 6"},
		{"an indication before none", func(r *Release) { r.Indications[0].Observation = None - 1 }, "speaks for observation -2"},
		{"an indication of nothing", func(r *Release) { r.Indications[0].Weight = 0 }, "expected more than 0"},
		{"an indication without end", func(r *Release) { r.Indications[0].Weight = float32(math.Inf(1)) }, "expected more than 0"},
		{"denials of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].Denials.End++ }, "indications ["},
		{"the denial of none", func(r *Release) {
			s := &r.Stems[slices.IndexFunc(r.Stems, func(s Stem) bool { return s.Indications.Len() > 0 })]
			s.Indications, s.Denials = Span{s.Indications.Start, s.Indications.Start}, s.Indications
			r.Indications[s.Denials.Start].Observation = None
		}, "speaks for observation -1"},
		{"indications of nothing", func(r *Release) { r.Indications = append(r.Indications, Indication{Weight: 1}) }, "belong to nothing"},
		{"a number without end", func(r *Release) { r.Stems[0].Number = math.Inf(1) }, "stem 0: the number"},
		{"a term there is not", func(r *Release) { r.TermRefs[0] = Term(len(r.TermPatterns)) }, "where there are"},
		{"terms of nothing", func(r *Release) { r.TermRefs = append(r.TermRefs, 0) }, "belong to nothing"},
		{"a pattern without elements", func(r *Release) { r.Patterns[0].Elements.End = 0 }, "pattern 0: found by element"},
		{"a pattern found by no element", func(r *Release) { r.Patterns[0].Key = 2 }, "pattern 0: found by element 2 of 2"},
		{"a pattern of no meaning", func(r *Release) { r.Patterns[6].Meaning = SaysTime + 1 }, "no known meaning"},
		{"a cue of an observation", func(r *Release) { r.Patterns[3].Observation = 0 }, "negates and observation 0"},
		{"a mention of nothing", func(r *Release) { r.Patterns[0].Observation = None }, "mentions and observation -1"},
		{"a mention of nothing there is", func(r *Release) { r.Patterns[2].Observation = 6 }, "observation 6, where there are 6"},
		{"a time of a cue", func(r *Release) { r.Patterns[3].Minutes = 1 }, "1 minutes of the meaning negates"},
		{"patterns out of order", func(r *Release) { r.Patterns[1].Observation = 5 }, "pattern 2 is out of order"},
		{"an element of no kind", func(r *Release) { r.Elements[0].Kind = TimeElement + 1 }, "unknown kind"},
		{"an element of no term", func(r *Release) { r.Elements[0].Term = 99 }, "element 0: term 99"},
		{"a number from more to less", func(r *Release) { r.Ranges[0].To = 1 }, "range 0 is from 20 to 1"},
		{"a number that is none", func(r *Release) { r.Ranges[0].To = math.NaN() }, "range 0 is from 20 to NaN"},
		{"a range there is not", func(r *Release) { r.Elements[4].Range = 1 }, "element 4: range 1, where there are 1"},
		{"elements of nothing", func(r *Release) { r.Elements = append(r.Elements, Element{}) }, "elements belong to nothing"},
		{"patterns of a term over the end", func(r *Release) { r.TermPatterns[0].End = 99 }, "term 0: pattern references"},
		{"a pattern of another term", func(r *Release) { r.PatternRefs[0], r.PatternRefs[1] = r.PatternRefs[1], r.PatternRefs[0] }, "found by another element"},
		{"a pattern there is not", func(r *Release) { r.PatternRefs[0].Pattern = 99 }, "pattern 99"},
		{"a term beside that there is not", func(r *Release) { r.PatternRefs[0].Beside = Term(len(r.TermPatterns)) }, "beside it"},
		{"a pattern that nothing finds", func(r *Release) { r.NumberPatterns = nil }, "7 patterns, of which 6 are found"},
		{"a pattern without terms that has one", func(r *Release) { r.NumberPatterns[0] = 0 }, "pattern 0 behind -1"},
		{"deletes out of order", func(r *Release) { r.Deletes[0], r.Deletes[1] = r.Deletes[1], r.Deletes[0] }, "delete 1"},
		{"a delete of no word", func(r *Release) { r.Deletes[0].Word = 99 }, "delete 0 is of word 99"},
		{"words of deletes out of order", func(r *Release) { r.DeleteWords[0], r.DeleteWords[1] = r.DeleteWords[1], r.DeleteWords[0] }, "word 1 of the deletes"},
		{"a word over the end", func(r *Release) { r.DeleteWords[0].Length = math.MaxUint32 }, "word 0 of the deletes"},
		{"a vocabulary cut short", func(r *Release) { r.Vocabulary = r.Vocabulary[:20] }, "vocabulary: damaged"},
		{"a stem tree of nothing", func(r *Release) { r.StemTree = make([]byte, 40) }, "stem tree: damaged"},
		{"a vocabulary that begins behind its end", func(r *Release) { r.Vocabulary[len(r.Vocabulary)-2] = 1 }, "vocabulary: damaged: it begins"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := small().Layout()
			test.spoil(r)
			_, err := Decode(mustEncode(t, r))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error %q does not say %q", err, test.says)
			}
		})
	}
}

// FuzzTree damages a tree in whatever way: it is refused, or every look-up in it
// ends, and finds nothing where a step leads out of it.
func FuzzTree(f *testing.F) {
	r := small().Layout()
	f.Add(r.Vocabulary, "head")
	f.Add(r.StemTree, "pound")
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		tree, err := loadTree(data)
		if err != nil {
			return
		}
		lookUp(tree, key)
		lookUp(tree, "")
		for b := range 256 {
			lookUp(tree, string([]byte{byte(b), byte(b)}))
		}
		near := Release{trees: trees{vocabulary: tree}}
		near.WordsNear(key)
	})
}

// BenchmarkFindWord is what every word of a text pays.
func BenchmarkFindWord(b *testing.B) {
	r := small().Layout()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.FindWord("pounding"); !ok {
			b.Fatal("a stem was not found")
		}
	}
}
