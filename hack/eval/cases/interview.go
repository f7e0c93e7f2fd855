// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

// What ends an interview that does not stop by itself.
const (
	mostQuestions = 30
	mostEvidence  = 60
)

// A clinic is where patients are played: the content and what asks by it.
type clinic struct {
	release *model.Release
	engine  *engine.Engine
}

// openClinic compiles the content that the program was built with.
func openClinic() (*clinic, error) {
	compiled, err := compile.Compile(content.FS, "en")
	if err != nil {
		return nil, fmt.Errorf("compiling the content: %w", err)
	}
	release, err := model.Decode(compiled.Release)
	if err != nil {
		return nil, fmt.Errorf("opening the content: %w", err)
	}
	return &clinic{release: release, engine: engine.New()}, nil
}

// An outcome is what became of a patient.
type outcome struct {
	vignette
	known     knowledge
	covered   bool // the diagnosis is in the catalogue for the patient's age and sex
	heard     bool // the first words held a symptom, so that there was an interview
	questions int
	ranking   []engine.Ranked
	rank      int               // of the diagnosis, 0 where it is not in the ranking
	triage    model.TriageLevel // NoTriageLevel without an interview
	// fullRank is the rank with all that the patient knows as evidence, what
	// was not asked too.
	fullRank int
	evidence []engine.ReportedEvidence
}

// playAll plays patients side by side. The outcomes are in their order.
func (c *clinic) playAll(cases []vignette) ([]outcome, error) {
	outcomes := make([]outcome, len(cases))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cases {
		group.Go(func() (err error) {
			outcomes[i], err = c.play(&cases[i])
			return err
		})
	}
	return outcomes, group.Wait()
}

// play hears a patient, asks until the interview stops, and judges the ranking
// and the triage level that it stopped with.
func (c *clinic) play(v *vignette) (outcome, error) {
	o := outcome{vignette: *v, known: c.listen(v), covered: c.covers(v)}
	o.heard = slices.ContainsFunc(o.known.opening, c.isSymptom)
	if !o.heard {
		return o, nil
	}
	for _, observation := range o.known.opening {
		o.add(c, observation, engine.Present, engine.SourceInitial)
	}
	if err := c.interview(&o); err != nil {
		return o, fmt.Errorf("playing %s: %w", v.ID, err)
	}
	return o, nil
}

// interview asks until there is nothing left to ask, and leaves the verdict.
func (c *clinic) interview(o *outcome) error {
	for {
		p, err := c.patient(o)
		if err != nil {
			return err
		}
		assessed := c.engine.Assess(c.release, p, engine.Options{})
		stop := assessed.ShouldStop || assessed.Question == nil || o.questions == mostQuestions
		if stop || !c.answer(o, assessed.Question) {
			o.ranking, o.rank = assessed.Conditions, c.rank(assessed.Conditions, o.ICD10)
			o.triage = c.engine.Triage(c.release, p, engine.Options{}).Level
			return c.tellAll(o)
		}
		o.questions++
	}
}

// tellAll finds the rank that the diagnosis would have if the patient had told
// all that they know.
func (c *clinic) tellAll(o *outcome) error {
	all := outcome{vignette: o.vignette, evidence: slices.Clone(o.evidence)}
	for _, observation := range slices.Sorted(maps.Keys(o.known.answers)) {
		if !o.has(c, observation) {
			all.add(c, observation, o.known.answers[observation], engine.SourceNone)
		}
	}
	p, err := c.patient(&all)
	if err != nil {
		return err
	}
	o.fullRank = c.rank(c.engine.Assess(c.release, p, engine.Options{}).Conditions, o.ICD10)
	return nil
}

func (c *clinic) patient(o *outcome) (engine.Patient, error) {
	return engine.NewPatient(c.release, o.Sex.Sex, o.Age.months(), o.evidence)
}

// answer adds what the patient answers to a question, and reports whether that
// was anything. Nothing is answered twice.
func (c *clinic) answer(o *outcome, q *engine.Question) bool {
	before := len(o.evidence)
	items := slices.DeleteFunc(slices.Clone(q.Items), func(item model.ObservationIndex) bool { return o.has(c, item) })
	if q.Type == engine.GroupSingle {
		c.choose(o, items)
	} else {
		for _, item := range items {
			o.add(c, item, c.choice(o, item), engine.SourceNone)
		}
	}
	return len(o.evidence) > before
}

// choose answers with the first of the items that is there, or that the patient
// does not know.
func (c *clinic) choose(o *outcome, items []model.ObservationIndex) {
	for _, item := range items {
		if o.known.answers[item] == engine.Present {
			o.add(c, item, engine.Present, engine.SourceNone)
			return
		}
	}
	for _, item := range items {
		o.add(c, item, engine.Unknown, engine.SourceNone)
	}
}

// choice is what the patient knows of an observation. What was never spoken of
// is absent, but for a risk factor, of which the patient does not know.
func (c *clinic) choice(o *outcome, item model.ObservationIndex) engine.Choice {
	if choice, ok := o.known.answers[item]; ok {
		return choice
	}
	if c.release.Observations[item].Kind == model.RiskFactor {
		return engine.Unknown
	}
	return engine.Absent
}

// add adds to the evidence while there is room.
func (o *outcome) add(c *clinic, observation model.ObservationIndex, choice engine.Choice, source engine.Source) {
	if len(o.evidence) < mostEvidence {
		o.evidence = append(o.evidence, engine.ReportedEvidence{ID: c.release.ObservationID(observation), Choice: choice, Source: source})
	}
}

// has reports whether an observation was told, whatever was said of it.
func (o *outcome) has(c *clinic, observation model.ObservationIndex) bool {
	id := c.release.ObservationID(observation)
	return slices.ContainsFunc(o.evidence, func(e engine.ReportedEvidence) bool { return e.ID == id })
}

func (c *clinic) isSymptom(o model.ObservationIndex) bool {
	return c.release.Observations[o].Kind == model.Symptom
}

// covers reports whether the diagnosis is in the catalogue for the patient's
// age and sex.
func (c *clinic) covers(v *vignette) bool {
	months := v.Age.months()
	return slices.ContainsFunc(c.release.Conditions, func(condition model.Condition) bool {
		return int(condition.AgeFrom) <= months && months <= int(condition.AgeTo) && condition.Sex.Admits(v.Sex.Sex) &&
			right(codesOf(c.release.Text(condition.ICD10)), v.ICD10)
	})
}

// rank is the place of the first condition with a right code, from 1, or 0.
func (c *clinic) rank(ranking []engine.Ranked, prefixes []string) int {
	return 1 + slices.IndexFunc(ranking, func(ranked engine.Ranked) bool {
		return right(codesOf(c.release.Text(c.release.Conditions[ranked.Condition].ICD10)), prefixes)
	})
}
