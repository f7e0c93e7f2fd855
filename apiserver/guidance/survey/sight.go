// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Sight is what a patient is shown of a survey: how far it is, and whether what was
// said so far is an emergency.
type Sight struct {
	// Progress has the current question last, unless the survey is completed.
	Progress
	// Age is the patient's, as far as it is known.
	Age guidance.Age
	// Emergency is the triage level, emergency or emergency_ambulance, where what was
	// said is one or makes one likely; else it is empty. That one is possible, as after
	// the first words it often is, does not count: the questions that follow tell.
	Emergency string
	// EmergencyIsNew says that it is known since the last answer, or from before the first.
	EmergencyIsNew bool
	// Crisis says that somebody to talk to should be named, as InCrisis has it.
	Crisis bool
}

// See is what a patient is shown of a survey.
func See(p Progress, w section.World) (Sight, error) {
	if p.Survey.Status != guidance.Completed {
		if err := p.ask(w); err != nil {
			return Sight{}, err
		}
	}
	c := p.answered(w)
	sight := Sight{Progress: p, Age: c.Age(), Emergency: emergency(c), Crisis: inCrisis(c)}
	if last := len(c.Steps) - 1; sight.Emergency != "" && last >= 0 {
		before := &section.Case{World: w, Survey: &p.Survey, Steps: c.Steps[:last]}
		sight.EmergencyIsNew = !alarming(before)
	} else {
		sight.EmergencyIsNew = sight.Emergency != ""
	}
	return sight, nil
}

// emergency is the level of an emergency that is known.
func emergency(c *section.Case) string {
	patient, evidence, err := c.Patient()
	if err != nil || len(evidence) == 0 { // of unknown sex or age, or nothing was said
		return ""
	}
	found := c.Engine.Triage(c.Release, patient, engine.Options{})
	known := found.RootCause == engine.EmergencyEvidencePresent || found.RootCause == engine.EmergencyConditionLikely
	if !known || found.Level < model.Emergency {
		return ""
	}
	return found.Level.String()
}

// alarming reports whether an emergency is known.
func alarming(c *section.Case) bool {
	patient, _, err := c.Patient()
	// Whoever said what is an emergency by itself need not be ranked again.
	return err == nil && c.Engine.HasEmergencyEvidence(c.Release, patient) || emergency(c) != ""
}

// A Reason is why a question of the interview is asked, as engine.Rationale says it.
// The names are those that patients know.
type Reason struct {
	Type         string // r0 to r6
	Observations []string
	Conditions   []string
}

// Explained is what a patient is shown of a survey with why the current question is
// asked. Known is false where the interview does not ask it, or where there is no reason.
type Explained struct {
	Sight
	Reason Reason
	Known  bool
}

// Explain is why the current question of a survey is asked.
func Explain(p Progress, w section.World) (Explained, error) {
	sight, err := See(p, w)
	if err != nil {
		return Explained{}, err
	}
	explained := Explained{Sight: sight}
	last := len(sight.Steps) - 1
	if last < 0 || !sight.Steps[last].Answer.IsZero() || sight.Steps[last].Question.Section != section.Dynamic {
		return explained, nil
	}
	patient, _, err := sight.answered(w).Patient()
	if err != nil {
		return Explained{}, err
	}
	found, known := w.Engine.Rationale(w.Release, patient, engine.Options{})
	explained.Reason, explained.Known = describeReason(w.Release, found), known
	return explained, nil
}

func describeReason(r *model.Release, found engine.Rationale) Reason {
	reason := Reason{Type: found.Type.String()}
	for _, o := range found.Observations {
		reason.Observations = append(reason.Observations, strings.Clone(assessment.ItemName(r, o)))
	}
	for _, c := range found.Conditions {
		reason.Conditions = append(reason.Conditions, strings.Clone(assessment.ConditionName(r, c).CommonName))
	}
	return reason
}
