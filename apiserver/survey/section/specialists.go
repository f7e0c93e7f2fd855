// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// specialists asks for the doctors who already treat the patient.
type specialists struct{ withoutEvidence }

// Name implements Section.
func (specialists) Name() string { return Specialists }

// Questions implements Section.
func (specialists) Questions() map[string][]string { return map[string][]string{Specialists: nil} }

// Next implements Section.
func (specialists) Next(state *State) (*record.Question, error) {
	if state.wasAsked(Specialists) {
		return nil, nil
	}
	return state.newQuestion(Specialists, Specialists, record.AnswerList, record.Meta{SourceList: state.sourceList(record.SpecialistList)}), nil
}
