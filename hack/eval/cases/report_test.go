// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// somebody is an outcome: in the catalogue, heard, at a rank and a level, where
// an emergency department is right.
func somebody(id string, rank int, advised model.TriageLevel) outcome {
	v := someone()
	v.ID = id
	return outcome{vignette: v, covered: true, heard: true, rank: rank, Record: consultation.Record{Questions: 12, Level: advised}}
}

func TestPrintFigures(t *testing.T) {
	t.Parallel()
	outcomes := []outcome{
		somebody("cardiology-w01", 1, model.Emergency),
		somebody("cardiology-w02", 2, model.Consultation),
		somebody("cardiology-w03", 0, model.EmergencyAmbulance),
		{vignette: vignette{Discipline: "urology", Atypical: true, Triage: []level{{model.SelfCare}}}},
	}
	outcomes[1].Questions = 15
	var out strings.Builder
	if err := printFigures(&out, "work", outcomes); err != nil {
		t.Fatal(err)
	}
	want := `work: 4 cases, 1 atypical, 3 emergencies
  in the catalogue   75.0 %  [ 30.1,  95.4]  3/4
  initial evidence   75.0 %  [ 30.1,  95.4]  3/4
  first              25.0 %  [  4.6,  69.9]  1/4
  first three        50.0 %  [ 15.0,  85.0]  2/4
  first five         50.0 %  [ 15.0,  85.0]  2/4
  triage accuracy    25.0 %  [  4.6,  69.9]  1/4
  safety             50.0 %  [ 15.0,  85.0]  2/4
  median questions   12.0

calibration of the first condition: expected error 0.000
  said   was    patients

  % [95 %]    n  catalogue      initial        first       three        five         triage      safety       questions
  cardiology  3  100 [44, 100]  100 [44, 100]  33 [6, 79]  67 [21, 94]  67 [21, 94]  33 [6, 79]  67 [21, 94]  12
  urology     1  0 [0, 79]      0 [0, 79]      0 [0, 79]   0 [0, 79]    0 [0, 79]    0 [0, 79]   0 [0, 79]    0
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrintMissedEmergencies(t *testing.T) {
	t.Parallel()
	unheard := somebody("cardiology-w04", 0, model.NoTriageLevel)
	unheard.heard, unheard.Questions = false, 0
	notUrgent := somebody("cardiology-w05", 1, model.SelfCare)
	notUrgent.Triage = []level{{model.Consultation24}, {model.Emergency}}
	ambulance := somebody("cardiology-w06", 1, model.Emergency) // late, and yet not below an emergency
	ambulance.Triage = []level{{model.EmergencyAmbulance}}
	outcomes := []outcome{
		somebody("cardiology-w01", 1, model.Emergency), somebody("cardiology-w02", 1, model.EmergencyAmbulance),
		somebody("cardiology-w03", 1, model.Consultation24), unheard, notUrgent, ambulance,
	}
	for withWords, want := range map[bool]string{
		true: `
emergencies triaged below emergency: 2 of 5
  cardiology-w03  Heart attack: consultation_24 after 12 questions
      "My chest hurts."
      sweating; cough; fever
  cardiology-w04  Heart attack: not heard after 0 questions
      "My chest hurts."
      sweating; cough; fever
`,
		false: `
emergencies triaged below emergency: 2 of 5
  cardiology-w03
  cardiology-w04
`,
	} {
		var out strings.Builder
		printMissedEmergencies(&out, outcomes, withWords)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("with words %t (-want +got)\n%s", withWords, diff)
		}
	}
}
