// SPDX-License-Identifier: Apache-2.0

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
	"github.com/anamnesis-dev/anamnesis/apiserver/language"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A voices is how alarms are told in a language: who tells of whom, the verb
// between, the danger, and how it is played down.
type voices struct {
	Speakers []speaker
	// Having take a thing; a state has its verb. Both lead to the slugs of which one
	// must be heard, or what is below it.
	Having []string
	Things map[string]string
	States map[string]string
	Played []string // %s is the sentence
}

// A speaker begins a sentence with the one who is ill.
type speaker struct {
	Text  string
	Years int
}

// Whoever writes for somebody else, with whatever verb and however calmly, is
// heard: no alarm is lost, and none denied.
func TestNoAlarmIsLost(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"en", "de"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := compiled.Release(name)
			if err != nil {
				t.Fatal(err)
			}
			w, v := openWard(t), readVoices(t, name)
			for _, told := range v.draw(toldAlarms) {
				if fault := w.unheard(r, told); fault != "" {
					t.Errorf("%q %s %s", told.text, fault, told.slugs)
				}
			}
		})
	}
}

func readVoices(t *testing.T, language string) (v voices) {
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

// A told is an alarm in a sentence.
type told struct {
	text, slugs string
	years       int
}

// draw draws so many of all that the voices can say, the same each time.
func (v voices) draw(count int) []told {
	random := rand.New(rand.NewPCG(1, 1))
	things, states := slices.Sorted(maps.Keys(v.Things)), slices.Sorted(maps.Keys(v.States))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	all := make([]told, count)
	for i := range all {
		who := v.Speakers[random.IntN(len(v.Speakers))]
		alarm := pick(slices.Concat(things, states))
		said, slugs := alarm, v.States[alarm]
		if slugs == "" {
			said, slugs = pick(v.Having)+" "+alarm, v.Things[alarm]
		}
		all[i] = told{text: fmt.Sprintf(pick(v.Played), who.Text+" "+said), slugs: slugs, years: who.Years}
	}
	return all
}

// unheard says what is wrong with how an alarm is understood, and nothing when it
// is heard, or what is below it.
func (w ward) unheard(r *model.Release, s told) string {
	var alarms []model.ObservationIndex
	for slug := range strings.SplitSeq(s.slugs, "|") {
		if alarm, ok := r.ObservationByID(w.registry[slug]); ok {
			alarms = append(alarms, alarm)
		}
	}
	result := language.Parse(r, language.Query{Text: s.text, AgeMonths: s.years*12 + 3, Symptoms: true, RiskFactors: true})
	for _, m := range result.Mentions {
		for o := m.Observation; o != model.None; o = r.Observations[o].Parent {
			if !m.Absent && slices.Contains(alarms, o) {
				return ""
			}
		}
	}
	return fmt.Sprintf("says %q and not one of", said(r, result))
}
