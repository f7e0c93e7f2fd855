// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// fullCatalogue is a release with as many concepts as the full catalogue, each
// with six wordings of one to five words out of some nine thousand, a few of
// which are in every tenth wording and most in a handful.
func fullCatalogue(t testing.TB) *model.Release {
	random := rand.New(rand.NewPCG(modeltest.Seed, 1))
	vocabulary := madeUpWords(random, 9000)
	wording := func() string {
		words := make([]string, 1+random.IntN(5))
		for i := range words {
			skewed := random.Float64()
			words[i] = vocabulary[int(skewed*skewed*skewed*float64(len(vocabulary)))]
		}
		return strings.Join(words, " ")
	}
	synonyms := func() []string { return []string{wording(), wording(), wording(), wording()} }
	b := modeltest.New()
	for i := range modeltest.FullSize.Conditions {
		b.Condition(model.FormatID(model.ConditionPrefix, uint32(i+1)), 0.0005, func(c *model.DraftCondition) {
			c.Name, c.CommonName, c.Synonyms = wording(), wording(), synonyms()
		})
	}
	for i := range modeltest.FullSize.Observations {
		b.Symptom(model.FormatID(model.SymptomPrefix, uint32(i+1)), 0.01, func(o *model.DraftObservation) {
			o.Name, o.CommonName, o.Synonyms = wording(), wording(), synonyms()
		})
	}
	return b.Build(t)
}

// madeUpWords are different words of syllables, as long as those of medicine.
func madeUpWords(random *rand.Rand, count int) []string {
	syllables := strings.Fields("a an al be ca car ce chi co de di do e en er fi ga gas ge he i in is la li lo ma mi mo na ne no o os pa pe po pro ra re ri ro sa se si so ta te the ti to tra u un va ve vi vo")
	seen := map[string]bool{}
	var words []string
	for len(words) < count {
		var word strings.Builder
		for range 1 + random.IntN(5) {
			word.WriteString(syllables[random.IntN(len(syllables))])
		}
		if !seen[word.String()] {
			seen[word.String()] = true
			words = append(words, word.String())
		}
	}
	return words
}

// phrases are what to measure on, by kind, drawn from the wordings.
func phrases(r *model.Release) map[string][]string {
	random := rand.New(rand.NewPCG(modeltest.Seed, 2))
	wording := func() []string {
		w := r.Wordings[random.IntN(len(r.Wordings))]
		return slices.Collect(token.Words(r.Text(w.Text)))
	}
	kinds := map[string][]string{}
	for range 500 {
		words := wording()
		kinds["whole"] = append(kinds["whole"], "I have "+strings.Join(words, " in my "))
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		last := len(words) - 1
		words[last] = words[last][:1+random.IntN(len(words[last]))]
		kinds["typing"] = append(kinds["typing"], strings.Join(words, " "))
		for i := range words {
			words[i] = mistype(random, words[i])
		}
		kinds["misspelt"] = append(kinds["misspelt"], strings.Join(words, " "))
		kinds["hostile"] = append(kinds["hostile"], hostilePhrase(random, r))
	}
	return kinds
}

// mistype swaps, drops, doubles or replaces a letter.
func mistype(random *rand.Rand, word string) string {
	if word == "" {
		return word
	}
	at := random.IntN(len(word))
	before, letter, after := word[:at], word[at:at+1], word[at+1:]
	switch random.IntN(4) {
	case 0:
		return before + after
	case 1:
		return before + letter + letter + after
	case 2:
		return before + string(rune('a'+random.IntN(26))) + after
	}
	if after == "" {
		return word
	}
	return before + after[:1] + letter + after[1:]
}

// hostilePhrase is made to cost as much as can be: many words that begin many
// others, that are in many wordings, that are near many others or nowhere, and
// more text than anybody types.
func hostilePhrase(random *rand.Rand, r *model.Release) string {
	letters := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = "aeioucdghlmnprstv"[random.IntN(17)]
		}
		return string(text)
	}
	var words []string
	for range 40 {
		word := r.Text(r.Words[random.IntN(len(r.Words))].Text)
		words = append(words, []string{letters(1), letters(2), letters(3), letters(8), letters(14), letters(24), mistype(random, mistype(random, word)), word + word}[random.IntN(8)])
	}
	switch random.IntN(6) {
	case 0:
		return "a e i o u c d g h l m n p r s t v"
	case 1:
		return strings.Repeat("a\u0301\u0327", 1000) + strings.Join(words, " ")
	case 2:
		return strings.Repeat(" ", 1<<20) + strings.Join(words, "-")
	case 3:
		return letters(1 << 20)
	}
	return strings.Join(words, " ")
}

// BenchmarkFind reports the median and the 99th percentile of a search in
// microseconds, on a release of a full catalogue's size.
func BenchmarkFind(b *testing.B) {
	r := fullCatalogue(b)
	kinds := phrases(r)
	for _, kind := range []string{"whole", "typing", "misspelt", "hostile"} {
		b.Run(kind, func(b *testing.B) {
			durations := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				Find(r, Query{Phrase: kinds[kind][i%len(kinds[kind])], AgeMonths: 480, Symptoms: true, RiskFactors: true, Conditions: true, Most: 8})
				durations = append(durations, time.Since(start))
			}
			slices.Sort(durations)
			for _, percent := range []int{50, 99} {
				at := durations[len(durations)*percent/100]
				b.ReportMetric(float64(at.Nanoseconds())/1000, fmt.Sprintf("p%d-µs", percent))
			}
		})
	}
}
