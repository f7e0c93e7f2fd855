// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A Patch holds a client's changes to a survey. A nil field leaves the value
// unchanged.
type Patch struct {
	PatientID *string // must equal the current one
	Type      *string
	Sections  []string
	Evidence  []assessment.Evidence // an empty list removes all evidence
	// ChangesLanguage reports whether to change the language of the survey to the language
	// of the Env.
	ChangesLanguage bool
	// A pointer to the zero time clears the date.
	ExpirationDate, NotificationDate *time.Time
	// JSON values. null clears them.
	VisitDate, VisitReason, Specialist json.RawMessage
}

// Update applies a patch to a survey. Before the first answer, everything but the
// patient may change, and the first question is asked again if the questions change.
// After it, only the dates and the client data may change. earlier is used as in
// CreateOptions.PriorEvidence.
func Update(p Progress, patch Patch, earlier []record.Evidence, w section.Env) (Progress, error) {
	if patch.PatientID != nil && *patch.PatientID != p.Survey.PatientID {
		return Progress{}, assessment.NotSupported("patient_id", *patch.PatientID, p.Survey.PatientID+" (the patient of a survey is immutable)")
	}
	if err := setClientData(&p.Survey, patch.VisitDate, patch.VisitReason, patch.Specialist); err != nil {
		return Progress{}, err
	}
	if patch.ExpirationDate != nil {
		p.Survey.ExpirationDate = *patch.ExpirationDate
	}
	if patch.NotificationDate != nil {
		p.Survey.NotificationDate = *patch.NotificationDate
	}
	if patch.changesQuestions() {
		revised, err := p.reinitialize(patch, earlier, w)
		if err != nil {
			return Progress{}, err
		}
		p = revised
	}
	p.Survey.Version++
	return p, nil
}

// NeedsPriorEvidence reports whether prior evidence affects the result of a patch:
// when the patch restarts a follow-up that has no evidence of its own.
func (p Progress) NeedsPriorEvidence(patch Patch) bool {
	if !patch.changesQuestions() || len(record.AnsweredSteps(p.Steps)) > 0 {
		return false
	}
	creation := p.createOptions(patch, nil)
	return creation.NeedsPriorEvidence() && (patch.Evidence != nil || len(p.Survey.Evidence) == 0)
}

// changesQuestions reports whether a patch can affect what the survey asks.
func (patch *Patch) changesQuestions() bool {
	return patch.Type != nil || patch.Sections != nil || patch.Evidence != nil || patch.ChangesLanguage
}

// reinitialize restarts a survey with the changes of a patch. If the survey has
// answers, it only verifies that the patch would not change anything, and returns an
// ImmutableFieldError otherwise.
func (p Progress) reinitialize(patch Patch, earlier []record.Evidence, w section.Env) (Progress, error) {
	revised := Progress{Survey: p.Survey}
	err := initialize(&revised, p.createOptions(patch, earlier), w)
	if len(record.AnsweredSteps(p.Steps)) == 0 {
		return revised, err
	}
	if frozen := p.changedField(patch, revised); frozen != "" {
		return Progress{}, &ImmutableFieldError{frozen}
	}
	return p, nil
}

// changedField returns the name of the first field that the patch would change, or "".
func (p Progress) changedField(patch Patch, revised Progress) string {
	switch now, then := &p.Survey, &revised.Survey; {
	case patch.Type != nil && then.Type != now.Type:
		return "type"
	case patch.Sections != nil && !slices.Equal(then.Sections, now.Sections):
		return "sections"
	case patch.Evidence != nil && (!slices.Equal(then.Evidence, now.Evidence) || len(patch.Evidence) > 0 && then.Evidence == nil):
		return "evidence" // different or invalid
	case patch.ChangesLanguage:
		return "language"
	}
	return ""
}

// createOptions returns the options to create the survey with, including the changes
// of a patch.
func (p Progress) createOptions(patch Patch, earlier []record.Evidence) CreateOptions {
	s := &p.Survey
	creation := CreateOptions{Type: string(s.Type), Sections: s.Sections, PriorEvidence: earlier, Evidence: patch.Evidence, keepEvidence: patch.Evidence == nil}
	if slices.Equal(s.Sections, withRequiredSections(s, defaultSections[s.Type])) {
		creation.Sections = nil // use the defaults of the possibly new type
	}
	if patch.Type != nil {
		creation.Type = *patch.Type
	}
	if patch.Sections != nil {
		creation.Sections = patch.Sections
	}
	return creation
}
