// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// newEnglishRelease returns a release of the English content.
func newEnglishRelease(t modeltest.TB) *model.Release {
	t.Helper()
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// A textGenerator generates texts like those of patients from the wordings of a
// release.
type textGenerator struct {
	random  *rand.Rand
	r       *model.Release
	busiest []string // words for hostile texts
}

func newTextGenerator(r *model.Release) *textGenerator {
	return &textGenerator{rand.New(rand.NewPCG(modeltest.Seed, 4)), r, mostIndexedWords(r, 40)}
}

// textSeparators are the texts between the wordings of a generated text.
var textSeparators = strings.Split("and|, but no|. I also have|, then|. Since yesterday|for three weeks now.|and my mother had|. No|, 39.5°C and|or maybe even|! The doctor said", "|")

// text returns a text of at least the given number of characters, with one word in ten
// misspelled.
func (g *textGenerator) text(characters int) string {
	var text strings.Builder
	for text.Len() < characters {
		wording := g.r.Text(g.r.Wordings[g.random.IntN(len(g.r.Wordings))].Text)
		for word := range strings.FieldsSeq(strings.ToLower(wording)) {
			if g.random.IntN(10) == 0 {
				word = g.mistype(word)
			}
			text.WriteString(word + " ")
		}
		text.WriteString(textSeparators[g.random.IntN(len(textSeparators))] + " ")
	}
	return text.String()[:characters]
}

// mistype drops or doubles a letter of a word.
func (g *textGenerator) mistype(word string) string {
	at := g.random.IntN(len(word))
	if g.random.IntN(2) == 0 {
		return word[:at] + word[at:at+1] + word[at:]
	}
	return word[:at] + word[at+1:]
}

// hostile returns a text designed to maximize the cost of parsing: the words that
// index the most patterns, repeated, misspelled throughout, or without separators.
func (g *textGenerator) hostile(characters int) string {
	words := make([]string, 2+g.random.IntN(12))
	for i := range words {
		words[i] = g.busiest[g.random.IntN(len(g.busiest))]
	}
	separator := []string{" ", ", ", " and ", "\n"}[g.random.IntN(4)]
	var text strings.Builder
	for text.Len() < characters {
		word := words[g.random.IntN(len(words))]
		if g.random.IntN(8) == 0 {
			word = g.mistype(g.mistype(word + word))
		}
		text.WriteString(word + separator)
	}
	return text.String()[:characters]
}

// mostIndexedWords returns the pattern words whose terms index the most patterns.
func mostIndexedWords(r *model.Release, most int) []string {
	d := &analyzer{}
	d.analyze(r, "", true)
	patterns := func(word string) int {
		n := 0
		for _, term := range d.lookUp(textToken{folded: word}).terms {
			n += r.TermPatterns[term].Len()
		}
		return n
	}
	var words []string
	counts := map[string]int{}
	for _, ref := range r.DeletionWords {
		word := r.Text(ref)
		words, counts[word] = append(words, word), patterns(word)
	}
	slices.SortStableFunc(words, func(a, b string) int { return counts[b] - counts[a] })
	return words[:min(most, len(words))]
}

// pathologicalTexts returns further kinds of hostile texts.
func pathologicalTexts(characters int) []string {
	repeat := func(text string) string { return strings.Repeat(text, characters/len(text)) }
	return []string{
		repeat("pain chest and "), repeat("a "), repeat("🤮"), repeat("x"), repeat("1 day "), repeat("no, "), repeat("e\u0301\u0327"),
		repeat("for 2 days "), repeat("hedaceh nausia diarea "), repeat("."), repeat("pain, "), repeat("headache for 3 weeks "), repeat("qzxwv "),
	}
}

// BenchmarkParse reports the median, the 99th percentile and the maximum duration of a
// parse in microseconds, on the English content with spelling correction.
func BenchmarkParse(b *testing.B) {
	r := newEnglishRelease(b)
	y := newTextGenerator(r)
	const texts = 400
	kinds := map[string][]string{"hostile": pathologicalTexts(2048)}
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
				Parse(r, adultQuery(kinds[kind][i%len(kinds[kind])]))
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
