// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// A clinic is where patients are played.
type clinic struct {
	*consultation.Room
}

func openClinic() (*clinic, error) {
	room, err := consultation.Open()
	if err != nil {
		return nil, err
	}
	return &clinic{room}, nil
}

// An outcome is what became of a patient.
type outcome struct {
	vignette
	known   knowledge
	covered bool // the diagnosis is in the catalogue for the patient's age and sex
	heard   bool // the first words held a symptom, so that there was an interview
	rank    int  // of the diagnosis, 0 where it is not in the ranking
	// fullRank is the rank with all that the patient knows as evidence, what
	// was not asked too.
	fullRank int
	// Record is of the interview; without one it is empty.
	consultation.Record
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

// play hears a patient, has them asked, and judges the verdict.
func (c *clinic) play(v *vignette) (outcome, error) {
	o := outcome{vignette: *v, known: c.listen(v), covered: c.covers(v)}
	o.heard = slices.ContainsFunc(o.known.opening, c.isSymptom)
	if !o.heard {
		return o, nil
	}
	patient := &consultation.Patient{
		Sex: v.Sex.Sex, AgeMonths: v.Age.months(), Opening: o.known.opening,
		Choice: func(item model.ObservationIndex) engine.Choice { return c.choice(&o.known, item) },
	}
	record, err := c.Ask(patient)
	if err != nil {
		return o, fmt.Errorf("playing %s: %w", v.ID, err)
	}
	o.Record, o.rank = *record, c.rank(record.Ranking, v.ICD10)
	return o, c.tellAll(&o)
}

// tellAll finds the rank that the diagnosis would have if the patient had told
// all that they know.
func (c *clinic) tellAll(o *outcome) error {
	all := consultation.Record{Evidence: slices.Clone(o.Evidence)}
	for _, observation := range slices.Sorted(maps.Keys(o.known.answers)) {
		if !all.Has(c.Release, observation) {
			all.Tell(c.Release, observation, o.known.answers[observation], engine.SourceNone)
		}
	}
	p, err := engine.NewPatient(c.Release, o.Sex.Sex, o.Age.months(), all.Evidence)
	if err != nil {
		return fmt.Errorf("playing %s: %w", o.ID, err)
	}
	o.fullRank = c.rank(c.Engine.Assess(c.Release, p, engine.Options{}).Conditions, o.ICD10)
	return nil
}

// choice is what the patient knows of an observation. What was never spoken of
// is absent, but for a risk factor, of which the patient does not know.
func (c *clinic) choice(known *knowledge, item model.ObservationIndex) engine.Choice {
	if choice, ok := known.answers[item]; ok {
		return choice
	}
	if c.Release.Observations[item].Kind == model.RiskFactor {
		return engine.Unknown
	}
	return engine.Absent
}

func (c *clinic) isSymptom(o model.ObservationIndex) bool {
	return c.Release.Observations[o].Kind == model.Symptom
}

// covers reports whether the diagnosis is in the catalogue for the patient's
// age and sex.
func (c *clinic) covers(v *vignette) bool {
	months := v.Age.months()
	return slices.ContainsFunc(c.Release.Conditions, func(condition model.Condition) bool {
		return int(condition.AgeFrom) <= months && months <= int(condition.AgeTo) && condition.Sex.Admits(v.Sex.Sex) &&
			right(codesOf(c.Release.Text(condition.ICD10)), v.ICD10)
	})
}

// rank is the place of the first condition with a right code, from 1, or 0.
func (c *clinic) rank(ranking []engine.Ranked, prefixes []string) int {
	return 1 + slices.IndexFunc(ranking, func(ranked engine.Ranked) bool {
		return right(codesOf(c.Release.Text(c.Release.Conditions[ranked.Condition].ICD10)), prefixes)
	})
}
