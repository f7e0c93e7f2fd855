// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// drugs asks for the medicines that the patient takes. A medicine that implies a risk
// factor counts as one.
type drugs struct{}

// Name implements Section.
func (drugs) Name() string { return Drugs }

// Questions implements Section.
func (drugs) Questions() map[string][]string { return map[string][]string{Drugs: nil} }

// NeedsDemographics implements Section.
func (drugs) NeedsDemographics() bool { return false }

// Next implements Section.
func (drugs) Next(state *State) (*record.Question, error) {
	if state.wasAsked(Drugs) {
		return nil, nil
	}
	return state.newQuestion(Drugs, Drugs, record.AnswerList, record.Meta{SourceList: state.sourceList(record.DrugList)}), nil
}

// Evidence implements Section.
func (drugs) Evidence(state *State) []record.Evidence { return state.impliedEvidence(Drugs) }
