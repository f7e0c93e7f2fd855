// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// A simulator simulates patients.
type simulator struct {
	*consultation.Interviewer
}

func newSimulator() (*simulator, error) {
	interviewer, err := consultation.NewInterviewer()
	if err != nil {
		return nil, err
	}
	return &simulator{interviewer}, nil
}

// An outcome is the result of one simulated patient.
type outcome struct {
	vignette
	knowledge  knowledge
	inCatalog  bool // the catalog contains the diagnosis for the patient's age and sex
	understood bool // the chief complaint contained a symptom, so there was an interview
	rank       int  // rank of the diagnosis, or 0 if it is not ranked
	// fullEvidenceRank is the rank with everything that the patient knows as evidence,
	// including findings that the engine did not ask about.
	fullEvidenceRank int
	// Transcript is the interview. It is empty if the case was not understood.
	consultation.Transcript
}

// simulateAll simulates patients concurrently and returns the outcomes in their order.
func (s *simulator) simulateAll(cases []vignette) ([]outcome, error) {
	outcomes := make([]outcome, len(cases))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cases {
		group.Go(func() (err error) {
			outcomes[i], err = s.simulate(&cases[i])
			return err
		})
	}
	return outcomes, group.Wait()
}

// simulate parses a patient's complaint, runs the interview, and evaluates the result.
func (s *simulator) simulate(v *vignette) (outcome, error) {
	o := outcome{vignette: *v, knowledge: s.parseVignette(v), inCatalog: s.isInCatalog(v)}
	o.understood = slices.ContainsFunc(o.knowledge.opening, s.isSymptom)
	if !o.understood {
		return o, nil
	}
	patient := &consultation.Patient{
		Sex: v.Sex.Sex, AgeMonths: v.Age.Months(), Opening: o.knowledge.opening,
		Answer: func(item model.ObservationIndex) inference.Choice { return s.answer(&o.knowledge, item) },
	}
	transcript, err := s.Interview(patient)
	if err != nil {
		return o, fmt.Errorf("simulating %s: %w", v.ID, err)
	}
	o.Transcript, o.rank = *transcript, s.rank(transcript.Ranking, v.ICD10)
	return o, s.rankWithFullEvidence(&o)
}

// rankWithFullEvidence sets the rank that the diagnosis would have if the patient had
// reported everything they know.
func (s *simulator) rankWithFullEvidence(o *outcome) error {
	all := consultation.Transcript{Evidence: slices.Clone(o.Evidence)}
	for _, observation := range slices.Sorted(maps.Keys(o.knowledge.answers)) {
		if !all.HasEvidence(s.Release, observation) {
			all.AddEvidence(s.Release, observation, o.knowledge.answers[observation], inference.SourceUnspecified)
		}
	}
	p, err := inference.NewPatient(s.Release, o.Sex.Sex, o.Age.Months(), all.Evidence)
	if err != nil {
		return fmt.Errorf("simulating %s: %w", o.ID, err)
	}
	o.fullEvidenceRank = s.rank(s.Engine.Assess(s.Release, p, inference.Options{}).Conditions, o.ICD10)
	return nil
}

// answer returns the patient's answer to a question about an observation. If the vignette
// does not mention the observation, the answer is unknown for risk factors and absent for
// all others.
func (s *simulator) answer(known *knowledge, item model.ObservationIndex) inference.Choice {
	if choice, ok := known.answers[item]; ok {
		return choice
	}
	if s.Release.Observations[item].Kind == model.RiskFactor {
		return inference.Unknown
	}
	return inference.Absent
}

func (s *simulator) isSymptom(o model.ObservationIndex) bool {
	return s.Release.Observations[o].Kind == model.Symptom
}

// isInCatalog reports whether the catalog contains the diagnosis for the patient's age and
// sex.
func (s *simulator) isInCatalog(v *vignette) bool {
	months := v.Age.Months()
	return slices.ContainsFunc(s.Release.Conditions, func(condition model.Condition) bool {
		return int(condition.AgeFrom) <= months && months <= int(condition.AgeTo) && condition.Sex.Includes(v.Sex.Sex) &&
			matchesICD10(parseICD10(s.Release.Text(condition.ICD10)), v.ICD10)
	})
}

// rank returns the 1-based rank of the first condition with a correct code, or 0.
func (s *simulator) rank(ranking []inference.RankedCondition, prefixes []string) int {
	return 1 + slices.IndexFunc(ranking, func(ranked inference.RankedCondition) bool {
		return matchesICD10(parseICD10(s.Release.Text(s.Release.Conditions[ranked.Condition].ICD10)), prefixes)
	})
}
