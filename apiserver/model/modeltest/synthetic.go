// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

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
	timedEvery   = 7 // of the children, one in so many says how long its parent lasts
	articleEvery = 20
	labEvery     = 20 // of the findings drawn, one in so many is a laboratory result
)

// labResults are the results that each laboratory test has, with how often
// they are found in anybody.
var labResults = []struct {
	result model.ResultType
	leak   float64
}{{model.VeryLow, 0.01}, {model.Low, 0.05}, {model.Normal, 0.85}, {model.High, 0.08}}

// usual is the course of conditions, by how acute they are.
var usual = [...]model.Course{
	model.Acute:                    course(6*time.Hour, 14*24*time.Hour),
	model.AcutePotentiallyChronic:  course(24*time.Hour, 60*24*time.Hour),
	model.ChronicWithExacerbations: course(24*time.Hour, 2*365*24*time.Hour),
	model.Chronic:                  course(14*24*time.Hour, 5*365*24*time.Hour),
}

// riskFactors is how many of the observations are; most others are symptoms.
func (s Size) riskFactors() int { return s.Observations / 10 }

// labTests is how many laboratory tests there are.
func (s Size) labTests() int { return s.Observations / 100 }

// symptoms is how many of the observations are.
func (s Size) symptoms() int {
	return s.Observations - s.riskFactors() - s.labTests()*len(labResults)
}

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
// patients have. There are laboratory tests, courses and articles, and every
// concept has some wordings.
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
	s.addLabTests()
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
	labs   []*model.DraftObservation // the results that conditions bring
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
		s.roots = append(s.roots, s.add(model.Symptom, i+1, leak, nameSymptom))
	}
	for i := roots; i < s.size.symptoms(); i++ {
		parent := s.roots[s.random.IntN(roots)]
		child := s.add(model.Symptom, i+1, parent.Leak*(0.05+0.1*s.random.Float64()), nameSymptom)
		child.Parent, child.Relation = parent, model.Character
		if i%timedEvery == 0 {
			child.Relation = model.Duration
			Lasts(7*24*time.Hour, 0)(child)
		}
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
		s.risks = append(s.risks, s.add(model.RiskFactor, i+1001, s.between(0.01, 0.3), nameRiskFactor))
	}
}

// addLabTests adds laboratory tests. No condition brings a normal result.
func (s *synthesis) addLabTests() {
	for i := range s.size.labTests() {
		t := &model.DraftLabTest{Number: uint32(i + 1)}
		for k, r := range labResults {
			o := s.add(model.LabResult, 2001+i*len(labResults)+k, r.leak, func(o *model.DraftObservation) {
				o.LabResult, o.Question, o.QuestionThirdPerson = r.result, "", ""
			})
			t.Results = append(t.Results, o)
			if r.result != model.Normal {
				s.labs = append(s.labs, o)
			}
		}
		nameLabTest(t)
		s.draft.LabTests = append(s.draft.LabTests, t)
	}
}

// add adds an observation and edits it. One symptom in 25 is serious.
func (s *synthesis) add(kind model.ObservationKind, number int, leak float64, edit func(*model.DraftObservation)) *model.DraftObservation {
	id := model.FormatID(kind.Prefix(), uint32(number))
	s.observation(kind, id, leak, []func(*model.DraftObservation){func(o *model.DraftObservation) {
		edit(o)
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
		nameCondition(c)
		c.Acuteness = model.Acuteness(i % len(usual))
		c.Course = usual[c.Acuteness]
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
	if i%articleEvery == 0 {
		s.addArticle(id, c.CommonName)
	}
	s.addFindings(c, discipline, s.size.linksOf(i))
	for range s.random.IntN(mostFactors + 1) {
		s.addFactor(c, s.risks[s.random.IntN(len(s.risks))])
	}
}

// addArticle adds an article of a usual length.
func (s *synthesis) addArticle(condition, name string) {
	paragraph := Node(model.ParagraphNode, Text(name+" is made up, and so is all that is said of it here. "+strings.Repeat("It comes and goes as it likes. ", 5)),
		LinkTo("https://example.org/"+condition, "More about it"), Text("."))
	list := Node(model.UnorderedListNode, Node(model.ListItemNode, Text("Rest.")), Node(model.ListItemNode, Text("Drink enough.")))
	s.Article(condition, name,
		Section(model.SummarySection, "In short", paragraph),
		Section(model.CauseSection, "Causes", paragraph, paragraph),
		Section(model.HomeTreatmentSection, "What you can do", Node(model.Heading1Node, Text("At once")), paragraph, list),
		Section(model.DisclaimerSection, "Please note", paragraph),
		Section(model.SourcesSection, "Sources", list))
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
		if len(s.labs) > 0 && s.random.IntN(labEvery) == 0 {
			root = s.labs[s.random.IntN(len(s.labs))]
		}
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
