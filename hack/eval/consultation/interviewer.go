// SPDX-License-Identifier: Apache-2.0

// Package consultation runs interviews in process: the engine questions a simulated
// patient until it stops. Callers supply the patients and evaluate the results; free
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
	// Opening are the observations that the patient reports first, all of them present.
	Opening []model.ObservationIndex
	// Answer returns the patient's answer about an observation. It is called once per
	// observation.
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
func (r *Interviewer) Interview(p *Patient) (*Transcript, error) {
	record := &Transcript{}
	for _, observation := range p.Opening {
		record.AddEvidence(r.Release, observation, inference.Present, inference.SourceInitial)
	}
	for {
		patient, err := inference.NewPatient(r.Release, p.Sex, p.AgeMonths, record.Evidence)
		if err != nil {
			return nil, err
		}
		assessed := r.Engine.Assess(r.Release, patient, inference.Options{})
		stop := assessed.ShouldStop || assessed.Question == nil || record.Questions == MaxQuestions
		if stop || !record.recordAnswer(r.Release, p, assessed.Question) {
			record.Ranking = assessed.Conditions
			record.Level = r.Engine.Triage(r.Release, patient, inference.Options{}).Level
			return record, nil
		}
		record.Questions++
	}
}

// recordAnswer adds the patient's answers to a question, and reports whether it added
// any. Nothing is answered twice.
func (c *Transcript) recordAnswer(r *model.Release, p *Patient, q *inference.Question) bool {
	before := len(c.Evidence)
	items := slices.DeleteFunc(slices.Clone(q.Items), func(item model.ObservationIndex) bool { return c.HasEvidence(r, item) })
	if q.Type == inference.GroupSingle {
		c.recordSingleChoice(r, p, items)
	} else {
		for _, item := range items {
			c.AddEvidence(r, item, p.Answer(item), inference.SourceUnspecified)
		}
	}
	return len(c.Evidence) > before
}

// recordSingleChoice answers with the first item that is present or unknown.
func (c *Transcript) recordSingleChoice(r *model.Release, p *Patient, items []model.ObservationIndex) {
	for _, item := range items {
		if p.Answer(item) == inference.Present {
			c.AddEvidence(r, item, inference.Present, inference.SourceUnspecified)
			return
		}
	}
	for _, item := range items {
		c.AddEvidence(r, item, inference.Unknown, inference.SourceUnspecified)
	}
}

// AddEvidence adds evidence unless the limit is reached.
func (c *Transcript) AddEvidence(r *model.Release, observation model.ObservationIndex, choice inference.Choice, source inference.Source) {
	if len(c.Evidence) < MaxEvidence {
		c.Evidence = append(c.Evidence, inference.ReportedEvidence{ID: r.ObservationID(observation), Choice: choice, Source: source})
	}
}

// HasEvidence reports whether there is evidence on an observation, whatever the
// choice.
func (c *Transcript) HasEvidence(r *model.Release, observation model.ObservationIndex) bool {
	id := r.ObservationID(observation)
	return slices.ContainsFunc(c.Evidence, func(e inference.ReportedEvidence) bool { return e.ID == id })
}
