// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// trueAnswers is the share of patients who say yes when asked for what their
// condition brings: one answer in twenty is wrong, as with the simulated
// patients of hack/eval. So a no makes a condition less likely, and hardly ever
// impossible.
const trueAnswers = 0.95

// infer finds the posterior probability of every condition: its prior odds,
// moved by factors and by what the patient denies, times the likelihood ratio
// of what the patient reports.
func (s *scratch) infer() {
	s.setPriors()
	s.makePlan()
	s.gatherRows()
	s.weighRows()
	s.scaleByDurations()
	s.explainTips()
	s.takePosteriors()
}

// inferFromSexAndAge finds the probability of every condition for the patient's
// sex and age, whatever the evidence: nothing is suspected.
func (s *scratch) inferFromSexAndAge() {
	s.setPriorsOfSexAndAge()
	s.none, s.suspected = 1, s.suspected[:0]
	s.takePosteriors()
}

func (s *scratch) takePosteriors() {
	for c, odds := range s.odds {
		s.posterior[c] = odds / (1 + odds)
	}
}

// gatherRows gives each condition that is linked to a node of the plan, and
// possible for the patient, a row: its number for each node. Rows are in order
// of condition.
func (s *scratch) gatherRows() {
	for i := range s.plan.nodes {
		links := s.links(i)
		for k := range links {
			s.slot[links[k].Other] = 1
		}
	}
	s.touched = s.touched[:0]
	for c := range s.slot {
		switch {
		case s.slot[c] == 0:
		case s.odds[c] == 0:
			s.slot[c] = 0
		default:
			s.touched = append(s.touched, int32(c))
			s.slot[c] = int32(len(s.touched))
		}
	}
	width := len(s.plan.nodes)
	s.leaks = sized(s.leaks, width)
	s.rows = cleared(s.rows, len(s.touched)*width)
	for i := range s.plan.nodes {
		s.fillColumn(i)
	}
}

// links are the links of the observation of a node. Loops over thousands of
// links go by index, since a loop by value copies each as a whole.
func (s *scratch) links(node int) []model.Link {
	return model.Part(s.r.LinksByObservation, s.r.Observations[s.plan.nodes[node].observation].Links)
}

// fillColumn puts the number of a node into each row: the link or, in an
// ordered group, the share, which without a link is the leak.
func (s *scratch) fillColumn(node int) {
	width := len(s.plan.nodes)
	s.leaks[node] = s.r.Observations[s.plan.nodes[node].observation].Leak
	ordered := s.plan.inOrderedGroup(node)
	for at := node; ordered && at < len(s.rows); at += width {
		s.rows[at] = s.leaks[node]
	}
	links := s.links(node)
	for i := range links {
		link := &links[i]
		row := int(s.slot[link.Other]) - 1
		switch {
		case row < 0:
		case ordered:
			s.rows[row*width+node] = link.Share
		default:
			s.rows[row*width+node] = link.Lambda
		}
	}
}

// weighRows takes into the odds what the conditions must not have brought, and
// leaves in each row what they may have brought.
func (s *scratch) weighRows() {
	s.keep = sized(s.keep, len(s.plan.nodes))
	for row, c := range s.touched {
		values := s.row(int32(row))
		s.plan.toLevels(values, s.leaks)
		for i := range values {
			values[i] *= trueAnswers
		}
		s.odds[c] *= s.plan.weigh(values, s.keep)
	}
	s.plan.weigh(s.leaks, s.keep)
}
