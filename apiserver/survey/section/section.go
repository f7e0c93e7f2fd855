// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// The names of the sections.
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

// A Section asks about one subject.
type Section interface {
	// Name returns the name by which surveys list the section.
	Name() string
	// Questions returns the IDs of the questions worded by the catalog, each with the IDs
	// of its options.
	Questions() map[string][]string
	// NeedsDemographics reports whether the section requires a known sex and age.
	NeedsDemographics() (person bool)
	// Next returns the next question, or nil if the section is finished.
	Next(c *State) (*record.Question, error)
	// Evidence returns the evidence reported in the section or submitted to it at
	// creation, in order.
	Evidence(c *State) []record.Evidence
}

// registry holds the sections, in the order in which errors list them.
var registry = []Section{
	demographics{}, visitReason{}, symptoms{}, chronicDiseases{}, drugs{}, allergies{}, hospitalizations{},
	riskFactors{}, dynamic{}, specialists{}, notes{},
}

// ByName returns the section with a name.
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

// Next returns the next question of the enabled sections, in order, or nil if the
// survey is finished. It never returns to a finished section, even if another release
// would ask more in it. An error means that the release or the texts are inconsistent;
// the patient is never the cause.
func Next(c *State) (*record.Question, error) {
	for _, name := range c.Survey.Sections[c.currentSectionIndex():] {
		s, ok := ByName(name)
		if !ok {
			continue // from a version with more sections
		}
		if question, err := s.Next(c); question != nil || err != nil {
			return question, err
		}
	}
	return nil, nil
}

// currentSectionIndex returns the position of the section that asked last.
func (c *State) currentSectionIndex() int {
	if len(c.Steps) == 0 {
		return 0
	}
	return max(0, slices.Index(c.Survey.Sections, c.Steps[len(c.Steps)-1].Question.Section))
}

// withoutEvidence is embedded by sections that yield no evidence and need no
// demographics.
type withoutEvidence struct{}

// Evidence returns nil.
func (withoutEvidence) Evidence(*State) []record.Evidence { return nil }

// NeedsDemographics returns false.
func (withoutEvidence) NeedsDemographics() bool { return false }
