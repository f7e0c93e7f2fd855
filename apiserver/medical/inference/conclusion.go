// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// A Conclusion is the result of an interview.
type Conclusion struct {
	// Conditions is the ranking, as returned by Assess.
	Conditions []RankedCondition
	// Explanations holds the explanations of selected conditions of the ranking, as
	// returned by Explain.
	Explanations map[model.ConditionIndex]Explanation
	Triage       Triage
	// Recommendation is the result of Recommend without a mapping, or nil if no specialist
	// is recommended.
	Recommendation *Recommendation
}

// Conclude returns the combined results of Assess, Triage, Recommend and Explain,
// without the next question. It explains the conditions for which shouldExplain, called
// with the index in the ranking, returns true. Conclude ranks the conditions once, and
// once more for each finding that supports an shouldExplain condition, so that explaining
// several conditions takes little longer than explaining one.
func (e *Engine) Conclude(r *model.Release, p Patient, o Options, shouldExplain func(i int, c model.ConditionIndex) bool) Conclusion {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	s.infer()
	level, cause := s.triageLevel()
	conclusion := Conclusion{Conditions: s.rank(), Triage: s.buildTriage(level, cause, o)}
	if recommended, ok := s.recommend(nil); ok {
		conclusion.Recommendation = &recommended
	}
	conclusion.explain(s, &p, o, shouldExplain)
	return conclusion
}

// explain explains the selected conditions of the ranking. It overwrites the patient
// in the scratch memory.
func (c *Conclusion) explain(s *scratch, p *Patient, o Options, shouldExplain func(int, model.ConditionIndex) bool) {
	var targets []model.ConditionIndex
	for i, ranked := range c.Conditions {
		if shouldExplain(i, ranked.Condition) {
			targets = append(targets, ranked.Condition)
		}
	}
	if len(targets) == 0 {
		return
	}
	c.Explanations = make(map[model.ConditionIndex]Explanation, len(targets))
	for k, explanation := range p.explainTargets(s, o, targets) {
		c.Explanations[targets[k]] = explanation
	}
}
