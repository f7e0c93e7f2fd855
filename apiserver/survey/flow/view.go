// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A View is what patients see of a survey: its progress, and whether their answers
// indicate an emergency.
type View struct {
	// Progress ends with the current question, unless the survey is completed.
	Progress
	// Age is the patient's age, if known.
	Age record.Age
	// Emergency is the triage level, emergency or emergency_ambulance, if the answers
	// include an emergency symptom or make an emergency condition likely. Otherwise it is
	// empty. A merely possible emergency, which is frequent after the first answers, does
	// not count: later questions clarify it.
	Emergency string
	// IsNewEmergency reports whether the last answer revealed the emergency. Before the
	// first answer, every emergency is new.
	IsNewEmergency bool
	// Crisis reports whether to show a crisis helpline, as determined by InCrisis.
	Crisis bool
}

// NewView returns the view of a survey for patients.
func NewView(p Progress, w section.Env) (View, error) {
	if p.Survey.Status != record.StatusCompleted {
		if err := p.appendNextQuestion(w); err != nil {
			return View{}, err
		}
	}
	c := p.state(w)
	sight := View{Progress: p, Age: c.Age(), Emergency: knownEmergency(c), Crisis: inCrisis(c)}
	if last := len(c.Steps) - 1; sight.Emergency != "" && last >= 0 {
		before := &section.State{Env: w, Survey: &p.Survey, Steps: c.Steps[:last]}
		sight.IsNewEmergency = !hasKnownEmergency(before)
	} else {
		sight.IsNewEmergency = sight.Emergency != ""
	}
	return sight, nil
}

// knownEmergency returns the triage level of a known emergency, or "".
func knownEmergency(c *section.State) string {
	patient, evidence, err := c.Patient()
	if err != nil || len(evidence) == 0 { // sex or age unknown, or no evidence
		return ""
	}
	found := c.Engine.Triage(c.Release, patient, inference.Options{})
	known := found.RootCause == inference.EmergencyEvidencePresent || found.RootCause == inference.EmergencyConditionLikely
	if !known || found.Level < model.Emergency {
		return ""
	}
	return found.Level.String()
}

// hasKnownEmergency reports whether an emergency is known.
func hasKnownEmergency(c *section.State) bool {
	patient, _, err := c.Patient()
	// Emergency evidence suffices on its own, so skip ranking the conditions.
	return err == nil && c.Engine.HasEmergencyEvidence(c.Release, patient) || knownEmergency(c) != ""
}

// A Reason explains why the interview asks a question, as determined by
// inference.Engine.Rationale. Its names are the common names for patients.
type Reason struct {
	Type         string // r0 to r6
	Observations []string
	Conditions   []string
}

// An ExplainedView is a View with the reason for the current question. HasReason is
// false if the interview does not ask the current question or has no reason.
type ExplainedView struct {
	View
	Reason    Reason
	HasReason bool
}

// Explain returns the view of a survey with the reason for its current question.
func Explain(p Progress, w section.Env) (ExplainedView, error) {
	sight, err := NewView(p, w)
	if err != nil {
		return ExplainedView{}, err
	}
	explained := ExplainedView{View: sight}
	last := len(sight.Steps) - 1
	if last < 0 || !sight.Steps[last].Answer.IsZero() || sight.Steps[last].Question.Section != section.Dynamic {
		return explained, nil
	}
	patient, _, err := sight.state(w).Patient()
	if err != nil {
		return ExplainedView{}, err
	}
	found, known := w.Engine.Rationale(w.Release, patient, inference.Options{})
	explained.Reason, explained.HasReason = newReason(w.Release, found), known
	return explained, nil
}

func newReason(r *model.Release, found inference.Rationale) Reason {
	reason := Reason{Type: found.Type.String()}
	for _, o := range found.Observations {
		reason.Observations = append(reason.Observations, strings.Clone(assessment.ItemName(r, o)))
	}
	for _, c := range found.Conditions {
		reason.Conditions = append(reason.Conditions, strings.Clone(assessment.ConditionName(r, c).CommonName))
	}
	return reason
}
