// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// Section names.
const (
	Demographics     = "demographics"
	VisitReason      = "visit_reason"
	Symptoms         = "symptoms"
	RiskFactors      = "risk_factors"
	ChronicDiseases  = "chronic_diseases"
	Drugs            = "drugs"
	Allergies        = "allergies"
	Hospitalizations = "hospitalizations"
	Specialists      = "specialists"
	Notes            = "notes"
	Dynamic          = "dynamic"
)

// A Section is a group of questions on one subject.
type Section interface {
	// Name returns the name of the section in surveys.
	Name() string
	// Questions returns the IDs of the questions whose wording is in the catalog, with the
	// IDs of their options.
	Questions() map[string][]string
	// NeedsDemographics reports whether the section requires a known sex and age.
	NeedsDemographics() (person bool)
	// Next returns the next question, or nil if the section is finished.
	Next(state *State) (*record.Question, error)
	// Evidence returns the evidence reported in the section or submitted to it at
	// creation, in order.
	Evidence(state *State) []record.Evidence
}

// registry holds the sections, in the order in which errors list them.
var registry = []Section{
	demographics{}, visitReason{}, symptoms{}, chronicDiseases{}, drugs{}, allergies{}, hospitalizations{},
	riskFactors{}, dynamic{}, specialists{}, notes{},
}

// ByName returns the section with the given name.
func ByName(name string) (Section, bool) {
	for _, s := range registry {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// Names returns the names of all sections.
func Names() []string {
	names := make([]string, len(registry))
	for i, s := range registry {
		names[i] = s.Name()
	}
	return names
}

// Next returns the next question of the enabled sections, in order, or nil if the survey is
// finished. It never returns to a finished section, even if another release would ask more
// questions. An error means that the release or the texts are inconsistent; it is never
// caused by the patient.
func Next(state *State) (*record.Question, error) {
	for _, name := range state.Survey.Sections[state.currentSectionIndex():] {
		section, ok := ByName(name)
		if !ok {
			continue // from a version with more sections
		}
		if question, err := section.Next(state); question != nil || err != nil {
			return question, err
		}
	}
	return nil, nil
}

// currentSectionIndex returns the position of the section that asked the last question.
func (state *State) currentSectionIndex() int {
	if len(state.Steps) == 0 {
		return 0
	}
	return max(0, slices.Index(state.Survey.Sections, state.Steps[len(state.Steps)-1].Question.Section))
}

// withoutEvidence is embedded by sections that yield no evidence and require no demographics.
type withoutEvidence struct{}

// Evidence returns nil.
func (withoutEvidence) Evidence(*State) []record.Evidence { return nil }

// NeedsDemographics returns false.
func (withoutEvidence) NeedsDemographics() bool { return false }
