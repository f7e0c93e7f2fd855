// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// commonRiskFactors are asked about if they apply to the patient. They are risk factors that
// affect many conditions, and the body mass index, which the interview does not ask about.
var commonRiskFactors = []string{
	"p_7",  // overweight
	"p_6",  // underweight
	"p_28", // smoking
	"p_9",  // high blood pressure
	"p_8",  // diabetes
	"p_10", // high cholesterol
	"p_42", // pregnancy
	"p_11", // postmenopause
}

// riskFactors asks for common risk factors that are still unknown. Risk factors that are not
// selected are absent.
type riskFactors struct{}

// Name implements Section.
func (riskFactors) Name() string { return RiskFactors }

// Questions implements Section.
func (riskFactors) Questions() map[string][]string { return map[string][]string{RiskFactors: nil} }

// NeedsDemographics implements Section.
func (riskFactors) NeedsDemographics() bool { return true }

// Next implements Section.
func (riskFactors) Next(state *State) (*record.Question, error) {
	if state.wasAsked(RiskFactors) {
		return nil, nil
	}
	options := state.unknownRiskFactors()
	if len(options) == 0 {
		return nil, nil
	}
	return state.newQuestion(RiskFactors, RiskFactors, record.AnswerMultipleChoice, record.Meta{Options: options}), nil
}

// unknownRiskFactors returns the common risk factors that apply to the patient and are
// still unknown.
func (state *State) unknownRiskFactors() []record.Option {
	facts := state.Facts()
	var options []record.Option
	for _, id := range commonRiskFactors {
		o, ok := state.Release.ObservationByID(id)
		known := slices.ContainsFunc(facts, func(f Fact) bool { return ok && f.Observation == o })
		if ok && !known && Applies(state.Release, o, state.Sex(), state.Age()) {
			options = append(options, record.Option{ID: id, Label: strings.Clone(assessment.ItemName(state.Release, o))})
		}
	}
	return options
}

// Evidence implements Section.
func (riskFactors) Evidence(state *State) []record.Evidence {
	step := state.stepFor(RiskFactors)
	if step == nil || step.Answer.Kind != record.KindItems {
		return nil
	}
	evidence := make([]record.Evidence, len(step.Question.Meta.Options))
	for i, option := range step.Question.Meta.Options {
		evidence[i] = record.Evidence{ID: option.ID, ChoiceID: record.ChoiceAbsent, Source: record.SourcePredefined}
		if slices.ContainsFunc(step.Answer.Items, func(item record.Item) bool { return item.ID == option.ID }) {
			evidence[i].ChoiceID = record.ChoicePresent
		}
	}
	return evidence
}
