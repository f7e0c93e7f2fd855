// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// complaints are what patients come with at ages, in months, at which few of
// them do.
var complaints = []struct {
	slug   string
	months []int
}{
	{"kneecap_swelling", []int{12, 30}},
	{"knee_swelling_rapid", []int{12, 30, 60}},
	{"back_of_knee_swelling", []int{24}},
	{"knee_locks", []int{48, 84}},
	{"tooth_knocked_out", []int{12, 30, 66}},
	{"tooth_broken", []int{8}},
	{"teeth_grinding", []int{14}},
	{"gum_boil", []int{1}},
	{"finger_locks", []int{6}},
	{"tongue_patches", []int{7}},
	{"flat_arch", []int{15}},
	{"salivary_swelling", []int{1}},
	{"tender_vein_cord", []int{4, 100}},
	{"flashbacks", []int{40}},
	{"white_pupil", []int{2, 100, 200, 350}},
	{"navel_discharge", []int{2, 24, 480, 900}},
	{"gum_behind_back_tooth", []int{240, 780, 900}},
}

// A condition that occurs at the age brings each of these complaints.
func TestComplaintsHaveAnExplanation(t *testing.T) {
	t.Parallel()
	w, e := openWard(t), engine.New()
	for _, complaint := range complaints {
		for _, months := range complaint.months {
			p, err := engine.NewPatient(w.release, model.Male, months, []engine.ReportedEvidence{
				{ID: w.registry[complaint.slug], Choice: engine.Present, Source: engine.SourceInitial},
			})
			if err != nil {
				t.Errorf("%s: %v", complaint.slug, err)
				continue
			}
			if len(e.Assess(w.release, p, engine.Options{}).Conditions) == 0 {
				t.Errorf("no condition brings %s at the age of %d months", complaint.slug, months)
			}
		}
	}
}
