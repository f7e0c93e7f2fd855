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

// A View is a survey as shown to patients: its progress, and whether the answers indicate an
// emergency.
type View struct {
	// Progress ends with the current question, unless the survey is completed.
	Progress
	// Age is the patient's age, if known.
	Age record.Age
	// Emergency is the triage level, emergency or emergency_ambulance, if the answers include
	// an emergency symptom or make an emergency condition likely, and empty otherwise. Merely
	// possible emergencies do not count: they are frequent after the first answers, and later
	// questions clarify them.
	Emergency string
	// IsNewEmergency reports whether the last answer revealed the emergency. Before the
	// first answer, every emergency is new.
	IsNewEmergency bool
	// Crisis reports whether to show a crisis helpline, as determined by InCrisis.
	Crisis bool
}

// NewView returns the view of a survey as shown to patients.
func NewView(p Progress, env section.Env) (View, error) {
	if p.Survey.Status != record.StatusCompleted {
		if err := p.appendNextQuestion(env); err != nil {
			return View{}, err
		}
	}
	state := p.state(env)
	view := View{Progress: p, Age: state.Age(), Emergency: knownEmergency(state), Crisis: inCrisis(state)}
	if last := len(state.Steps) - 1; view.Emergency != "" && last >= 0 {
		before := &section.State{Env: env, Survey: &p.Survey, Steps: state.Steps[:last]}
		view.IsNewEmergency = !hasKnownEmergency(before)
	} else {
		view.IsNewEmergency = view.Emergency != ""
	}
	return view, nil
}

// knownEmergency returns the triage level of a known emergency, or "".
func knownEmergency(state *section.State) string {
	patient, evidence, err := state.Patient()
	if err != nil || len(evidence) == 0 { // sex or age unknown, or no evidence
		return ""
	}
	found := state.Engine.Triage(state.Release, patient, inference.Options{})
	known := found.RootCause == inference.EmergencyEvidencePresent || found.RootCause == inference.EmergencyConditionLikely
	if !known || found.Level < model.Emergency {
		return ""
	}
	return found.Level.String()
}

// hasKnownEmergency reports whether the state has a known emergency.
func hasKnownEmergency(state *section.State) bool {
	patient, _, err := state.Patient()
	// Emergency evidence suffices on its own, so skip ranking the conditions.
	return err == nil && state.Engine.HasEmergencyEvidence(state.Release, patient) || knownEmergency(state) != ""
}

// A Reason explains why the interview asks a question, as determined by
// inference.Engine.Rationale. It uses the common names of observations and conditions.
type Reason struct {
	Type         string // r0 to r6
	Observations []string
	Conditions   []string
}

// An ExplainedView is a View with the reason for the current question. HasReason is false if
// the question is not part of the interview or has no reason.
type ExplainedView struct {
	View
	Reason    Reason
	HasReason bool
}

// Explain returns the view of a survey with the reason for its current question.
func Explain(p Progress, env section.Env) (ExplainedView, error) {
	view, err := NewView(p, env)
	if err != nil {
		return ExplainedView{}, err
	}
	explained := ExplainedView{View: view}
	last := len(view.Steps) - 1
	if last < 0 || !view.Steps[last].Answer.IsZero() || view.Steps[last].Question.Section != section.Dynamic {
		return explained, nil
	}
	patient, _, err := view.state(env).Patient()
	if err != nil {
		return ExplainedView{}, err
	}
	found, known := env.Engine.Rationale(env.Release, patient, inference.Options{})
	explained.Reason, explained.HasReason = newReason(env.Release, found), known
	return explained, nil
}

func newReason(r *model.Release, found inference.Rationale) Reason {
	reason := Reason{Type: found.Type.String()}
	for _, o := range found.Observations {
		reason.Observations = append(reason.Observations, strings.Clone(assessment.ItemName(r, o)))
	}
	for _, state := range found.Conditions {
		reason.Conditions = append(reason.Conditions, strings.Clone(assessment.ConditionName(r, state).CommonName))
	}
	return reason
}
