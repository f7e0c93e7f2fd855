// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// maxNotesLength is the maximum length of a message to the doctor, in code points.
const maxNotesLength = 1000

// notes asks for anything that the survey did not cover.
type notes struct{ withoutEvidence }

// Name implements Section.
func (notes) Name() string { return Notes }

// Questions implements Section.
func (notes) Questions() map[string][]string { return map[string][]string{Notes: nil} }

// Next implements Section.
func (notes) Next(state *State) (*record.Question, error) {
	if state.wasAsked(Notes) {
		return nil, nil
	}
	return state.newQuestion(Notes, Notes, record.AnswerText, record.Meta{MaxLength: maxNotesLength}), nil
}
