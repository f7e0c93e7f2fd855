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

func mustDecodeSmall(t *testing.T) *Release {
	t.Helper()
	r, err := Decode(mustEncode(t, smallDraft().Build()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPatternsAreIndexedByRarestTerm(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	type found struct {
		Meaning  Meaning
		Elements int
	}
	for word, want := range map[string][]found{
		"head":     nil, // pounding and the class of pain are equally rare
		"pound":    {{MeaningMention, 2}},
		"ach":      {{MeaningMention, 2}}, // through its class
		"pain":     {{MeaningMention, 2}},
		"no":       {{CueNegation, 1}},
		"father":   {{CueOtherExperiencer, 1}},
		"for":      {{MeaningDuration, 2}},
		"last":     {{MeaningTime, 2}},
		"night":    nil, // the first of two equally rare terms
		"the":      nil,
		"pounding": nil, // not a stem
	} {
		var got []found
		s, _ := r.FindStem(word)
		for _, term := range Slice(r.TermRefs, s.Terms) {
			for _, ref := range Slice(r.PatternRefs, r.TermPatterns[term]) {
				p := r.Patterns[ref.Pattern]
				got = append(got, found{p.Meaning, p.Elements.Len()})
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("FindWord(%q) (-want +got): %s", word, diff)
		}
	}
	if len(r.TermlessPatterns) != 1 || r.Patterns[r.TermlessPatterns[0]].Observation != 3 {
		t.Errorf("termless patterns are %v", r.TermlessPatterns)
	}
}

// TestPrefilterTermIsLeastFrequent covers a class that only one pattern uses but that
// contains words found in all texts.
func TestPrefilterTermIsLeastFrequent(t *testing.T) {
	t.Parallel()
	draft := smallDraft()
	often := &DraftClass{Name: "often", Words: []string{"head", "pain"}}
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{
		Meaning: MeaningMention, Observation: draft.Observations[0], Elements: []DraftElement{{Word: "splitting"}, {Class: often}, {Word: "night"}},
	})
	r := draft.Build()
	prefilterWords := func(word string) (words []string) {
		s, _ := r.FindStem(word)
		for _, term := range Slice(r.TermRefs, s.Terms) {
			for _, ref := range Slice(r.PatternRefs, r.TermPatterns[term]) {
				for _, other := range []string{"no", "pain", "head", "night"} {
					if s, _ := r.FindStem(other); slices.Contains(Slice(r.TermRefs, s.Terms), ref.PrefilterTerm) {
						words = append(words, other)
					}
				}
			}
		}
		return words
	}
	for word, want := range map[string][]string{"no": {"no"}, "split": {"night"}, "last": {"night"}, "pound": {"head"}} {
		if diff := cmp.Diff(want, prefilterWords(word)); diff != "" {
			t.Errorf("prefilter words of %q (-want +got)\n%s", word, diff)
		}
	}
}

func TestPatternsMatchDraft(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	want := []Pattern{
		{Meaning: MeaningMention, Observation: 0, AnyOrder: true, Key: 1},
		{Meaning: MeaningMention, Observation: 0, Key: 1},
		{Meaning: MeaningMention, Observation: 3},
		{Meaning: CueNegation, Observation: None},
		{Meaning: CueOtherExperiencer, Observation: None, NamesRelative: true},
		{Meaning: MeaningDuration, Observation: None},
		{Meaning: MeaningTime, Observation: None, Minutes: 720},
	}
	if diff := cmp.Diff(want, r.Patterns, cmpopts.IgnoreFields(Pattern{}, "Elements")); diff != "" {
		t.Error(diff)
	}
	head := Slice(r.Elements, r.Patterns[0].Elements)[0].Term
	elements := []Element{
		{Kind: TermElement, Term: head},
		{Kind: TermElement, Term: Slice(r.Elements, r.Patterns[1].Elements)[1].Term, Gap: 6},
		{Kind: NumberElement, Range: 0},
	}
	got := slices.Concat(Slice(r.Elements, r.Patterns[1].Elements), Slice(r.Elements, r.Patterns[2].Elements))
	if diff := cmp.Diff(elements, got, cmpopts.IgnoreUnexported(Element{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Range{{20, 40}}, r.Ranges); diff != "" {
		t.Error(diff)
	}
}

func TestStemAttributes(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	for word, want := range map[string]Stem{
		"the":  {Number: math.NaN(), IsFiller: true},
		"two":  {Number: 2},
		"half": {Number: 0.5},
		"day":  {Number: math.NaN(), Minutes: 1440},
	} {
		got, ok := r.FindStem(word)
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Stem{}, "Terms", "PresentWeights", "AbsentWeights", "_")); !ok || diff != "" {
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
	r := mustDecodeSmall(t)
	for word, want := range map[string]uint64{
		"head": 1, "heads": 1, "pain": 1, "ache": 1, "table": 1, "the": 1, "two": 1, "days": 1, "night": 1, // and none of
		"": 0, "ach": 0, "Head": 0, "tables": 0,
	} {
		if got, ok := r.WordFrequency(word); got != want || ok != (want > 0) {
			t.Errorf("%q is used %d times, %t, want %d", word, got, ok, want)
		}
	}
	if got := r.OrdinaryWordCount(); got < 1 || got >= r.fsts.vocabulary.Len() {
		t.Errorf("%d ordinary words of %d", got, r.fsts.vocabulary.Len())
	}
	more := smallDraft()
	more.Lexicon.Patterns = append(more.Lexicon.Patterns, more.Lexicon.Patterns[2], more.Lexicon.Patterns[2])
	if got, _ := more.Build().WordFrequency("ache"); got != 3 {
		t.Errorf("a word of three patterns is used %d times", got)
	}
}

func TestSimilarWords(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	for word, want := range map[string][]string{
		"haed":                    {"head"},
		"head":                    {"head", "heads"},
		"heds":                    {"heads"},
		"tabel":                   {"table"},
		"zzzzz":                   nil,
		"":                        nil,
		strings.Repeat("z", 4000): nil,
	} {
		if diff := cmp.Diff(want, r.SimilarWords(word)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", word, diff)
		}
	}
}

func TestLookupsWithoutLexicon(t *testing.T) {
	t.Parallel()
	draft := smallDraft()
	draft.Lexicon, draft.Meta.Stemmer = DraftLexicon{}, ""
	r, err := Decode(mustEncode(t, draft.Build()))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.OrdinaryWordCount(); got != 0 {
		t.Errorf("%d ordinary words", got)
	}
	if _, ok := r.WordFrequency("head"); ok || len(r.Patterns) > 0 {
		t.Errorf("%d patterns, and a word: %t", len(r.Patterns), ok)
	}
	if got := r.SimilarWords("head"); got != nil {
		t.Errorf("%q is near a word", got)
	}
	if _, ok := r.FindWord("head"); ok {
		t.Error("a word was found")
	}
}

// TestConcurrentLookups checks that lookups are safe for concurrent use.
func TestConcurrentLookups(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				_, inflected := r.FindWord("days")
				_, word := r.WordFrequency("pounding")
				_, found := r.FindStem("pound")
				if !inflected || !word || !found {
					t.Error("an existing word was not found")
					return
				}
			}
		})
	}
	all.Wait()
}

// TestLookupsDoNotAllocate checks that lookups do not allocate, and that the first term
// of a word is its own, which distinguishes words from classes.
func TestLookupsDoNotAllocate(t *testing.T) { // AllocsPerRun does not allow parallel tests
	r := mustDecodeSmall(t)
	if got := testing.AllocsPerRun(1000, func() { r.WordFrequency("heads") }); got >= 1 {
		t.Errorf("%v allocations", got)
	}
}

func TestFirstTermIsTheStem(t *testing.T) {
	t.Parallel()
	draft := smallDraft()
	wide := &DraftClass{Name: "wide", Words: []string{"pain", "ache", "pounding"}}
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{Meaning: CueHistorical, Elements: []DraftElement{{Class: wide}}})
	r := draft.Build()
	of := func(word string) []Term {
		found, _ := r.FindWord(word)
		return Slice(r.TermRefs, found.Terms)
	}
	pain, pounding := of("pain"), of("pounding")
	if len(pain) != 3 || len(pounding) != 2 || pain[0] == of("aches")[0] || !slices.IsSorted(pain) || pain[2] != pounding[1] || !slices.Equal(pain[1:], of("aching")[1:]) {
		t.Errorf("the terms of pain are %v, of aching %v, of pounding %v", pain, of("aching"), pounding)
	}
}

// TestLexiconIsDeterministic checks that the order of the words does not affect the
// bytes.
func TestLexiconIsDeterministic(t *testing.T) {
	t.Parallel()
	first := mustEncode(t, smallDraft().Build())
	draft := smallDraft()
	slices.Reverse(draft.Lexicon.Fillers)
	slices.Reverse(draft.Lexicon.OrdinaryWords)
	slices.Reverse(draft.Observations)
	if !slices.Equal(first, mustEncode(t, draft.Build())) {
		t.Error("the same lexicon gives other bytes")
	}
}

func TestDeletionHashesAreBounded(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{"": 1, "a": 1, "ab": 3, "abc": 7, "abcdefg": 29, "abcdefgh": 29, strings.Repeat("é", 1000): 29, "\xff\xfe\xfd": 7} {
		if got := len(slices.Collect(DeletionHashes(word))); got != want {
			t.Errorf("%.10q has %d deletes, want %d", word, got, want)
		}
	}
	a, b := slices.Collect(DeletionHashes("stomach"))[0], slices.Collect(DeletionHashes("stomachache"))[0]
	if a != b {
		t.Error("letters behind the seventh count")
	}
}

// TestMisspellingsShareDeletionHash checks that a word and the same word with any two
// typos near its beginning have a deletion hash in common.
func TestMisspellingsShareDeletionHash(t *testing.T) {
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
		hashes := slices.Collect(DeletionHashes(string(word)))
		for hash := range DeletionHashes(string(slipped)) {
			if slices.Contains(hashes, hash) {
				return
			}
		}
		t.Fatalf("%q and %q have no delete in common", string(word), string(slipped))
	})
}

// TestDeletionsResolveToWords checks that the deletions of a release refer to every word
// that patterns use, and to no other word.
func TestDeletionsResolveToWords(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	words := map[string]bool{}
	for _, d := range r.Deletions {
		word := r.Text(r.DeletionWords[d.Word])
		words[word] = true
		if !slices.Contains(slices.Collect(DeletionHashes(word)), d.Hash) {
			t.Errorf("%x is no delete of %q", d.Hash, word)
		}
	}
	for _, word := range []string{"head", "heads", "ache", "pounding", "no", "the", "days", "half"} {
		if !words[word] {
			t.Errorf("no deletion refers to %q", word)
		}
	}
	if words["table"] {
		t.Error("an ordinary word is one that misspellings are corrected to")
	}
}

func TestDecodeRejectsInvalidLexicon(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		spoil   func(r *Release)
		wantErr string
	}{
		{"an unknown stemmer", func(r *Release) { r.Meta.Stemmer = "klingon" }, `stemmer "klingon"`},
		{"terms of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].Terms.End++ }, "expected a range from"},
		{"indications of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].PresentWeights.End++ }, ",9) of word weights: expected a range from"},
		{"an indication of nothing there is", func(r *Release) { r.WordWeights[0].Observation = 6 }, "stem 0: weight for observation 6 after -2 is out of order or out of range [0,6)"},
		{"an indication before none", func(r *Release) { r.WordWeights[0].Observation = None - 1 }, "stem 0: weight for observation -2 after -2 is out of order or out of range [0,6)"},
		{"an indication of nothing", func(r *Release) { r.WordWeights[0].Weight = 0 }, "for observation 0: expected a finite weight above"},
		{"an indication without end", func(r *Release) { r.WordWeights[0].Weight = float32(math.Inf(1)) }, "for observation 0: expected a finite weight above"},
		{"denials of a stem over the end", func(r *Release) { r.Stems[len(r.Stems)-1].AbsentWeights.End++ }, ",9) of word weights: expected a range from"},
		{"the denial of none", func(r *Release) {
			s := &r.Stems[slices.IndexFunc(r.Stems, func(s Stem) bool { return s.PresentWeights.Len() > 0 })]
			s.PresentWeights, s.AbsentWeights = Span{s.PresentWeights.Start, s.PresentWeights.Start}, s.PresentWeights
			r.WordWeights[s.AbsentWeights.Start].Observation = None
		}, "stem 0: weight for observation -1 after -1 is out of order or out of range [0,6)"},
		{"indications of nothing", func(r *Release) { r.WordWeights = append(r.WordWeights, WordWeight{Weight: 1}) }, "s has 1 unreferenced records"},
		{"a number without end", func(r *Release) { r.Stems[0].Number = math.Inf(1) }, "stem 0 has an invalid number +Inf or a flag other than 0 and 1"},
		{"a term there is not", func(r *Release) { r.TermRefs[0] = Term(len(r.TermPatterns)) }, "out of range"},
		{"terms of nothing", func(r *Release) { r.TermRefs = append(r.TermRefs, 0) }, "s has 1 unreferenced records"},
		{"a pattern without elements", func(r *Release) { r.Patterns[0].Elements.End = 0 }, "pattern 0: key element"},
		{"a pattern found by no element", func(r *Release) { r.Patterns[0].Key = 2 }, "pattern 0: key element 2 of 2"},
		{"a pattern of no meaning", func(r *Release) { r.Patterns[6].Meaning = MeaningTime + 1 }, "unknown meaning"},
		{"a cue of an observation", func(r *Release) { r.Patterns[3].Observation = 0 }, "negates does not match observation 0"},
		{"a mention of nothing", func(r *Release) { r.Patterns[0].Observation = None }, "mentions does not match observation -1"},
		{"a mention of nothing there is", func(r *Release) { r.Patterns[2].Observation = 6 }, "observation 6 of 6"},
		{"a time of a cue", func(r *Release) { r.Patterns[3].Minutes = 1 }, "unexpected 1 minutes for meaning negates"},
		{"patterns out of order", func(r *Release) { r.Patterns[1].Observation = 5 }, "pattern 2 is out of order"},
		{"an element of no kind", func(r *Release) { r.Elements[0].Kind = TimeElement + 1 }, "unknown kind"},
		{"an element of no term", func(r *Release) { r.Elements[0].Term = 99 }, "element 0: term 99"},
		{"a number from more to less", func(r *Release) { r.Ranges[0].To = 1 }, "range 0: invalid bounds 20 to 1"},
		{"a number that is none", func(r *Release) { r.Ranges[0].To = math.NaN() }, "range 0: invalid bounds 20 to NaN"},
		{"a range there is not", func(r *Release) { r.Elements[4].Range = 1 }, "element 4: range 1 out of range [0,1)"},
		{"elements of nothing", func(r *Release) { r.Elements = append(r.Elements, Element{}) }, "section elements has 1 unreferenced records"},
		{"patterns of a term over the end", func(r *Release) { r.TermPatterns[0].End = 99 }, "term 0: invalid range [0,99) of pattern references: expected a range from 0 that ends by 6"},
		{"a pattern of another term", func(r *Release) { r.PatternRefs[0], r.PatternRefs[1] = r.PatternRefs[1], r.PatternRefs[0] }, "term 1: pattern 5 has a different key"},
		{"a pattern there is not", func(r *Release) { r.PatternRefs[0].Pattern = 99 }, "pattern 99"},
		{"a missing prefilter term", func(r *Release) { r.PatternRefs[0].PrefilterTerm = Term(len(r.TermPatterns)) }, "prefilter term"},
		{"a pattern that nothing finds", func(r *Release) { r.TermlessPatterns = nil }, "expected 7 indexed patterns, one for each pattern, got 6"},
		{"a pattern without terms that has one", func(r *Release) { r.TermlessPatterns[0] = 0 }, "pattern 0 after -1"},
		{"deletes out of order", func(r *Release) { r.Deletions[0], r.Deletions[1] = r.Deletions[1], r.Deletions[0] }, "deletion 1"},
		{"a delete of no word", func(r *Release) { r.Deletions[0].Word = 99 }, "deletion 0: word 99"},
		{"words of deletes out of order", func(r *Release) { r.DeletionWords[0], r.DeletionWords[1] = r.DeletionWords[1], r.DeletionWords[0] }, "deletion word 1"},
		{"a word over the end", func(r *Release) { r.DeletionWords[0].Length = math.MaxUint32 }, "deletion word 0"},
		{"a vocabulary cut short", func(r *Release) { r.VocabularyFST = r.VocabularyFST[:20] }, "loading vocabulary FST: corrupt FST: root offset 14880473710971584512 exceeds the size of 20 bytes"},
		{"a stem tree of nothing", func(r *Release) { r.StemFST = make([]byte, 40) }, "loading stem FST: corrupt FST: no decoder for version 0 registered"},
		{"a vocabulary that begins behind its end", func(r *Release) { r.VocabularyFST[len(r.VocabularyFST)-2] = 1 }, "loading vocabulary FST: corrupt FST: root offset 281474976710825 exceeds the size of 186 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := smallDraft().Build()
			test.spoil(r)
			_, err := Decode(mustEncode(t, r))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got error %q, want it to contain %q", err, test.wantErr)
			}
		})
	}
}

// FuzzLoadFST loads arbitrarily corrupted transducers. Loading must fail, or every lookup
// must terminate and find nothing where a transition leads out of the transducer.
func FuzzLoadFST(f *testing.F) {
	r := smallDraft().Build()
	f.Add(r.VocabularyFST, "head")
	f.Add(r.StemFST, "pound")
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		tree, err := loadFST(data)
		if err != nil {
			return
		}
		lookup(tree, key)
		lookup(tree, "")
		for b := range 256 {
			lookup(tree, string([]byte{byte(b), byte(b)}))
		}
		near := Release{fsts: fstIndexes{vocabulary: tree}}
		near.SimilarWords(key)
	})
}

// BenchmarkFindWord measures a lookup, which every word of a text needs.
func BenchmarkFindWord(b *testing.B) {
	r := smallDraft().Build()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.FindWord("pounding"); !ok {
			b.Fatal("a stem was not found")
		}
	}
}
