// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
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

// A Section asks for one subject.
type Section interface {
	// Name is that by which surveys list it.
	Name() string
	// Asks are the questions that have words of ours, by id, with the ids of what
	// can be chosen.
	Asks() map[string][]string
	// Needs reports whether it asks only who is of known sex and age.
	Needs() (person bool)
	// Next is what to ask next, nil when there is nothing more to ask.
	Next(c *Case) (*guidance.Question, error)
	// Evidence is what was said in it, or given to it at creation, in the order in
	// which it was said.
	Evidence(c *Case) []guidance.Evidence
}

// all are the sections, in the order in which errors list them.
var all = []Section{
	demographics{}, visitReason{}, symptoms{}, chronicDiseases{}, drugs{}, allergies{}, hospitalizations{},
	riskFactors{}, dynamic{}, specialists{}, notes{},
}

// ByName finds a section.
func ByName(name string) (Section, bool) {
	for _, s := range all {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// Names are the names of all sections.
func Names() []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name()
	}
	return names
}

// Next is what the sections in force ask next, in their order; nil when there is
// nothing more to ask. Nobody goes back to a section that came to its end, even if
// another release would ask more in it. The error says what of the release or of
// the words does not fit; it is never the patient's.
func Next(c *Case) (*guidance.Question, error) {
	for _, name := range c.Survey.Sections[c.reached():] {
		s, ok := ByName(name)
		if !ok {
			continue // of a version that had more
		}
		if question, err := s.Next(c); question != nil || err != nil {
			return question, err
		}
	}
	return nil, nil
}

// reached is the position of the section that asked last.
func (c *Case) reached() int {
	if len(c.Steps) == 0 {
		return 0
	}
	return max(0, slices.Index(c.Survey.Sections, c.Steps[len(c.Steps)-1].Question.Section))
}

// unspoken is what sections have that say nothing about observations and can ask
// anybody.
type unspoken struct{}

// Evidence is none.
func (unspoken) Evidence(*Case) []guidance.Evidence { return nil }

// Needs is false.
func (unspoken) Needs() bool { return false }
