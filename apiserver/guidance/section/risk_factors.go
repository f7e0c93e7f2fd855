// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// commonRiskFactors are asked of everybody to whom they apply: those that weigh
// with many conditions, and the body mass index, for which the interview does not
// ask.
var commonRiskFactors = []string{
	"p_7",  // overweight
	"p_6",  // underweight
	"p_28", // smoking
	"p_9",  // high blood pressure
	"p_8",  // diabetes
	"p_10", // high cholesterol
	"p_42", // pregnancy
	"p_11", // after the menopause
}

// riskFactors asks for common risk factors of which nothing is known yet. What is
// not chosen is absent.
type riskFactors struct{}

// Name implements Section.
func (riskFactors) Name() string { return RiskFactors }

// Asks implements Section.
func (riskFactors) Asks() map[string][]string { return map[string][]string{RiskFactors: nil} }

// Needs implements Section.
func (riskFactors) Needs() bool { return true }

// Next implements Section.
func (riskFactors) Next(c *Case) (*guidance.Question, error) {
	if c.asked(RiskFactors) {
		return nil, nil
	}
	options := c.openRiskFactors()
	if len(options) == 0 {
		return nil, nil
	}
	return c.question(RiskFactors, RiskFactors, guidance.MultipleChoice, guidance.Meta{Options: options}), nil
}

// openRiskFactors are the common risk factors that apply to the patient and of
// which nothing is known.
func (c *Case) openRiskFactors() []guidance.Option {
	facts := c.Facts()
	var options []guidance.Option
	for _, id := range commonRiskFactors {
		o, ok := c.Release.ObservationByID(id)
		known := slices.ContainsFunc(facts, func(f Fact) bool { return ok && f.Observation == o })
		if ok && !known && Applies(c.Release, o, c.Sex(), c.Age()) {
			options = append(options, guidance.Option{ID: id, Label: strings.Clone(assessment.ItemName(c.Release, o))})
		}
	}
	return options
}

// Evidence implements Section.
func (riskFactors) Evidence(c *Case) []guidance.Evidence {
	step := c.step(RiskFactors)
	if step == nil || step.Answer.Form != guidance.SomeItems {
		return nil
	}
	evidence := make([]guidance.Evidence, len(step.Question.Meta.Options))
	for i, option := range step.Question.Meta.Options {
		evidence[i] = guidance.Evidence{ID: option.ID, ChoiceID: guidance.Absent, Source: guidance.Predefined}
		if slices.ContainsFunc(step.Answer.Items, func(item guidance.Item) bool { return item.ID == option.ID }) {
			evidence[i].ChoiceID = guidance.Present
		}
	}
	return evidence
}
