// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// answerSensitivity is the share of patients who say yes when asked about an
// observation that their condition causes: one answer in twenty is wrong, as for the
// simulated patients in hack/eval. Therefore a no makes a condition less likely, but
// rarely impossible.
const answerSensitivity = 0.95

// infer computes the posterior probability of every condition from its prior odds,
// adjusted for factors and denied findings, and the likelihood ratio of the positive
// findings.
func (s *scratch) infer() {
	s.setPriors()
	s.buildPlan()
	s.buildRows()
	s.applyNegatives()
	s.scaleByDurations()
	s.explainTips()
	s.computePosteriors()
}

// inferFromDemographics computes the probability of every condition for the patient's
// sex and age, regardless of the evidence. No condition is suspected.
func (s *scratch) inferFromDemographics() {
	s.setDemographicPriors()
	s.noneProbability, s.suspected = 1, s.suspected[:0]
	s.computePosteriors()
}

func (s *scratch) computePosteriors() {
	for c, odds := range s.odds {
		s.posterior[c] = odds / (1 + odds)
	}
}

// buildRows creates a row, with a value for each node, for each condition that is
// linked to a node of the plan and possible for the patient. Rows are in order of
// condition.
func (s *scratch) buildRows() {
	for i := range s.plan.nodes {
		links := s.nodeLinks(i)
		for k := range links {
			s.slot[links[k].Other] = 1
		}
	}
	s.linkedConditions = s.linkedConditions[:0]
	for c := range s.slot {
		switch {
		case s.slot[c] == 0:
		case s.odds[c] == 0:
			s.slot[c] = 0
		default:
			s.linkedConditions = append(s.linkedConditions, int32(c))
			s.slot[c] = int32(len(s.linkedConditions))
		}
	}
	width := len(s.plan.nodes)
	s.leaks = resized(s.leaks, width)
	s.rows = resizedZero(s.rows, len(s.linkedConditions)*width)
	for i := range s.plan.nodes {
		s.fillColumn(i)
	}
}

// nodeLinks returns the links of a node's observation. Loops over thousands of links
// must use the index, because a range loop by value copies each link.
func (s *scratch) nodeLinks(node int) []model.Link {
	return model.Slice(s.r.LinksByObservation, s.r.Observations[s.plan.nodes[node].observation].Links)
}

// fillColumn sets the value of a node in each row: the lambda of the link or, in an
// ordered group, the share. Without a link, the share is the leak.
func (s *scratch) fillColumn(node int) {
	width := len(s.plan.nodes)
	s.leaks[node] = s.r.Observations[s.plan.nodes[node].observation].Leak
	ordered := s.plan.isOrderedLevel(node)
	for at := node; ordered && at < len(s.rows); at += width {
		s.rows[at] = s.leaks[node]
	}
	links := s.nodeLinks(node)
	for i := range links {
		link := &links[i]
		row := int(s.slot[link.Other]) - 1
		switch {
		case row < 0:
		case ordered:
			s.rows[row*width+node] = link.Probability
		default:
			s.rows[row*width+node] = link.Lambda
		}
	}
}

// applyNegatives applies the negative findings to the odds, and conditions each row on
// them.
func (s *scratch) applyNegatives() {
	s.negativeFactors = resized(s.negativeFactors, len(s.plan.nodes))
	for row, c := range s.linkedConditions {
		values := s.row(int32(row))
		s.plan.toLevelProbabilities(values, s.leaks)
		for i := range values {
			values[i] *= answerSensitivity
		}
		s.odds[c] *= s.plan.conditionOnNegatives(values, s.negativeFactors)
	}
	s.plan.conditionOnNegatives(s.leaks, s.negativeFactors)
}
