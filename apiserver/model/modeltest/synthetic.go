// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Size says how large a synthetic release is.
type Size struct {
	Conditions, Observations, Links int
}

// FullSize is the size of the full catalogue that figures are measured on.
var FullSize = Size{Conditions: 1000, Observations: 2000, Links: 40000}

// Synthetic is a builder of a made-up release of a size, the same one for the
// same size and seed. Its numbers mean nothing, but are spread as those of
// content are: priors and leaks over orders of magnitude, a few findings
// linked to many conditions and most to few, half the symptoms children in
// groups.
func Synthetic(size Size, seed uint64) *Builder {
	s := synthesis{Builder: New(), random: rand.New(rand.NewPCG(seed, uint64(size.Links)))}
	s.addObservations(size.Observations)
	for i := range size.Conditions {
		// Spreads the links evenly and to the last one.
		links := size.Links*(i+1)/size.Conditions - size.Links*i/size.Conditions
		s.addCondition(i+1, links)
	}
	return s.Builder
}

type synthesis struct {
	*Builder
	random   *rand.Rand
	roots    []string
	children map[string][]string
	leaks    map[string]float64
}

// What part of their parent the items of a synthetic group are. The same
// parts in leaks and shares keep every child under its parent.
var (
	severityParts = []float64{0.4, 0.3, 0.15}
	locationParts = []float64{0.5, 0.6}
)

// addObservations makes three quarters of them symptoms, half of these
// children, a fifth risk factors and the rest laboratory results.
func (s *synthesis) addObservations(n int) {
	s.children, s.leaks = map[string][]string{}, map[string]float64{}
	symptoms, riskFactors := n*3/4, n/5
	next := 1
	for root := 0; next <= symptoms; root++ {
		id := s.addSymptom(&next, symptoms, "", model.NoRelation, s.spread(0.001, 0.05))
		s.roots = append(s.roots, id)
		switch root % 5 {
		case 0:
			s.addChildren(&next, symptoms, id, model.SeverityRelation, severityParts)
		case 1:
			s.addChildren(&next, symptoms, id, model.Location, locationParts)
		}
	}
	for i := range riskFactors {
		s.RiskFactor(fmt.Sprintf("p_%d", i+1), s.spread(0.01, 0.3), s.describe)
	}
	for i := range n - symptoms - riskFactors {
		id := fmt.Sprintf("lt_%d", i+1)
		s.leaks[id] = s.spread(0.001, 0.05)
		s.LabResult(id, s.leaks[id], s.describe)
		s.roots = append(s.roots, id)
	}
}

func (s *synthesis) addSymptom(next *int, last int, parent string, relation model.Relation, leak float64) string {
	if *next > last {
		return ""
	}
	id := fmt.Sprintf("s_%d", *next)
	*next++
	s.leaks[id] = leak
	if parent == "" {
		s.Symptom(id, leak, s.describe)
	} else {
		s.Child(id, parent, relation, leak, s.describe)
	}
	return id
}

func (s *synthesis) addChildren(next *int, last int, parent string, relation model.Relation, parts []float64) {
	if *next+len(parts) > last {
		return
	}
	for _, part := range parts {
		s.children[parent] = append(s.children[parent], s.addSymptom(next, last, parent, relation, part*s.leaks[parent]))
	}
	if relation == model.SeverityRelation {
		s.OrderedGroup(s.children[parent]...)
	} else {
		s.Group(model.GroupMultiple, s.children[parent]...)
	}
}

// describe gives an observation words of a usual length, and one in twenty a
// seriousness.
func (s *synthesis) describe(o *model.DraftObservation) {
	o.Name = fmt.Sprintf("Synthetic %v number %d", o.Kind, o.Number)
	o.CommonName = "Common " + o.Name
	o.Question = "Do you have " + o.Name + ", or have you had it lately?"
	o.QuestionThirdPerson = "Does he or she have " + o.Name + ", or had it lately?"
	o.Synonyms = []string{"a bad " + o.Name, "some " + o.Name, "my " + o.Name + " hurts"}
	if o.Kind == model.Symptom && s.random.IntN(20) == 0 {
		o.Seriousness = model.Seriousness(1 + s.random.IntN(3))
	}
}

func (s *synthesis) addCondition(number, links int) {
	id := fmt.Sprintf("c_%d", number)
	s.Condition(id, s.spread(1e-6, 1e-2), func(c *model.DraftCondition) {
		c.Name = fmt.Sprintf("Synthetic condition number %d", number)
		c.CommonName = "Common " + c.Name
		c.Hint = "Rest, drink enough, and see a doctor when it does not get better within a week."
		c.Triage = model.TriageLevel(1 + s.random.IntN(5))
		c.Severity = model.Severity(s.random.IntN(3))
	})
	linked := map[string]bool{}
	for links > 0 && len(linked) < len(s.roots) {
		// The square of a uniform number makes the first roots popular.
		u := s.random.Float64()
		root := s.roots[int(u*u*float64(len(s.roots)))]
		if linked[root] {
			continue
		}
		linked[root] = true
		links -= s.link(id, root, links)
	}
	for range 3 {
		s.factor(id)
	}
}

// link links a condition to a root and, when there is room, to its children.
// It returns the number of links made.
func (s *synthesis) link(condition, root string, room int) int {
	share := 0.1 + 0.85*s.random.Float64()
	s.Link(condition, root, share)
	children := s.children[root]
	if len(children) >= room || s.random.IntN(2) == 0 {
		return 1
	}
	scale := 0.6 + 0.4*s.random.Float64()
	for _, child := range children {
		part := s.leaks[child] / s.leaks[root]
		s.Link(condition, child, share*part*scale)
	}
	return 1 + len(children)
}

func (s *synthesis) factor(condition string) {
	draft := s.conditions[condition]
	id := fmt.Sprintf("p_%d", 1+s.random.IntN(100))
	for _, f := range draft.Factors {
		if f.Observation == s.observations[id] {
			return
		}
	}
	if s.observations[id] != nil {
		s.Factor(condition, id, 1+3*s.random.Float64(), 0.5+0.5*s.random.Float64())
	}
}

// spread is a number between two, as likely in each order of magnitude.
func (s *synthesis) spread(low, high float64) float64 {
	return low * math.Pow(high/low, s.random.Float64())
}
