// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// english is the content in English.
func english(t modeltest.TB) *model.Release {
	t.Helper()
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// A typist writes texts as patients do, from the wordings of a release.
type typist struct {
	random  *rand.Rand
	r       *model.Release
	busiest []string // words, for hostile texts
}

func newTypist(r *model.Release) *typist {
	return &typist{rand.New(rand.NewPCG(modeltest.Seed, 4)), r, busiest(r, 40)}
}

// between stands between the wordings of a text.
var between = strings.Split("and|, but no|. I also have|, then|. Since yesterday|for three weeks now.|and my mother had|. No|, 39.5°C and|or maybe even|! The doctor said", "|")

// text is one of so many characters at least, a word in ten misspelt.
func (y *typist) text(characters int) string {
	var text strings.Builder
	for text.Len() < characters {
		wording := y.r.Text(y.r.Wordings[y.random.IntN(len(y.r.Wordings))].Text)
		for word := range strings.FieldsSeq(strings.ToLower(wording)) {
			if y.random.IntN(10) == 0 {
				word = y.mistype(word)
			}
			text.WriteString(word + " ")
		}
		text.WriteString(between[y.random.IntN(len(between))] + " ")
	}
	return text.String()[:characters]
}

// mistype drops or doubles a letter.
func (y *typist) mistype(word string) string {
	at := y.random.IntN(len(word))
	if y.random.IntN(2) == 0 {
		return word[:at] + word[at:at+1] + word[at:]
	}
	return word[:at] + word[at+1:]
}

// hostile is a text that is made to cost as much as can be: words that most
// patterns are found by, in a few that are repeated without end, misspelt all
// over, or with nothing between them.
func (y *typist) hostile(characters int) string {
	words := make([]string, 2+y.random.IntN(12))
	for i := range words {
		words[i] = y.busiest[y.random.IntN(len(y.busiest))]
	}
	separator := []string{" ", ", ", " and ", "\n"}[y.random.IntN(4)]
	var text strings.Builder
	for text.Len() < characters {
		word := words[y.random.IntN(len(words))]
		if y.random.IntN(8) == 0 {
			word = y.mistype(y.mistype(word + word))
		}
		text.WriteString(word + separator)
	}
	return text.String()[:characters]
}

// busiest are the words of patterns by whose terms most patterns are found.
func busiest(r *model.Release, most int) []string {
	d := &reader{}
	d.read(r, "", true)
	patterns := func(word string) int {
		n := 0
		for _, term := range d.lookUp(textToken{folded: word}).terms {
			n += r.TermPatterns[term].Len()
		}
		return n
	}
	var words []string
	counts := map[string]int{}
	for _, ref := range r.DeleteWords {
		word := r.Text(ref)
		words, counts[word] = append(words, word), patterns(word)
	}
	slices.SortStableFunc(words, func(a, b string) int { return counts[b] - counts[a] })
	return words[:min(most, len(words))]
}

// extremes are hostile texts of other kinds.
func extremes(characters int) []string {
	repeat := func(text string) string { return strings.Repeat(text, characters/len(text)) }
	return []string{
		repeat("pain chest and "), repeat("a "), repeat("🤮"), repeat("x"), repeat("1 day "), repeat("no, "), repeat("e\u0301\u0327"),
		repeat("for 2 days "), repeat("hedaceh nausia diarea "), repeat("."), repeat("pain, "), repeat("headache for 3 weeks "), repeat("qzxwv "),
	}
}

// BenchmarkParse reports the median, the 99th percentile and the maximum of a
// parse in microseconds, on the English content, with correction on.
func BenchmarkParse(b *testing.B) {
	r := english(b)
	y := newTypist(r)
	const texts = 400
	kinds := map[string][]string{"hostile": extremes(2048)}
	for range texts {
		kinds["500"] = append(kinds["500"], y.text(500))
		kinds["2048"] = append(kinds["2048"], y.text(2048))
		kinds["hostile"] = append(kinds["hostile"], y.hostile(2048))
	}
	for _, kind := range []string{"500", "2048", "hostile"} {
		b.Run(kind, func(b *testing.B) {
			durations := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				Parse(r, adult(kinds[kind][i%len(kinds[kind])]))
				durations = append(durations, time.Since(start))
			}
			slices.Sort(durations)
			for _, percent := range []int{50, 99} {
				b.ReportMetric(float64(durations[len(durations)*percent/100].Nanoseconds())/1000, fmt.Sprintf("p%d-µs", percent))
			}
			b.ReportMetric(float64(durations[len(durations)-1].Nanoseconds())/1000, "max-µs")
		})
	}
}
