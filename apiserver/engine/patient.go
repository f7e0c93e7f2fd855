// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Choice is an answer about one observation.
type Choice uint8

// The three answers.
const (
	Unknown Choice = iota
	Present
	Absent
)

// A Source says how a piece of evidence was obtained.
type Source uint8

// The sources. SourceNone is an answer to a question of the interview. Of two
// sources for one observation the greater counts.
const (
	SourceNone Source = iota
	SourcePredefined
	SourceSuggest
	SourceRedFlags
	SourceInitial
)

// ReportedEvidence is one piece of evidence as a client sent it.
type ReportedEvidence struct {
	ID     string // s_, p_ or lt_
	Choice Choice
	Source Source
	// Duration is how long the patient has had it, 0 when that was not said.
	Duration time.Duration
	// DurationUnknown says that the patient was asked for how long and does
	// not know.
	DurationUnknown bool
}

// An EvidenceError names the piece of evidence that cannot be used.
type EvidenceError struct {
	Position int // in the list as sent
	ID       string
	Problem  string
}

// Error says what is wrong with which piece of evidence.
func (e *EvidenceError) Error() string {
	return fmt.Sprintf("evidence %d (%s): %s", e.Position, e.ID, e.Problem)
}

// A finding is what is known about one observation, after the hierarchy was
// collapsed.
type finding struct {
	observation model.ObservationIndex
	choice      Choice
	source      Source
	// sent is the choice as it was sent, before the hierarchy had its say.
	sent Choice
	// reported says that the client sent it; else another finding implies it.
	reported bool
	// initial says that it, or a finding that it stands for, was given as what
	// brought the patient here.
	initial bool
	// refined says that a present descendant stands for it.
	refined bool
}

// A Patient is a person and what is known about them, resolved against one
// release. It is immutable.
type Patient struct {
	sex       model.Sex
	ageMonths int
	// findings are in order of observation, each observation once.
	findings []finding
	// present are the observations that hold, reported or implied, in order.
	present []model.ObservationIndex
	// openers are the present symptoms that brought the patient here: those
	// marked as initial or, when no evidence carries a source, all of them.
	openers []model.ObservationIndex
	// hasInitial says that an opener is marked as initial.
	hasInitial bool
	// observations is how many present or absent findings were reported, a
	// parent and its present child being one.
	observations int
}

// NewPatient resolves reported evidence against a release. Evidence that does
// not apply to the patient's sex or age changes nothing. The error is an
// *EvidenceError: an id that the release does not have, or one that is sent
// twice with different choices.
func NewPatient(r *model.Release, sex model.Sex, ageMonths int, reported []ReportedEvidence) (Patient, error) {
	p := Patient{sex: sex, ageMonths: ageMonths}
	findings, err := resolve(r, reported)
	if err != nil {
		return Patient{}, err
	}
	findings = slices.DeleteFunc(findings, func(f finding) bool {
		return !p.admits(&r.Observations[f.observation])
	})
	anySource := slices.ContainsFunc(findings, func(f finding) bool { return f.source != SourceNone })
	for i := range findings {
		findings[i].initial = findings[i].source == SourceInitial && findings[i].sent == Present
	}
	p.findings = findings
	p.collapse(r)
	p.findOpeners(r, anySource)
	return p, nil
}

// Sex is the patient's sex.
func (p *Patient) Sex() model.Sex { return p.sex }

// AgeMonths is the patient's age in months.
func (p *Patient) AgeMonths() int { return p.ageMonths }

// Observations is how many present or absent observations are known, a parent
// and its present child counted once.
func (p *Patient) Observations() int { return p.observations }

// admits reports whether an observation can apply to the patient.
func (p *Patient) admits(o *model.Observation) bool {
	return o.Sex.Admits(p.sex) && int(o.AgeFrom) <= p.ageMonths && p.ageMonths <= int(o.AgeTo)
}

// find is the finding about an observation, nil when nothing is known.
func (p *Patient) find(o model.ObservationIndex) *finding {
	i, ok := slices.BinarySearchFunc(p.findings, o, byObservation)
	if !ok {
		return nil
	}
	return &p.findings[i]
}

func byObservation(f finding, o model.ObservationIndex) int { return cmp.Compare(f.observation, o) }

// resolve looks the ids up and merges what was sent more than once.
func resolve(r *model.Release, reported []ReportedEvidence) ([]finding, error) {
	findings := make([]finding, 0, len(reported)+8)
	for position, e := range reported {
		observation, ok := r.ObservationByID(e.ID)
		if !ok {
			return nil, &EvidenceError{position, e.ID, "the model has no such observation; ids start with s_, p_ or lt_"}
		}
		i, known := slices.BinarySearchFunc(findings, observation, byObservation)
		switch {
		case !known:
			findings = slices.Insert(findings, i, finding{observation: observation, choice: e.Choice, sent: e.Choice, source: e.Source, reported: true})
		case findings[i].sent != e.Choice:
			return nil, &EvidenceError{position, e.ID, "was sent before with another choice; send each observation once"}
		default:
			findings[i].source = max(findings[i].source, e.Source)
		}
	}
	return findings, nil
}

// findOpeners finds the symptoms that brought the patient here and counts the
// observations.
func (p *Patient) findOpeners(r *model.Release, anySource bool) {
	for _, f := range p.findings {
		if f.reported && f.choice != Unknown && !f.refined {
			p.observations++
		}
		if f.choice != Present || f.refined || r.Observations[f.observation].Kind != model.Symptom {
			continue
		}
		if f.initial || !anySource {
			p.openers = append(p.openers, f.observation)
			p.hasInitial = anySource
		}
	}
}
