// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// A Conclusion is what there is to say to a patient at the end of an interview.
type Conclusion struct {
	// Conditions is the ranking that Assess gives.
	Conditions []Ranked
	// Explanations are of some conditions of the ranking, as Explain gives them.
	Explanations map[model.ConditionIndex]Explanation
	Triage       Triage
	// Recommendation is that of Recommend without a mapping, nil when it chooses
	// nobody.
	Recommendation *Recommendation
}

// Conclude says what Assess, Triage, Recommend and Explain say, apart from the
// next question. Explained tells, by place in the ranking, which conditions are
// explained. The conditions are ranked once for all, and once more for each
// finding that speaks for some of those explained: explaining several takes
// little more than explaining one.
func (e *Engine) Conclude(r *model.Release, p Patient, o Options, explained func(place int, c model.ConditionIndex) bool) Conclusion {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	s.infer()
	level, cause := s.triage()
	conclusion := Conclusion{Conditions: s.rank(), Triage: s.classified(level, cause, o)}
	if recommended, ok := s.recommend(nil); ok {
		conclusion.Recommendation = &recommended
	}
	conclusion.explain(s, &p, o, explained)
	return conclusion
}

// explain explains conditions of the ranking. It leaves the scratch memory with
// other patients.
func (c *Conclusion) explain(s *scratch, p *Patient, o Options, explained func(int, model.ConditionIndex) bool) {
	var targets []model.ConditionIndex
	for place, ranked := range c.Conditions {
		if explained(place, ranked.Condition) {
			targets = append(targets, ranked.Condition)
		}
	}
	if len(targets) == 0 {
		return
	}
	c.Explanations = make(map[model.ConditionIndex]Explanation, len(targets))
	for i, explanation := range p.explainEach(s, o, targets) {
		c.Explanations[targets[i]] = explanation
	}
}
