// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// A Patch is what a client wants to change of a survey. Nil leaves what is there.
type Patch struct {
	PatientID *string // only the one that it has
	Type      *string
	Sections  []string
	Evidence  []assessment.Evidence // the empty list is none
	// Language reports whether another one is wanted than that of the survey: that
	// of the world.
	Language bool
	// A pointer to the zero time clears the date.
	ExpirationDate, NotificationDate *time.Time
	// In JSON; null clears.
	VisitDate, VisitReason, Specialist json.RawMessage
}

// Revise changes a survey. Before the first answer anything may change but whom it
// is about, and the first question is asked anew; from then on the dates and what is
// kept as it came. Earlier is as in a Creation.
func Revise(p Progress, patch Patch, earlier []guidance.Evidence, w section.World) (Progress, error) {
	if patch.PatientID != nil && *patch.PatientID != p.Survey.PatientID {
		return Progress{}, assessment.WrongWord("patient_id", *patch.PatientID, p.Survey.PatientID+", as a survey stays with its patient")
	}
	if err := keep(&p.Survey, patch.VisitDate, patch.VisitReason, patch.Specialist); err != nil {
		return Progress{}, err
	}
	if patch.ExpirationDate != nil {
		p.Survey.ExpirationDate = *patch.ExpirationDate
	}
	if patch.NotificationDate != nil {
		p.Survey.NotificationDate = *patch.NotificationDate
	}
	if patch.asksOtherwise() {
		revised, err := p.revise(patch, earlier, w)
		if err != nil {
			return Progress{}, err
		}
		p = revised
	}
	p.Survey.Version++
	return p, nil
}

// NeedsEarlier reports whether what the patient reported earlier makes a difference to
// what a patch makes of a survey: where a follow-up begins anew that has no evidence of
// its own.
func (p Progress) NeedsEarlier(patch Patch) bool {
	if !patch.asksOtherwise() || len(guidance.Answered(p.Steps)) > 0 {
		return false
	}
	creation := p.creation(patch, nil)
	return creation.NeedsEarlier() && (patch.Evidence != nil || len(p.Survey.Evidence) == 0)
}

// asksOtherwise reports whether a patch has to do with what is asked.
func (patch *Patch) asksOtherwise() bool {
	return patch.Type != nil || patch.Sections != nil || patch.Evidence != nil || patch.Language
}

// revise begins a survey anew with what a patch changes. Once answers exist it
// only sees that nothing would change.
func (p Progress) revise(patch Patch, earlier []guidance.Evidence, w section.World) (Progress, error) {
	revised := Progress{Survey: p.Survey}
	err := begin(&revised, p.creation(patch, earlier), w)
	if len(guidance.Answered(p.Steps)) == 0 {
		return revised, err
	}
	if frozen := p.frozen(patch, revised); frozen != "" {
		return Progress{}, &FrozenError{frozen}
	}
	return p, nil
}

// frozen is the field that a patch would change.
func (p Progress) frozen(patch Patch, revised Progress) string {
	switch now, then := &p.Survey, &revised.Survey; {
	case patch.Type != nil && then.Type != now.Type:
		return "type"
	case patch.Sections != nil && !slices.Equal(then.Sections, now.Sections):
		return "sections"
	case patch.Evidence != nil && (!slices.Equal(then.Evidence, now.Evidence) || len(patch.Evidence) > 0 && then.Evidence == nil):
		return "evidence" // that is another, or cannot be read
	case patch.Language:
		return "language"
	}
	return ""
}

// creation is what the survey would have been created with.
func (p Progress) creation(patch Patch, earlier []guidance.Evidence) Creation {
	s := &p.Survey
	creation := Creation{Type: string(s.Type), Sections: s.Sections, Earlier: earlier, Evidence: patch.Evidence, keepsEvidence: patch.Evidence == nil}
	if slices.Equal(s.Sections, inForce(s, byDefault[s.Type])) {
		creation.Sections = nil // those of another type then
	}
	if patch.Type != nil {
		creation.Type = *patch.Type
	}
	if patch.Sections != nil {
		creation.Sections = patch.Sections
	}
	return creation
}
