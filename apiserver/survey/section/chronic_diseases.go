// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// chronicDiseases asks for the patient's chronic diseases. A disease that implies a
// risk factor counts as one.
type chronicDiseases struct{}

// Name implements Section.
func (chronicDiseases) Name() string { return ChronicDiseases }

// Questions implements Section.
func (chronicDiseases) Questions() map[string][]string {
	return map[string][]string{ChronicDiseases: nil}
}

// NeedsDemographics implements Section.
func (chronicDiseases) NeedsDemographics() bool { return false }

// Next implements Section.
func (chronicDiseases) Next(state *State) (*record.Question, error) {
	if state.wasAsked(ChronicDiseases) {
		return nil, nil
	}
	return state.newQuestion(ChronicDiseases, ChronicDiseases, record.AnswerList, record.Meta{SourceList: state.sourceList(record.ChronicDiseaseList)}), nil
}

// Evidence implements Section.
func (chronicDiseases) Evidence(state *State) []record.Evidence {
	return state.impliedEvidence(ChronicDiseases)
}
