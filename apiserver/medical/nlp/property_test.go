// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// A reporter is a *testing.T, *testing.F or *rapid.T.
type reporter interface {
	Helper()
	Errorf(format string, arguments ...any)
}

// checkResult checks the invariants of the result of any query.
func checkResult(t reporter, r *model.Release, q Query) {
	t.Helper()
	result := Parse(r, q)
	if diff := cmp.Diff(result, Parse(r, q)); diff != "" {
		t.Errorf("%+v: two results: (-first +second)\n%s", q, diff)
	}
	if q.KeepSpelling {
		if got, want := visibleText(strings.Join(result.Tokens, "")), visibleText(q.Text); got != want {
			t.Errorf("%q: the tokens are %q, want %q", q.Text, got, want)
		}
	}
	seen := map[model.ObservationIndex]bool{}
	for i, mention := range result.Mentions {
		checkMention(t, r, q, result, mention)
		if !q.AllMentions && seen[mention.Observation] {
			t.Errorf("%+v: %s twice", q, r.ObservationID(mention.Observation))
		}
		seen[mention.Observation] = true
		if i > 0 && slices.Compare(result.Mentions[i-1].Positions, mention.Positions) > 0 {
			t.Errorf("%+v: out of order: %v", q, result.Mentions)
		}
	}
	if result.Obvious && len(result.Mentions) == 0 {
		t.Errorf("%+v: obvious, and no mention", q)
	}
}

func checkMention(t reporter, r *model.Release, q Query, result Result, mention Mention) {
	t.Helper()
	var orth []string
	for i, position := range mention.Positions {
		if position < 0 || position >= len(result.Tokens) || i > 0 && position <= mention.Positions[i-1] {
			t.Errorf("%+v: positions %v among %d tokens", q, mention.Positions, len(result.Tokens))
			return
		}
		orth = append(orth, result.Tokens[position])
	}
	if want := strings.Join(orth, " "); mention.Orth != want || want == "" {
		t.Errorf("%+v: orth %q, want %q", q, mention.Orth, want)
	}
	if !slices.Contains(mention.Positions, mention.Head) {
		t.Errorf("%+v: head %d is not in %v", q, mention.Head, mention.Positions)
	}
	o := &r.Observations[mention.Observation]
	if o.Kind == model.Symptom && !q.Symptoms || o.Kind == model.RiskFactor && !q.RiskFactors || o.Kind == model.LabResult {
		t.Errorf("%+v: %s is of a kind that was not asked for", q, r.ObservationID(mention.Observation))
	}
	if q.Sex != nil && !o.Sex.Includes(*q.Sex) || q.AgeMonths < int(o.AgeFrom) || q.AgeMonths > int(o.AgeTo) {
		t.Errorf("%+v: %s does not apply", q, r.ObservationID(mention.Observation))
	}
}

// maxOverdraft is the maximum by which the last search may exceed the budget: one scan
// in each direction per element.
const maxOverdraft = 2 * model.MaxPatternElements * model.MaxPatternElements * (maxScanned + 1)

// checkBudget checks that parsing a text stays within the budget.
func checkBudget(t reporter, r *model.Release, q Query) {
	t.Helper()
	p := &parser{}
	p.parse(r, q)
	if overdrawn := -p.matcher.budget; overdrawn > maxOverdraft {
		t.Errorf("%q: %d comparisons over the budget for %d tokens", q.Text, overdrawn, len(p.analyzer.words))
	}
	if overdrawn := -p.classifier.remaining; overdrawn > len(r.Observations)+1 {
		t.Errorf("%q: %d word weights over the budget for %d tokens", q.Text, overdrawn, len(p.analyzer.words))
	}
	if most := budgetPerToken * len(p.analyzer.words); len(p.matcher.matches) > most || len(p.matcher.positions) > most {
		t.Errorf("%q: %d matches of %d tokens", q.Text, len(p.matcher.matches), len(p.analyzer.words))
	}
}

// textWords are the words of random texts: correct and misspelled words of the small
// lexicon, cues, numbers, punctuation and unknown words.
var textWords = []string{
	"pain", "ache", "painful", "head", "headache", "hedache", "belly", "right", "lower", "side", "severe", "worst", "fever", "temperature",
	"39.5", "103", "°", "C", "f", "cough", "lungs", "clear", "sore", "throat", "runny", "nose", "chest", "arm", "jaw", "appetite", "nausea",
	"stroke", "father", "diabetes", "missed", "period", "no", "not", "only", "never", "without", "but", "and", "or", "nor", "could", "it", "be",
	"last", "year", "for", "since", "three", "a", "half", "days", "weeks", "ago", "yesterday", "my", "is", "I", "worse", "when", "move",
	",", ".", "...", "!", "?", ";", "—", "\n", "(", ")", "-", "/", "killing", "me", "stomachache", "zebra", "🤮", "\u0301", "\xff", "ﬁ",
}

func drawQuery(t *rapid.T, r *model.Release) Query {
	text := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(textWords), 0, 60), func(words []string) string { return strings.Join(words, " ") }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(textWords), 0, 20), func(words []string) string { return strings.Join(words, "") }),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(bytes []byte) string { return string(bytes) }),
	).Draw(t, "text")
	q := Query{
		Text: text, AgeMonths: rapid.IntRange(0, 1560).Draw(t, "age"), KeepSpelling: rapid.Bool().Draw(t, "keep"),
		Symptoms: rapid.Bool().Draw(t, "symptoms"), RiskFactors: rapid.Bool().Draw(t, "risk factors"), AllMentions: rapid.Bool().Draw(t, "every"),
	}
	if rapid.Bool().Draw(t, "sexed") {
		q.Sex = new(rapid.SampledFrom([]model.Sex{model.Female, model.Male}).Draw(t, "sex"))
	}
	for _, o := range rapid.SliceOfN(rapid.IntRange(0, len(r.Observations)-1), 0, 3).Draw(t, "context") {
		q.Context = append(q.Context, model.ObservationIndex(o))
	}
	return q
}

func TestParseInvariants(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuery(t, r)
		checkResult(t, r, q)
		checkBudget(t, r, q)
	})
}

// TestParseConcurrently checks that concurrent parses, which reuse working memory, do
// not affect each other.
func TestParseConcurrently(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	texts := []string{"headache for 3 days", "no fevr", "pain in my chest, left arm and jaw", "", strings.Repeat("belly ache ", 200), "worse when I move"}
	var want []Result
	for _, text := range texts {
		want = append(want, Parse(r, adultQuery(text)))
	}
	var group sync.WaitGroup
	for first := range 8 {
		group.Go(func() {
			for i := range 50 {
				at := (first + i) % len(texts)
				if diff := cmp.Diff(want[at], Parse(r, adultQuery(texts[at]))); diff != "" {
					t.Errorf("%q: (-alone +at once)\n%s", texts[at], diff)
				}
			}
		})
	}
	group.Wait()
}

// TestParseWithoutLexicon checks that a release without words finds nothing.
func TestParseWithoutLexicon(t *testing.T) {
	t.Parallel()
	draft := modeltest.New().Condition("c_1", 0.02).Symptom("s_1", 0.05).Draft()
	r := draft.Build()
	if diff := cmp.Diff(Result{Tokens: []string{"Some", "pian"}}, Parse(r, adultQuery("Some pian"))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestParseSentencesAreIndependent checks that the sentences around a text do not
// change its mentions.
func TestParseSentencesAreIndependent(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	sentences := []string{"I have a headache.", "No fever!", "pain in my chest and arm.", "Could it be a stroke?", "cough, runny nose.", "my throat is sore;"}
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(sentences), 1, len(sentences), rapid.ID).Draw(t, "sentences")
		var want []string
		for _, sentence := range drawn {
			if ids := formatMentions(r, Parse(r, adultQuery(sentence))); ids != "" {
				want = append(want, ids)
			}
		}
		text := strings.Join(drawn, " ")
		if got := formatMentions(r, Parse(r, adultQuery(text))); got != strings.Join(want, " ") {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"pain in my chest, left arm and jaw for 2-3 days, no fever", "temperature 39.5°C, hedache & stomachache", "not only... but\nmy father had a stroke?",
		"pain pain pain chest chest arm arm jaw jaw", "for three and a half a day ago since yesterday", "\xff\u0301`´'—",
	} {
		f.Add(text, false)
	}
	r := newRelease(f)
	f.Fuzz(func(t *testing.T, text string, keep bool) {
		q := adultQuery(text)
		q.KeepSpelling, q.AllMentions = keep, true
		checkResult(t, r, q)
		checkBudget(t, r, q)
	})
}
