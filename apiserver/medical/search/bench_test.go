// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

func fullCatalog(t testing.TB) *model.Release {
	t.Helper()
	return modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
}

// benchmarkPhrases returns the phrases to measure, by kind, drawn from the wordings.
func benchmarkPhrases(r *model.Release) map[string][]string {
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
		kinds["hostile"] = append(kinds["hostile"], adversarialPhrase(random, r))
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

// adversarialPhrase returns an expensive phrase: words that occur in many wordings,
// that are prefixes of many others, that are near many others or far from all, two
// words in one, and occasionally more text than a person would type.
func adversarialPhrase(random *rand.Rand, r *model.Release) string {
	letters := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = "aeioucdghlmnprstv"[random.IntN(17)]
		}
		return string(text)
	}
	word := func() string {
		words := slices.Collect(token.Words(r.Text(r.Wordings[random.IntN(len(r.Wordings))].Text)))
		return words[random.IntN(len(words))]
	}
	kinds := []func() string{
		word, word, func() string { return word() + word() }, func() string { return mistype(random, mistype(random, word())) },
		func() string { return letters(1 + random.IntN(3)) }, func() string { return letters(8 + random.IntN(17)) },
	}
	var words []string
	for range 40 {
		words = append(words, kinds[random.IntN(len(kinds))]())
	}
	switch random.IntN(40) {
	case 0:
		return "a e i o u c d g h l m n p r s t v"
	case 1:
		return strings.Repeat("a\u0301\u0327", 1000) + strings.Join(words, " ")
	case 2:
		return strings.Repeat(" ", 1<<16)
	case 3:
		return letters(1 << 16)
	}
	return strings.Join(words, " ")
}

// BenchmarkFind reports the median and the 99th percentile of a search in
// microseconds, on a release of the size of a full catalog.
func BenchmarkFind(b *testing.B) {
	r := fullCatalog(b)
	kinds := benchmarkPhrases(r)
	for _, kind := range []string{"whole", "typing", "misspelt", "hostile"} {
		b.Run(kind, func(b *testing.B) {
			durations := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				Find(r, Query{Phrase: kinds[kind][i%len(kinds[kind])], AgeMonths: 480, Symptoms: true, RiskFactors: true, Conditions: true, Limit: 8})
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
