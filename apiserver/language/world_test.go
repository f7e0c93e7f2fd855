// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// smallLexicon says a little of everything that a lexicon can say.
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

// world is a small release that knows the wordings of smallLexicon.
func world(t modeltest.TB) *model.Release {
	t.Helper()
	return newWorld().Build(t)
}

// newWorld is that release in the making.
func newWorld() *modeltest.Builder {
	day := 24 * time.Hour
	b := modeltest.New().Condition("c_1", 0.02).Condition("c_2", 0.02)
	for _, id := range []string{"s_1", "s_5", "s_7", "s_8", "s_9", "s_10", "s_11", "s_12", "s_13", "s_14", "s_15", "s_25", "s_26"} {
		b.Symptom(id, 0.05)
	}
	b.Symptom("s_16", 0.05, func(o *model.DraftObservation) { o.Sex = model.FemaleOnly })
	b.Symptom("s_17", 0.05, func(o *model.DraftObservation) { o.AgeTo = 11 })
	b.
		Child("s_2", "s_1", model.SeverityRelation, 0.01).
		Child("s_3", "s_1", model.Duration, 0.01, modeltest.Lasts(0, 4*day)).
		Child("s_4", "s_1", model.Duration, 0.01, modeltest.Lasts(4*day, 0)).
		Child("s_6", "s_5", model.Location, 0.01).
		Child("s_18", "s_11", model.SeverityRelation, 0.01).
		Child("s_21", "s_14", model.Location, 0.01).
		Child("s_22", "s_7", model.SeverityRelation, 0.01).
		Child("s_23", "s_5", model.Character, 0.01).
		Child("s_24", "s_5", model.Character, 0.01).
		Child("s_19", "s_8", model.Duration, 0.01, modeltest.Lasts(0, 22*day)).
		Child("s_20", "s_8", model.Duration, 0.01, modeltest.Lasts(22*day, 0)).
		RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1).RiskFactor("p_3", 0.1).
		Link("c_1", "s_15", 0.8).Link("c_1", "s_26", 0.8).Link("c_2", "s_26", 0.1).Link("c_2", "s_8", 0.8).
		Factor("c_2", "p_3", 5, 0.9)
	for _, o := range b.Draft().Observations { // names that no text has
		o.Name = "zz" + string(rune('a'+o.Number)) + o.Kind.String()
		o.CommonName = o.Name
	}
	b.Draft().Lexicon.Ordinary = []string{"pains", "throne"}
	for i := range leastOrdinary {
		b.Draft().Lexicon.Ordinary = append(b.Draft().Lexicon.Ordinary, fmt.Sprintf("zebra%d", i))
	}
	return b.Lexicon(smallLexicon)
}

// adult asks for everything that a text says of a woman of 40.
func adult(text string) Query {
	female := model.Female
	return Query{Text: text, Sex: &female, AgeMonths: 480, Symptoms: true, RiskFactors: true}
}

// told is the mentions of a result: ids, with a minus when absent.
func told(r *model.Release, result Result) string {
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

// holdTexts parses texts as an adult's and compares what they say.
func holdTexts(t *testing.T, texts map[string]string) {
	t.Helper()
	r := world(t)
	for text, want := range texts {
		if diff := cmp.Diff(want, told(r, Parse(r, adult(text)))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}
