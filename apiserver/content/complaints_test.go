// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// complaints are complaints of patients at ages, in months, at which they are rare.
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

// Some condition that occurs at the age causes each of these complaints.
func TestComplaintsHaveMatchingConditions(t *testing.T) {
	t.Parallel()
	w, e := newContentFixture(t), inference.New()
	for _, complaint := range complaints {
		for _, months := range complaint.months {
			p, err := inference.NewPatient(w.release, model.Male, months, []inference.ReportedEvidence{
				{ID: w.ids[complaint.slug], Choice: inference.Present, Source: inference.SourceInitial},
			})
			if err != nil {
				t.Errorf("%s: %v", complaint.slug, err)
				continue
			}
			if len(e.Assess(w.release, p, inference.Options{}).Conditions) == 0 {
				t.Errorf("no condition causes %s at the age of %d months", complaint.slug, months)
			}
		}
	}
}
