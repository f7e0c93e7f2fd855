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

// A Patch holds a client's changes to a survey. Nil fields leave the value unchanged.
type Patch struct {
	PatientID *string // must equal the current value
	Type      *string
	Sections  []string
	Evidence  []assessment.Evidence // an empty list removes all evidence
	// ChangesLanguage reports whether to change the language of the survey to the language
	// of the Env.
	ChangesLanguage bool
	// A pointer to the zero time clears the date.
	ExpirationDate, NotificationDate *time.Time
	// JSON values. Null clears them.
	VisitDate, VisitReason, Specialist json.RawMessage
}

// Update applies a patch to a survey. Before the first answer, everything except the patient
// may change; if that affects the questions, the first question is asked again. After the
// first answer, only the dates and the client data may change. The parameter prior is used
// like CreateOptions.PriorEvidence.
func Update(p Progress, patch Patch, prior []record.Evidence, env section.Env) (Progress, error) {
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
		updated, err := p.reinitialize(patch, prior, env)
		if err != nil {
			return Progress{}, err
		}
		p = updated
	}
	p.Survey.Version++
	return p, nil
}

// NeedsPriorEvidence reports whether prior evidence affects the result of a patch. This is
// the case if the patch restarts a follow-up without its own evidence.
func (p Progress) NeedsPriorEvidence(patch Patch) bool {
	if !patch.changesQuestions() || len(record.AnsweredSteps(p.Steps)) > 0 {
		return false
	}
	options := p.createOptions(patch, nil)
	return options.NeedsPriorEvidence() && (patch.Evidence != nil || len(p.Survey.Evidence) == 0)
}

// changesQuestions reports whether a patch can affect what the survey asks.
func (patch *Patch) changesQuestions() bool {
	return patch.Type != nil || patch.Sections != nil || patch.Evidence != nil || patch.ChangesLanguage
}

// reinitialize restarts a survey with the changes of a patch. If the survey has answers, it
// only verifies that the patch does not change anything, and otherwise returns an
// ImmutableFieldError.
func (p Progress) reinitialize(patch Patch, prior []record.Evidence, env section.Env) (Progress, error) {
	updated := Progress{Survey: p.Survey}
	err := initialize(&updated, p.createOptions(patch, prior), env)
	if len(record.AnsweredSteps(p.Steps)) == 0 {
		return updated, err
	}
	if immutable := p.changedField(patch, updated); immutable != "" {
		return Progress{}, &ImmutableFieldError{immutable}
	}
	return p, nil
}

// changedField returns the name of the first field that the patch would change, or "".
func (p Progress) changedField(patch Patch, updated Progress) string {
	switch current, changed := &p.Survey, &updated.Survey; {
	case patch.Type != nil && changed.Type != current.Type:
		return "type"
	case patch.Sections != nil && !slices.Equal(changed.Sections, current.Sections):
		return "sections"
	case patch.Evidence != nil && (!slices.Equal(changed.Evidence, current.Evidence) || len(patch.Evidence) > 0 && changed.Evidence == nil):
		return "evidence" // different or invalid
	case patch.ChangesLanguage:
		return "language"
	}
	return ""
}

// createOptions returns the options to create the survey with the changes of a patch.
func (p Progress) createOptions(patch Patch, prior []record.Evidence) CreateOptions {
	s := &p.Survey
	options := CreateOptions{Type: string(s.Type), Sections: s.Sections, PriorEvidence: prior, Evidence: patch.Evidence, keepEvidence: patch.Evidence == nil}
	if slices.Equal(s.Sections, withRequiredSections(s, defaultSections[s.Type])) {
		options.Sections = nil // use the default sections of the type, which may change
	}
	if patch.Type != nil {
		options.Type = *patch.Type
	}
	if patch.Sections != nil {
		options.Sections = patch.Sections
	}
	return options
}
