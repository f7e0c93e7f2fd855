// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// newOutcome returns an outcome for an understood case in the catalog. The case's
// correct triage level is Emergency.
func newOutcome(id string, rank int, advised model.TriageLevel) outcome {
	v := validVignette()
	v.ID = id
	return outcome{vignette: v, inCatalog: true, understood: true, rank: rank, Transcript: consultation.Transcript{Questions: 12, Level: advised}}
}

func TestPrintMetrics(t *testing.T) {
	t.Parallel()
	outcomes := []outcome{
		newOutcome("cardiology-w01", 1, model.Emergency),
		newOutcome("cardiology-w02", 2, model.Consultation),
		newOutcome("cardiology-w03", 0, model.EmergencyAmbulance),
		{vignette: vignette{Discipline: "urology", Atypical: true, Triage: []triageLevel{{model.SelfCare}}}},
	}
	outcomes[1].Questions = 15
	var out strings.Builder
	if err := printMetrics(&out, "work", outcomes); err != nil {
		t.Fatal(err)
	}
	want := `work: 4 cases, 1 atypical, 3 emergencies
  in the catalog     75.0 %  [ 30.1,  95.4]  3/4
  initial evidence   75.0 %  [ 30.1,  95.4]  3/4
  first              25.0 %  [  4.6,  69.9]  1/4
  first three        50.0 %  [ 15.0,  85.0]  2/4
  first five         50.0 %  [ 15.0,  85.0]  2/4
  triage accuracy    25.0 %  [  4.6,  69.9]  1/4
  safety             50.0 %  [ 15.0,  85.0]  2/4
  median questions   12.0

calibration of the first condition: expected error 0.000
  predicted  observed  patients

  % [95 %]    n  catalog        initial        first       three        five         triage      safety       questions
  cardiology  3  100 [44, 100]  100 [44, 100]  33 [6, 79]  67 [21, 94]  67 [21, 94]  33 [6, 79]  67 [21, 94]  12
  urology     1  0 [0, 79]      0 [0, 79]      0 [0, 79]   0 [0, 79]    0 [0, 79]    0 [0, 79]   0 [0, 79]    0
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrintMissedEmergencies(t *testing.T) {
	t.Parallel()
	notUnderstood := newOutcome("cardiology-w04", 0, model.NoTriageLevel)
	notUnderstood.understood, notUnderstood.Questions = false, 0
	notUrgent := newOutcome("cardiology-w05", 1, model.SelfCare)
	notUrgent.Triage = []triageLevel{{model.Consultation24}, {model.Emergency}}
	ambulance := newOutcome("cardiology-w06", 1, model.Emergency) // under-triaged, but still to an emergency department
	ambulance.Triage = []triageLevel{{model.EmergencyAmbulance}}
	outcomes := []outcome{
		newOutcome("cardiology-w01", 1, model.Emergency), newOutcome("cardiology-w02", 1, model.EmergencyAmbulance),
		newOutcome("cardiology-w03", 1, model.Consultation24), notUnderstood, notUrgent, ambulance,
	}
	for withWords, want := range map[bool]string{
		true: `
emergencies triaged below emergency: 2 of 5
  cardiology-w03  Heart attack: consultation_24 after 12 questions
      "My chest hurts."
      sweating; cough; fever
  cardiology-w04  Heart attack: not understood after 0 questions
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
