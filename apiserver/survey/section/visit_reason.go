// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

// maxVisitReasonLength is the maximum length of the reason for a visit, in code
// points.
const maxVisitReasonLength = 1000

// visitReason asks for the reason for the visit, in the patient's own words.
type visitReason struct{ withoutEvidence }

// Name implements Section.
func (visitReason) Name() string { return VisitReason }

// Questions implements Section.
func (visitReason) Questions() map[string][]string { return map[string][]string{VisitReason: nil} }

// Next implements Section.
func (visitReason) Next(state *State) (*record.Question, error) {
	if state.wasAsked(VisitReason) {
		return nil, nil
	}
	return state.newQuestion(VisitReason, VisitReason, record.AnswerText, record.Meta{Required: true, MaxLength: maxVisitReasonLength}), nil
}
