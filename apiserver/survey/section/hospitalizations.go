// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// hospitalizations asks for hospital stays and their reasons. A reason that implies a
// risk factor counts as one.
type hospitalizations struct{}

// Name implements Section.
func (hospitalizations) Name() string { return Hospitalizations }

// Questions implements Section.
func (hospitalizations) Questions() map[string][]string {
	return map[string][]string{Hospitalizations: nil}
}

// NeedsDemographics implements Section.
func (hospitalizations) NeedsDemographics() bool { return false }

// Next implements Section.
func (hospitalizations) Next(c *State) (*record.Question, error) {
	if c.wasAsked(Hospitalizations) {
		return nil, nil
	}
	return c.newQuestion(Hospitalizations, Hospitalizations, record.AnswerList, record.Meta{SourceList: c.sourceList(record.HospitalizationList)}), nil
}

// Evidence implements Section.
func (hospitalizations) Evidence(c *State) []record.Evidence {
	return c.impliedEvidence(Hospitalizations)
}
