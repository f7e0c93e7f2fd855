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

// Seed is that of the synthetic release that figures are measured on.
const Seed = 20261121

const (
	mostFactors  = 4 // of a condition
	groupedEvery = 5 // of the roots, one in so many asks its children in a group
)

// riskFactors is how many of the observations are; the others are symptoms.
func (s Size) riskFactors() int { return s.Observations / 10 }

// roots is how many symptoms have no parent; the others are their children.
func (s Size) roots() int { return s.Observations * 9 / 20 }

// commonRoots is how many of the roots any discipline may bring.
func (s Size) commonRoots() int { return max(1, s.Observations*3/100) }

// disciplines is how many kinds of conditions there are.
func (s Size) disciplines() int { return max(1, s.Conditions/40) }

// rootsOfEach is how many of the roots that are not common a discipline may
// bring; neighbouring disciplines overlap.
func (s Size) rootsOfEach() int {
	specific := s.roots() - s.commonRoots()
	return min(specific, 2*specific/s.disciplines())
}

// linksOf is how many links the condition at a place has. It spreads them
// evenly and to the last one.
func (s Size) linksOf(condition int) int {
	return s.Links*(condition+1)/s.Conditions - s.Links*condition/s.Conditions
}

// check reports a size in which a condition may not find as many observations
// as it is to be linked to.
func (s Size) check() error {
	if s.Conditions < 1 || s.riskFactors() < 1 || s.rootsOfEach() < 1 || s.linksOf(s.Conditions-1) > s.commonRoots()+s.rootsOfEach() {
		return fmt.Errorf("a synthetic release of %+v: needs a condition, and more observations for each of its links", s)
	}
	return nil
}

// Synthetic is a builder of a made-up release of a size, the same one on every
// machine for the same size and seed. It says nothing about medicine.
//
// It has the shape of a real one: conditions gather in disciplines; a few
// symptoms belong to hundreds of conditions and most to a handful; symptoms
// have children, some asked in groups; a few conditions make up most of what
// patients have.
func Synthetic(size Size, seed uint64) *Builder {
	s := &synthesis{
		Builder: New(), size: size, random: rand.New(rand.NewPCG(seed, 1)),
		below: map[*model.DraftObservation][]*model.DraftObservation{},
	}
	if s.err = size.check(); s.err != nil {
		return s.Builder
	}
	s.draft.Categories = nil
	for i := range size.disciplines() {
		s.draft.Categories = append(s.draft.Categories, &model.DraftNamed{Number: uint32(i + 1), Name: fmt.Sprintf("Discipline %d", i+1)})
	}
	s.addSymptoms()
	s.addGroups()
	s.addRiskFactors()
	for i := range size.Conditions {
		s.addCondition(i)
	}
	return s.Builder
}

// A synthesis is a synthetic release in the making.
type synthesis struct {
	*Builder
	size   Size
	random *rand.Rand
	roots  []*model.DraftObservation
	risks  []*model.DraftObservation
	below  map[*model.DraftObservation][]*model.DraftObservation
}

// between draws from a range evenly on a logarithmic scale.
func (s *synthesis) between(low, high float64) float64 {
	return low * math.Pow(high/low, s.random.Float64())
}

// addSymptoms adds roots, the first of them common, and their children.
func (s *synthesis) addSymptoms() {
	roots := s.size.roots()
	for i := range roots {
		leak := s.between(0.0005, 0.02)
		if i < s.size.commonRoots() {
			leak = s.between(0.01, 0.08)
		}
		s.roots = append(s.roots, s.add(model.Symptom, i+1, leak))
	}
	for i := roots; i < s.size.Observations-s.size.riskFactors(); i++ {
		parent := s.roots[s.random.IntN(roots)]
		child := s.add(model.Symptom, i+1, parent.Leak*(0.05+0.1*s.random.Float64()))
		child.Parent, child.Relation = parent, model.Character
		s.below[parent] = append(s.below[parent], child)
	}
}

func (s *synthesis) addGroups() {
	for i := 0; i < len(s.roots); i += groupedEvery {
		items := s.below[s.roots[i]]
		if len(items) < 2 {
			continue
		}
		kind := model.GroupMultiple
		if i%2 == 1 {
			kind = model.GroupSingle
		}
		s.draft.Groups = append(s.draft.Groups, &model.DraftGroup{
			Question: "Which of these?", QuestionThirdPerson: "Which of these does the person have?",
			Type: kind, Parent: s.roots[i], Items: items,
		})
	}
}

func (s *synthesis) addRiskFactors() {
	for i := range s.size.riskFactors() {
		s.risks = append(s.risks, s.add(model.RiskFactor, i+1001, s.between(0.01, 0.3)))
	}
}

// add adds an observation, one symptom in 25 of them serious.
func (s *synthesis) add(kind model.ObservationKind, number int, leak float64) *model.DraftObservation {
	id := model.FormatID(kind.Prefix(), uint32(number))
	s.observation(kind, id, leak, []func(*model.DraftObservation){func(o *model.DraftObservation) {
		o.Name = "Observation " + id
		o.CommonName = o.Name
		o.Question, o.QuestionThirdPerson = o.Name+"?", "Does the person have "+o.Name+"?"
		o.Synonyms = []string{"a bad " + o.Name, "some " + o.Name, "my " + o.Name + " hurts"}
		if kind == model.Symptom && number%25 == 0 {
			o.Seriousness = model.Seriousness(1 + number/25%3)
		}
	}})
	return s.observations[id]
}

// addCondition adds a condition with its findings and risk factors.
func (s *synthesis) addCondition(i int) {
	discipline := i % s.size.disciplines()
	id := model.FormatID(model.ConditionPrefix, uint32(i+1))
	s.Condition(id, 0.04/float64(i+4), func(c *model.DraftCondition) {
		c.Name = "Condition " + id
		c.CommonName = c.Name
		c.Hint = "Rest, drink enough, and see a doctor when it does not get better within a week."
		c.Categories = s.draft.Categories[discipline : discipline+1]
		c.Triage = []model.TriageLevel{model.SelfCare, model.Consultation, model.Consultation, model.Consultation24, model.Emergency}[i%5]
		for sex := range c.Prior {
			for band := range c.Prior[sex] {
				c.Prior[sex][band] *= 0.5 + s.random.Float64()
			}
		}
	})
	c := s.conditions[id]
	s.addFindings(c, discipline, s.size.linksOf(i))
	for range s.random.IntN(mostFactors + 1) {
		s.addFactor(c, s.risks[s.random.IntN(len(s.risks))])
	}
}

// addFactor makes a risk factor count for a condition, so that the condition
// is as frequent as before in people of whom nothing is known.
func (s *synthesis) addFactor(c *model.DraftCondition, risk *model.DraftObservation) {
	for _, f := range c.Factors {
		if f.Observation == risk {
			return
		}
	}
	present := s.between(1.2, 3)
	absent := (1 - risk.Leak*present) / (1 - risk.Leak)
	if absent > 0 {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: risk, Present: present, Absent: absent})
	}
}

// addFindings links a condition to common roots, to roots of its discipline,
// and to children of both.
func (s *synthesis) addFindings(c *model.DraftCondition, discipline, links int) {
	lambdas := map[*model.DraftObservation]float64{}
	for len(c.Findings) < links {
		root := s.drawRoot(discipline)
		children := s.below[root]
		if lambdas[root] == 0 {
			link(c, root, s.between(0.05, 0.95), lambdas)
		} else if len(children) > 0 {
			child := children[s.random.IntN(len(children))]
			if lambdas[child] == 0 {
				link(c, child, lambdas[root]*s.between(0.05, 0.7)/float64(len(children)), lambdas)
			}
		}
	}
}

// drawRoot draws one of the common symptoms, the first most often, or one of
// a discipline.
func (s *synthesis) drawRoot(discipline int) *model.DraftObservation {
	common := s.size.commonRoots()
	if s.random.IntN(3) == 0 {
		skewed := s.random.Float64()
		return s.roots[int(skewed*skewed*float64(common))]
	}
	specific := len(s.roots) - common
	first := discipline * specific / s.size.disciplines()
	return s.roots[common+(first+s.random.IntN(s.size.rootsOfEach()))%specific]
}

// link links a condition to an observation that it causes with a probability.
func link(c *model.DraftCondition, o *model.DraftObservation, lambda float64, lambdas map[*model.DraftObservation]float64) {
	lambdas[o] = lambda
	c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Share: 1 - (1-lambda)*(1-o.Leak)})
}
