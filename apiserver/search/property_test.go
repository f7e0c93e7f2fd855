// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// drawQuery draws what somebody may ask: pieces of wordings, mistyped or not,
// and anything else.
func drawQuery(t *rapid.T, r *model.Release) Query {
	piece := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			word := r.Text(rapid.SampledFrom(r.Words).Draw(t, "word").Text)
			return word[:rapid.IntRange(1, len(word)).Draw(t, "end")]
		}),
		rapid.Custom(func(t *rapid.T) string { return r.Text(rapid.SampledFrom(r.Wordings).Draw(t, "wording").Text) }),
		rapid.SampledFrom([]string{"my", "I have", "bad", "the", "hedache", "soarthroat"}),
		rapid.String(),
	)
	q := Query{
		Phrase:    strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "pieces"), " "),
		AgeMonths: rapid.IntRange(0, model.MaxAge).Draw(t, "age"),
		Symptoms:  rapid.Bool().Draw(t, "symptoms"), RiskFactors: rapid.Bool().Draw(t, "risk factors"),
		Conditions: rapid.Bool().Draw(t, "conditions"), LabResults: rapid.Bool().Draw(t, "lab results"),
		Most: rapid.IntRange(-1, 110).Draw(t, "most"),
	}
	if rapid.Bool().Draw(t, "has sex") {
		sex := model.Sex(rapid.IntRange(0, 1).Draw(t, "sex"))
		q.Sex = &sex
	}
	return q
}

// checkHits holds for every answer.
func checkHits(t interface {
	Helper()
	Errorf(format string, arguments ...any)
}, r *model.Release, q Query, hits []Hit) {
	t.Helper()
	if len(hits) > min(max(q.Most, 1), mostHits) {
		t.Errorf("%d hits, asked for %d", len(hits), q.Most)
	}
	seen := map[string]bool{}
	for _, hit := range hits {
		if seen[hit.ID] {
			t.Errorf("%s stands twice", hit.ID)
		}
		seen[hit.ID] = true
		at := slices.IndexFunc(r.Wordings, func(w model.Wording) bool { return id(r, &w) == hit.ID && r.Text(w.Text) == hit.Label })
		if at < 0 {
			t.Errorf("%q is no wording of %s", hit.Label, hit.ID)
		} else if !q.wants(r, &r.Wordings[at]) {
			t.Errorf("%s was not asked for or does not apply", hit.ID)
		}
	}
}

func TestHitsAreWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	r := clinic(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		checkHits(t, r, q, Find(r, q))
	})
}

// Neither another release's query before nor others at the same time change an
// answer.
func TestFindIsDeterministic(t *testing.T) {
	t.Parallel()
	r, other := clinic(t), vocabularyOf(t, []string{"headache", "hedache", "pain"})
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		want := (&finder{}).answer(r, q)
		var together sync.WaitGroup
		got := make([][]Hit, 4)
		for i := range got {
			together.Go(func() {
				Find(other, q)
				got[i] = Find(r, q)
			})
		}
		together.Wait()
		for i := range got {
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Fatalf("%+v: (-alone +together)\n%s", q, diff)
			}
		}
	})
}

// A filter takes hits away and changes no other: what is left of all hits is
// what the filter finds, as long as none beyond the most comes in and the best
// one stays.
func TestFilterKeepsTheOrder(t *testing.T) {
	t.Parallel()
	r := clinic(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		q.Most = mostHits
		open := everything(q.Phrase)
		open.AgeMonths = q.AgeMonths
		var want []string
		for _, hit := range Find(r, open) {
			if w := slices.IndexFunc(r.Wordings, func(w model.Wording) bool { return id(r, &w) == hit.ID }); q.wants(r, &r.Wordings[w]) {
				want = append(want, hit.ID)
			}
		}
		got := ids(Find(r, q))
		if len(got) < len(want) || !slices.Equal(want, got[:len(want)]) {
			t.Fatalf("%+v: of all hits %q are left, filtered are %q", q, want, got)
		}
	})
}

// The order of words makes no difference, where no two of them next to each
// other may be one.
func TestOrderOfWordsIsFree(t *testing.T) {
	t.Parallel()
	r := clinic(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"pain", "my", "headach", "chest", "vomitting", "bad", "breath", "of", "sho", "tummies"}), 1, 8).Draw(t, "words")
		shuffled := rapid.Permutation(words).Draw(t, "shuffled")
		want, got := Find(r, everything(strings.Join(words, " "))), Find(r, everything(strings.Join(shuffled, ", ")))
		tells := slices.ContainsFunc(words, func(word string) bool { return word != "my" && word != "of" })
		if diff := cmp.Diff(want, got); diff != "" && tells {
			t.Fatalf("%q, %q: (-one +other)\n%s", words, shuffled, diff)
		}
	})
}

// Whoever types a wording in full, whatever the case and the order of its
// words, finds its concept, or one with a wording of the same words, first.
func TestEveryWordingFindsItsConcept(t *testing.T) {
	t.Parallel()
	r := fullCatalogue(t)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(r.Wordings).Draw(t, "wording")
		words := slices.Sorted(token.Words(r.Text(w.Text)))
		if !slices.ContainsFunc(words, func(word string) bool { return tellingOf("en")(word) != nothing }) {
			return // nobody asks for "to"
		}
		phrase := strings.ToUpper(strings.Join(rapid.Permutation(words).Draw(t, "words"), " "))
		hits := Find(r, everything(phrase))
		if len(hits) == 0 {
			t.Fatalf("%q: no hits", phrase)
		}
		first := slices.Sorted(token.Words(hits[0].Label))
		if diff := cmp.Diff(slices.Compact(words), slices.Compact(first)); diff != "" {
			t.Fatalf("%q finds %q first: (-typed +found)\n%s", phrase, hits[0].Label, diff)
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, phrase := range []string{"hedache", "my head hurts", "a b c d e f g h i j k l m", "\xff", "x\u0301", strings.Repeat("ab ", 200), "soar thraot backpain", "頭痛", "ﬁbre 3.5"} {
		f.Add(phrase, int16(480), byte(0xff))
	}
	r := clinic(f)
	f.Fuzz(func(t *testing.T, phrase string, age int16, bits byte) {
		q := Query{
			Phrase: phrase, AgeMonths: int(age), Most: int(bits),
			Symptoms: bits&1 > 0, RiskFactors: bits&2 > 0, Conditions: bits&4 > 0, LabResults: bits&8 > 0,
		}
		if bits&16 > 0 {
			sex := model.Sex(bits >> 7)
			q.Sex = &sex
		}
		checkHits(t, r, q, Find(r, q))
	})
}
