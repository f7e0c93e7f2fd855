// SPDX-License-Identifier: Apache-2.0

// Package consultation runs interviews in process: the engine questions a simulated
// patient until it stops. Callers supply the patients and evaluate the results. Free
// text does not belong here.
package consultation

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Limits on interviews that do not stop on their own.
const (
	MaxQuestions = 30
	MaxEvidence  = 60
)

// An Interviewer questions patients using the content and the engine.
type Interviewer struct {
	Release *model.Release
	Engine  *inference.Engine
}

// NewInterviewer returns an interviewer with the English content.
func NewInterviewer() (*Interviewer, error) {
	release, err := compiled.Release("en")
	if err != nil {
		return nil, err
	}
	return &Interviewer{Release: release, Engine: inference.New()}, nil
}

// A Patient is a simulated patient.
type Patient struct {
	Sex       model.Sex
	AgeMonths int
	// Opening lists the present observations that the patient reports first.
	Opening []model.ObservationIndex
	// Answer returns the patient's answer to a question about an observation. It is called
	// once per observation.
	Answer func(model.ObservationIndex) inference.Choice
}

// A Transcript is the record of an interview.
type Transcript struct {
	Evidence  []inference.ReportedEvidence // in order of reporting
	Questions int
	// Ranking and Level are the final ranking and triage level.
	Ranking []inference.RankedCondition
	Level   model.TriageLevel
}

// Interview asks until there are no more questions, and returns the transcript with
// the result. It also ends if the patient has nothing to add to a question.
func (i *Interviewer) Interview(p *Patient) (*Transcript, error) {
	transcript := &Transcript{}
	for _, observation := range p.Opening {
		transcript.AddEvidence(i.Release, observation, inference.Present, inference.SourceInitial)
	}
	for {
		patient, err := inference.NewPatient(i.Release, p.Sex, p.AgeMonths, transcript.Evidence)
		if err != nil {
			return nil, err
		}
		assessed := i.Engine.Assess(i.Release, patient, inference.Options{})
		stop := assessed.ShouldStop || assessed.Question == nil || transcript.Questions == MaxQuestions
		if stop || !transcript.recordAnswer(i.Release, p, assessed.Question) {
			transcript.Ranking = assessed.Conditions
			transcript.Level = i.Engine.Triage(i.Release, patient, inference.Options{}).Level
			return transcript, nil
		}
		transcript.Questions++
	}
}

// recordAnswer adds the patient's answers to a question, and reports whether it added any.
// It skips items that already have evidence.
func (t *Transcript) recordAnswer(r *model.Release, p *Patient, q *inference.Question) bool {
	before := len(t.Evidence)
	items := slices.DeleteFunc(slices.Clone(q.Items), func(item model.ObservationIndex) bool { return t.HasEvidence(r, item) })
	if q.Type == inference.GroupSingle {
		t.recordSingleChoice(r, p, items)
	} else {
		for _, item := range items {
			t.AddEvidence(r, item, p.Answer(item), inference.SourceUnspecified)
		}
	}
	return len(t.Evidence) > before
}

// recordSingleChoice records the first present item. If no item is present, it records all
// items as unknown.
func (t *Transcript) recordSingleChoice(r *model.Release, p *Patient, items []model.ObservationIndex) {
	for _, item := range items {
		if p.Answer(item) == inference.Present {
			t.AddEvidence(r, item, inference.Present, inference.SourceUnspecified)
			return
		}
	}
	for _, item := range items {
		t.AddEvidence(r, item, inference.Unknown, inference.SourceUnspecified)
	}
}

// AddEvidence adds evidence unless the limit is reached.
func (t *Transcript) AddEvidence(r *model.Release, observation model.ObservationIndex, choice inference.Choice, source inference.Source) {
	if len(t.Evidence) < MaxEvidence {
		t.Evidence = append(t.Evidence, inference.ReportedEvidence{ID: r.ObservationID(observation), Choice: choice, Source: source})
	}
}

// HasEvidence reports whether there is evidence for an observation, regardless of the
// choice.
func (t *Transcript) HasEvidence(r *model.Release, observation model.ObservationIndex) bool {
	id := r.ObservationID(observation)
	return slices.ContainsFunc(t.Evidence, func(e inference.ReportedEvidence) bool { return e.ID == id })
}
