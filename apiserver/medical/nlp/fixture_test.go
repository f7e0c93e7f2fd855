// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// smallLexicon uses every feature of a lexicon.
const smallLexicon = `
stemmer: english
fillers: [the, a, an, my, of, in, on, to, is, are, i, it, have, has, had, been, some, really, very, s, this, that, im, ive, at]
numbers: {one: 1, a: 1, an: 1, two: 2, three: 3, couple: 2, few: 3, half: 0.5}
units: {min: [minute, minutes], h: [hour, hours, h], d: [day, days], w: [week, weeks], mo: [month, months], y: [year, years]}
times: {yesterday: 1d, last night: 12h}
durations: ["for {time}", "since {time}", "{time} ago", "for the last {time}"]
classes:
  pain: [pain, ache, hurt, sore, painful, killing me, cramp]
  belly: [belly, tummy, stomach]
  severe: [severe, terrible, worst]
  celsius: [c, celsius]
  relative: [father, mother]
cues:
  negates: [no, not, never, denies, without, doesnt, dont]
  negates_before: [has gone, we have no, n]
  negates_list: [w/o, nil]
  neutral: [not only, has gone sore, no change]
  ends: [but, however, when i]
  affirms: ["not ... without"]
  joins: [and, or, nor, n]
  questions: [could it be]
  past: [last year]
  others: ["<relative>"]
  patients: [i, me, and i]
observations:
  s_1: {wordings: [headache, "~<pain> head"]}
  s_2: {wordings: ["~<severe> @s_1", "worst headache ... life", "~sore headache"]}
  s_3: {wordings: [headache all day, headache for days]}
  s_4: {wordings: [headache on and off]}
  s_5: {wordings: ["~<pain> <belly>"]}
  s_6: {wordings: ["~<pain> right lower <belly>"], after: ["~right lower side", "worse when i move"]}
  s_7: {wordings: [fever, "temperature ... {38..43}", "{38..43} <celsius>", "{100.4..109} f"]}
  s_19: {wordings: ["~cough since {time}"]}
  s_20: {wordings: ["~cough for {time}"]}
  s_8: {wordings: [cough, coughing, not my voice], absent: [lungs clear, no change lungs]}
  s_9: {wordings: ["~<pain> throat"]}
  s_10: {wordings: [runny nose, "nose ... running"]}
  s_11: {wordings: ["~<pain> chest", "chest ache"]}
  s_12: {wordings: ["~<pain> arm"]}
  s_13: {wordings: ["no appetite", loss of appetite]}
  s_14: {wordings: ["~<pain> jaw"]}
  s_15: {wordings: [nausea, vomiting], absent: ["no sickness"]}
  s_16: {wordings: [missed period]}
  s_17: {wordings: [colic]}
  s_18: {wordings: ["~<severe> <pain> chest"], after: ["worse when i move"]}
  s_21: {wordings: ["~<pain> jaw tooth"], after: ["worse when i chew"]}
  s_22: {wordings: ["{41..43} <celsius>"]}
  s_23: {wordings: ["~<pain> <belly>", belly ache]}
  s_24: {wordings: ["~cramp <belly>"]}
  s_25: {wordings: ["~[burn|sting] wee"]}
  s_26: {wordings: [feel sick, "~me bad", "vomiting ... dish"], after: [still queasy]}
  p_1: {wordings: [stroke]}
  p_2: {wordings: ["~<relative> ... stroke"]}
  p_3: {wordings: [diabetes], after: [ate sweets]}
`

// newRelease returns a small release with the wordings of smallLexicon.
func newRelease(t modeltest.TB) *model.Release {
	t.Helper()
	return newReleaseBuilder().Build(t)
}

// newReleaseBuilder returns a builder of the release of newRelease.
func newReleaseBuilder() *modeltest.Builder {
	day := 24 * time.Hour
	b := modeltest.New().Condition("c_1", 0.02).Condition("c_2", 0.02)
	for _, id := range []string{"s_1", "s_5", "s_7", "s_8", "s_9", "s_10", "s_11", "s_12", "s_13", "s_14", "s_15", "s_25", "s_26"} {
		b.Symptom(id, 0.05)
	}
	b.Symptom("s_16", 0.05, func(o *model.DraftObservation) { o.Sex = model.FemaleOnly })
	b.Symptom("s_17", 0.05, func(o *model.DraftObservation) { o.AgeTo = 11 })
	b.
		Child("s_2", "s_1", model.SeverityRelation, 0.01).
		Child("s_3", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(0, 4*day)).
		Child("s_4", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(4*day, 0)).
		Child("s_6", "s_5", model.LocationRelation, 0.01).
		Child("s_18", "s_11", model.SeverityRelation, 0.01).
		Child("s_21", "s_14", model.LocationRelation, 0.01).
		Child("s_22", "s_7", model.SeverityRelation, 0.01).
		Child("s_23", "s_5", model.CharacterRelation, 0.01).
		Child("s_24", "s_5", model.CharacterRelation, 0.01).
		Child("s_19", "s_8", model.DurationRelation, 0.01, modeltest.WithDurationRange(0, 22*day)).
		Child("s_20", "s_8", model.DurationRelation, 0.01, modeltest.WithDurationRange(22*day, 0)).
		RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1).RiskFactor("p_3", 0.1).
		Link("c_1", "s_15", 0.8).Link("c_1", "s_26", 0.8).Link("c_2", "s_26", 0.1).Link("c_2", "s_8", 0.8).
		Factor("c_2", "p_3", 5, 0.9)
	for _, o := range b.Draft().Observations { // names that occur in no text
		o.Name = "zz" + string(rune('a'+o.Number)) + o.Kind.String()
		o.CommonName = o.Name
	}
	b.Draft().Lexicon.OrdinaryWords = []string{"pains", "throne"}
	for i := range minOrdinaryWords {
		b.Draft().Lexicon.OrdinaryWords = append(b.Draft().Lexicon.OrdinaryWords, fmt.Sprintf("zebra%d", i))
	}
	return b.Lexicon(smallLexicon)
}

// adultQuery returns a query for everything in a text about a woman of 40.
func adultQuery(text string) Query {
	female := model.Female
	return Query{Text: text, Sex: &female, AgeMonths: 480, Symptoms: true, RiskFactors: true}
}

// formatMentions formats the mentions of a result as IDs, with a minus if absent.
func formatMentions(r *model.Release, result Result) string {
	var ids []string
	for _, mention := range result.Mentions {
		id := r.ObservationID(mention.Observation)
		if mention.Absent {
			id = "-" + id
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// checkTexts parses texts with adultQuery and compares their mentions.
func checkTexts(t *testing.T, texts map[string]string) {
	t.Helper()
	r := newRelease(t)
	for text, want := range texts {
		if diff := cmp.Diff(want, formatMentions(r, Parse(r, adultQuery(text)))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}
