// SPDX-License-Identifier: Apache-2.0

// Package consultation plays interviews in process: a patient with what they
// know, asked by the engine until it stops. Where patients come from and how
// well they fare is for its callers to say; no text is read here.
package consultation

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// What ends an interview that does not stop by itself.
const (
	MostQuestions = 30
	MostEvidence  = 60
)

// A Room is where patients are asked: the content and what asks by it.
type Room struct {
	Release *model.Release
	Engine  *engine.Engine
}

// Open opens the English content.
func Open() (*Room, error) {
	release, err := compiled.Release("en")
	if err != nil {
		return nil, err
	}
	return &Room{Release: release, Engine: engine.New()}, nil
}

// A Patient is who is asked.
type Patient struct {
	Sex       model.Sex
	AgeMonths int
	// Opening is what they say first, all of it present.
	Opening []model.ObservationIndex
	// Choice is what they answer when asked for an observation. It is asked
	// for once.
	Choice func(model.ObservationIndex) engine.Choice
}

// A Record is what an interview left.
type Record struct {
	Evidence  []engine.ReportedEvidence // in the order told
	Questions int
	// Ranking and Level of triage are the verdict at the end.
	Ranking []engine.Ranked
	Level   model.TriageLevel
}

// Ask asks until there is nothing left to ask, and leaves the verdict. A patient
// who can add nothing to a question ends the interview too.
func (r *Room) Ask(p *Patient) (*Record, error) {
	record := &Record{}
	for _, observation := range p.Opening {
		record.Tell(r.Release, observation, engine.Present, engine.SourceInitial)
	}
	for {
		patient, err := engine.NewPatient(r.Release, p.Sex, p.AgeMonths, record.Evidence)
		if err != nil {
			return nil, err
		}
		assessed := r.Engine.Assess(r.Release, patient, engine.Options{})
		stop := assessed.ShouldStop || assessed.Question == nil || record.Questions == MostQuestions
		if stop || !record.answer(r.Release, p, assessed.Question) {
			record.Ranking = assessed.Conditions
			record.Level = r.Engine.Triage(r.Release, patient, engine.Options{}).Level
			return record, nil
		}
		record.Questions++
	}
}

// answer adds what the patient answers to a question, and reports whether that
// was anything. Nothing is answered twice.
func (c *Record) answer(r *model.Release, p *Patient, q *engine.Question) bool {
	before := len(c.Evidence)
	items := slices.DeleteFunc(slices.Clone(q.Items), func(item model.ObservationIndex) bool { return c.Has(r, item) })
	if q.Type == engine.GroupSingle {
		c.choose(r, p, items)
	} else {
		for _, item := range items {
			c.Tell(r, item, p.Choice(item), engine.SourceNone)
		}
	}
	return len(c.Evidence) > before
}

// choose answers with the first of the items that is there, or that the patient
// does not know.
func (c *Record) choose(r *model.Release, p *Patient, items []model.ObservationIndex) {
	for _, item := range items {
		if p.Choice(item) == engine.Present {
			c.Tell(r, item, engine.Present, engine.SourceNone)
			return
		}
	}
	for _, item := range items {
		c.Tell(r, item, engine.Unknown, engine.SourceNone)
	}
}

// Tell adds to the evidence while there is room.
func (c *Record) Tell(r *model.Release, observation model.ObservationIndex, choice engine.Choice, source engine.Source) {
	if len(c.Evidence) < MostEvidence {
		c.Evidence = append(c.Evidence, engine.ReportedEvidence{ID: r.ObservationID(observation), Choice: choice, Source: source})
	}
}

// Has reports whether an observation was told, whatever was said of it.
func (c *Record) Has(r *model.Release, observation model.ObservationIndex) bool {
	id := r.ObservationID(observation)
	return slices.ContainsFunc(c.Evidence, func(e engine.ReportedEvidence) bool { return e.ID == id })
}
