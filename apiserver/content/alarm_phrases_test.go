// SPDX-License-Identifier: Apache-2.0

//go:build !race

package content_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
)

// alarmSampleCount is the number of emergencies sampled per language.
const alarmSampleCount = 10_000

// alarmPhrases are the building blocks of emergency descriptions in a language: the
// speaker and the patient, the verb, the danger, and phrases that play it down.
type alarmPhrases struct {
	Speakers []speaker
	// Having lists verbs that take a thing as their object; a state includes its verb.
	// Things and states map to slugs. At least one of them, or a descendant, must be
	// recognized.
	Having []string
	Things map[string]string
	States map[string]string
	Played []string // %s is the sentence
}

// A speaker starts a sentence with the person who is ill.
type speaker struct {
	Text  string
	Years int
}

// Reports of emergencies in other people are recognized, with any verb and however calm
// the report is: no emergency is missed or negated.
func TestAlarmsReportedByOthersAreRecognized(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"en", "de"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := compiled.Release(name)
			if err != nil {
				t.Fatal(err)
			}
			w, v := newContentFixture(t), loadAlarmPhrases(t, name)
			for _, sentence := range v.sample(alarmSampleCount) {
				if fault := w.checkAlarm(r, sentence); fault != "" {
					t.Errorf("%q %s %s", sentence.text, fault, sentence.slugs)
				}
			}
		})
	}
}

func loadAlarmPhrases(t *testing.T, language string) (v alarmPhrases) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "voices-"+language+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// An alarmSentence is an emergency in a sentence.
type alarmSentence struct {
	text, slugs string
	years       int
}

// sample draws the given number of sentences from the building blocks. It is
// deterministic.
func (p alarmPhrases) sample(count int) []alarmSentence {
	random := rand.New(rand.NewPCG(1, 1))
	things, states := slices.Sorted(maps.Keys(p.Things)), slices.Sorted(maps.Keys(p.States))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	sentences := make([]alarmSentence, count)
	for i := range sentences {
		speaker := p.Speakers[random.IntN(len(p.Speakers))]
		alarm := pick(slices.Concat(things, states))
		description, slugs := alarm, p.States[alarm]
		if slugs == "" {
			description, slugs = pick(p.Having)+" "+alarm, p.Things[alarm]
		}
		sentences[i] = alarmSentence{text: fmt.Sprintf(pick(p.Played), speaker.Text+" "+description), slugs: slugs, years: speaker.Years}
	}
	return sentences
}

// checkAlarm returns a description of the fault in the parse of an emergency, or an
// empty string if the finding or a descendant is recognized.
func (f contentFixture) checkAlarm(r *model.Release, s alarmSentence) string {
	var alarms []model.ObservationIndex
	for slug := range strings.SplitSeq(s.slugs, "|") {
		if alarm, ok := r.ObservationByID(f.ids[slug]); ok {
			alarms = append(alarms, alarm)
		}
	}
	result := nlp.Parse(r, nlp.Query{Text: s.text, AgeMonths: s.years*12 + 3, Symptoms: true, RiskFactors: true})
	for _, m := range result.Mentions {
		for o := m.Observation; o != model.None; o = r.Observations[o].Parent {
			if !m.Absent && slices.Contains(alarms, o) {
				return ""
			}
		}
	}
	return fmt.Sprintf("says %q and not one of", mentionNames(r, result))
}
