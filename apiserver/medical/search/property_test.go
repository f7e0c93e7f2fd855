// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// drawQuery draws an arbitrary query: pieces of wordings, possibly mistyped, and other
// text.
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
		AgeMonths: rapid.IntRange(0, model.MaxAgeMonths).Draw(t, "age"),
		Symptoms:  rapid.Bool().Draw(t, "symptoms"), RiskFactors: rapid.Bool().Draw(t, "risk factors"),
		Conditions: rapid.Bool().Draw(t, "conditions"), LabResults: rapid.Bool().Draw(t, "lab results"),
		Limit: rapid.IntRange(-1, 110).Draw(t, "most"),
	}
	if rapid.Bool().Draw(t, "has sex") {
		sex := model.Sex(rapid.IntRange(0, 1).Draw(t, "sex"))
		q.Sex = &sex
	}
	return q
}

// checkHits checks the invariants of every result.
func checkHits(t interface {
	Helper()
	Errorf(format string, arguments ...any)
}, r *model.Release, q Query, hits []Hit) {
	t.Helper()
	if len(hits) > min(max(q.Limit, 1), maxHits) {
		t.Errorf("%d hits, asked for %d", len(hits), q.Limit)
	}
	seen := map[string]bool{}
	for _, hit := range hits {
		if seen[hit.ID] {
			t.Errorf("%s stands twice", hit.ID)
		}
		seen[hit.ID] = true
		at := slices.IndexFunc(r.Wordings, func(w model.Wording) bool { return conceptID(r, &w) == hit.ID && r.Text(w.Text) == hit.Label })
		if at < 0 {
			t.Errorf("%q is no wording of %s", hit.Label, hit.ID)
		} else if !q.includes(r, &r.Wordings[at]) {
			t.Errorf("%s was not asked for or does not apply", hit.ID)
		}
	}
}

func TestHitsMatchQuery(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		checkHits(t, r, q, Find(r, q))
	})
}

// TestFindIsDeterministic expects that neither a previous query on another release nor
// concurrent queries change a result.
func TestFindIsDeterministic(t *testing.T) {
	t.Parallel()
	r, other := newRelease(t), newVocabularyRelease(t, []string{"headache", "hedache", "pain"})
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		want := (&finder{}).search(r, q)
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

// TestFilterPreservesOrder expects that a filter removes hits without changing the
// others, as long as the best hit stays and no hit from beyond the limit moves up.
func TestFilterPreservesOrder(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		q.Limit = maxHits
		open := queryAllKinds(q.Phrase)
		open.AgeMonths = q.AgeMonths
		var want []string
		for _, hit := range Find(r, open) {
			if w := slices.IndexFunc(r.Wordings, func(w model.Wording) bool { return conceptID(r, &w) == hit.ID }); q.includes(r, &r.Wordings[w]) {
				want = append(want, hit.ID)
			}
		}
		got := hitIDs(Find(r, q))
		if len(got) < len(want) || !slices.Equal(want, got[:len(want)]) {
			t.Fatalf("%+v: of all hits %q are left, filtered are %q", q, want, got)
		}
	})
}

// TestWordOrderDoesNotMatter expects that the order of words does not matter, unless
// two adjacent words may form a compound.
func TestWordOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"pain", "my", "headach", "chest", "vomitting", "bad", "breath", "of", "sho", "tummies"}), 1, 8).Draw(t, "words")
		shuffled := rapid.Permutation(words).Draw(t, "shuffled")
		want, got := Find(r, queryAllKinds(strings.Join(words, " "))), Find(r, queryAllKinds(strings.Join(shuffled, ", ")))
		tells := slices.ContainsFunc(words, func(word string) bool { return word != "my" && word != "of" })
		if diff := cmp.Diff(want, got); diff != "" && tells {
			t.Fatalf("%q, %q: (-one +other)\n%s", words, shuffled, diff)
		}
	})
}

// TestEveryWordingFindsItsConcept expects that typing a full wording, in any case and
// word order, returns its concept first, or another one with a wording of the same
// words.
func TestEveryWordingFindsItsConcept(t *testing.T) {
	t.Parallel()
	r := fullCatalog(t)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(r.Wordings).Draw(t, "wording")
		words := slices.Sorted(token.Words(r.Text(w.Text)))
		if !slices.ContainsFunc(words, func(word string) bool { return classifierFor("en")(word) != stopWord }) {
			return // a stop word such as "to" finds nothing
		}
		phrase := strings.ToUpper(strings.Join(rapid.Permutation(words).Draw(t, "words"), " "))
		hits := Find(r, queryAllKinds(phrase))
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
	r := newRelease(f)
	f.Fuzz(func(t *testing.T, phrase string, age int16, bits byte) {
		q := Query{
			Phrase: phrase, AgeMonths: int(age), Limit: int(bits),
			Symptoms: bits&1 > 0, RiskFactors: bits&2 > 0, Conditions: bits&4 > 0, LabResults: bits&8 > 0,
		}
		if bits&16 > 0 {
			sex := model.Sex(bits >> 7)
			q.Sex = &sex
		}
		checkHits(t, r, q, Find(r, q))
	})
}
