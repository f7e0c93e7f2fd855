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
func (hospitalizations) Next(state *State) (*record.Question, error) {
	if state.wasAsked(Hospitalizations) {
		return nil, nil
	}
	return state.newQuestion(Hospitalizations, Hospitalizations, record.AnswerList, record.Meta{SourceList: state.sourceList(record.HospitalizationList)}), nil
}

// Evidence implements Section.
func (hospitalizations) Evidence(state *State) []record.Evidence {
	return state.impliedEvidence(Hospitalizations)
}
