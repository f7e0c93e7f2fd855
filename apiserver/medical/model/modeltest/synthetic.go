// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Size is the size of a synthetic release.
type Size struct {
	Conditions, Observations, Links int
}

// FullSize is the size of a full catalog, used for benchmarks.
var FullSize = Size{Conditions: 1000, Observations: 2000, Links: 40000}

// Seed is the seed of the synthetic release used for benchmarks.
const Seed = 20261121

const (
	maxRiskFactors    = 4 // per condition
	groupInterval     = 5 // one root in this many asks about its children in a group
	durationInterval  = 7 // one child in this many describes how long its parent has lasted
	articleInterval   = 20
	labResultInterval = 20 // one drawn finding in this many is a laboratory result
)

// labResults are the results of each laboratory test and their frequencies in the
// population.
var labResults = []struct {
	result model.ResultType
	leak   float64
}{{model.VeryLow, 0.01}, {model.Low, 0.05}, {model.Normal, 0.85}, {model.High, 0.08}}

// defaultCourses are the courses of conditions by acuteness.
var defaultCourses = [...]model.Course{
	model.Acute:                    newCourse(6*time.Hour, 14*24*time.Hour),
	model.AcutePotentiallyChronic:  newCourse(24*time.Hour, 60*24*time.Hour),
	model.ChronicWithExacerbations: newCourse(24*time.Hour, 2*365*24*time.Hour),
	model.Chronic:                  newCourse(14*24*time.Hour, 5*365*24*time.Hour),
}

// riskFactors returns the number of risk factors. Most other observations are symptoms.
func (s Size) riskFactors() int { return s.Observations / 10 }

// labTests returns the number of laboratory tests.
func (s Size) labTests() int { return s.Observations / 100 }

// symptoms returns the number of symptoms.
func (s Size) symptoms() int {
	return s.Observations - s.riskFactors() - s.labTests()*len(labResults)
}

// roots returns the number of symptoms without a parent. The other symptoms are their
// children.
func (s Size) roots() int { return s.Observations * 9 / 20 }

// commonRoots returns the number of roots that conditions of any discipline may cause.
func (s Size) commonRoots() int { return max(1, s.Observations*3/100) }

// disciplines returns the number of disciplines, which group conditions.
func (s Size) disciplines() int { return max(1, s.Conditions/40) }

// rootsPerDiscipline returns the number of roots, beyond the common ones, that a
// discipline may cause. Neighboring disciplines overlap.
func (s Size) rootsPerDiscipline() int {
	specific := s.roots() - s.commonRoots()
	return min(specific, 2*specific/s.disciplines())
}

// linkCount returns the number of links of the condition at an index. It distributes all
// links evenly.
func (s Size) linkCount(condition int) int {
	return s.Links*(condition+1)/s.Conditions - s.Links*condition/s.Conditions
}

// validate returns an error if the size has too few observations for the links of a
// condition.
func (s Size) validate() error {
	if s.Conditions < 1 || s.riskFactors() < 1 || s.rootsPerDiscipline() < 1 || s.linkCount(s.Conditions-1) > s.commonRoots()+s.rootsPerDiscipline() {
		return fmt.Errorf("a synthetic release of %+v: needs a condition, and more observations for each of its links", s)
	}
	return nil
}

// Synthetic returns a builder of an invented release of the given size. The same size and
// seed give the same release on every machine. Its content is medically meaningless.
//
// It has the shape of a real release: conditions gather in disciplines; a few symptoms
// belong to hundreds of conditions and most to a handful; symptoms have children, some
// asked in groups; a few conditions account for most cases. There are laboratory tests,
// courses and articles, and every concept has several wordings.
func Synthetic(size Size, seed uint64) *Builder {
	s := &generator{
		Builder: New(), size: size, random: rand.New(rand.NewPCG(seed, 1)),
		children: map[*model.DraftObservation][]*model.DraftObservation{},
	}
	if s.err = size.validate(); s.err != nil {
		return s.Builder
	}
	s.draft.Categories = nil
	for i := range size.disciplines() {
		s.draft.Categories = append(s.draft.Categories, &model.DraftNamedItem{Number: uint32(i + 1), Name: fmt.Sprintf("Discipline %d", i+1)})
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

// A generator generates a synthetic release.
type generator struct {
	*Builder
	size            Size
	random          *rand.Rand
	roots           []*model.DraftObservation
	riskFactors     []*model.DraftObservation
	abnormalResults []*model.DraftObservation // the results that conditions cause
	children        map[*model.DraftObservation][]*model.DraftObservation
}

// logUniform draws from a range, uniformly on a logarithmic scale.
func (s *generator) logUniform(low, high float64) float64 {
	return low * math.Pow(high/low, s.random.Float64())
}

// addSymptoms adds the roots, common ones first, and their children.
func (s *generator) addSymptoms() {
	roots := s.size.roots()
	for i := range roots {
		leak := s.logUniform(0.0005, 0.02)
		if i < s.size.commonRoots() {
			leak = s.logUniform(0.01, 0.08)
		}
		s.roots = append(s.roots, s.generateObservation(model.Symptom, i+1, leak, nameSymptom))
	}
	for i := roots; i < s.size.symptoms(); i++ {
		parent := s.roots[s.random.IntN(roots)]
		child := s.generateObservation(model.Symptom, i+1, parent.Leak*(0.05+0.1*s.random.Float64()), nameSymptom)
		child.Parent, child.Relation = parent, model.CharacterRelation
		if i%durationInterval == 0 {
			child.Relation = model.DurationRelation
			WithDurationRange(7*24*time.Hour, 0)(child)
		}
		s.children[parent] = append(s.children[parent], child)
	}
}

func (s *generator) addGroups() {
	for i := 0; i < len(s.roots); i += groupInterval {
		items := s.children[s.roots[i]]
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

func (s *generator) addRiskFactors() {
	for i := range s.size.riskFactors() {
		s.riskFactors = append(s.riskFactors, s.generateObservation(model.RiskFactor, i+1001, s.logUniform(0.01, 0.3), nameRiskFactor))
	}
}

// addLabTests adds laboratory tests. No condition causes a normal result.
func (s *generator) addLabTests() {
	for i := range s.size.labTests() {
		t := &model.DraftLabTest{Number: uint32(i + 1)}
		for k, r := range labResults {
			o := s.generateObservation(model.LabResult, 2001+i*len(labResults)+k, r.leak, func(o *model.DraftObservation) {
				o.LabResult, o.Question, o.QuestionThirdPerson = r.result, "", ""
			})
			t.Results = append(t.Results, o)
			if r.result != model.Normal {
				s.abnormalResults = append(s.abnormalResults, o)
			}
		}
		nameLabTest(t)
		s.draft.LabTests = append(s.draft.LabTests, t)
	}
}

// generateObservation adds an observation and edits it. One symptom in 25 is serious.
func (s *generator) generateObservation(kind model.ObservationKind, number int, leak float64, edit func(*model.DraftObservation)) *model.DraftObservation {
	id := model.FormatID(kind.Prefix(), uint32(number))
	s.addObservation(kind, id, leak, []func(*model.DraftObservation){func(o *model.DraftObservation) {
		edit(o)
		if kind == model.Symptom && number%25 == 0 {
			o.Seriousness = model.Seriousness(1 + number/25%3)
		}
	}})
	return s.observations[id]
}

// addCondition adds a condition with its findings and risk factors.
func (s *generator) addCondition(i int) {
	discipline := i % s.size.disciplines()
	id := model.FormatID(model.ConditionPrefix, uint32(i+1))
	s.Condition(id, 0.04/float64(i+4), func(c *model.DraftCondition) {
		nameCondition(c)
		c.Acuteness = model.Acuteness(i % len(defaultCourses))
		c.Course = defaultCourses[c.Acuteness]
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
	if i%articleInterval == 0 {
		s.addArticle(id, c.CommonName)
	}
	s.addFindings(c, discipline, s.size.linkCount(i))
	for range s.random.IntN(maxRiskFactors + 1) {
		s.addFactor(c, s.riskFactors[s.random.IntN(len(s.riskFactors))])
	}
}

// addArticle adds an article of typical length.
func (s *generator) addArticle(condition, name string) {
	paragraph := Node(model.ParagraphNode, Text(name+" is made up, and so is every sentence about it. "+strings.Repeat("It comes and goes as it likes. ", 5)),
		Link("https://example.org/"+condition, "More about it"), Text("."))
	list := Node(model.UnorderedListNode, Node(model.ListItemNode, Text("Rest.")), Node(model.ListItemNode, Text("Drink enough.")))
	s.Article(condition, name,
		Section(model.SummarySection, "In short", paragraph),
		Section(model.CauseSection, "Causes", paragraph, paragraph),
		Section(model.HomeTreatmentSection, "What you can do", Node(model.Heading1Node, Text("At once")), paragraph, list),
		Section(model.DisclaimerSection, "Please note", paragraph),
		Section(model.SourcesSection, "Sources", list))
}

// addFactor adds a risk factor to a condition with multipliers that leave the overall
// frequency of the condition unchanged.
func (s *generator) addFactor(c *model.DraftCondition, risk *model.DraftObservation) {
	for _, f := range c.Factors {
		if f.Observation == risk {
			return
		}
	}
	present := s.logUniform(1.2, 3)
	absent := (1 - risk.Leak*present) / (1 - risk.Leak)
	if absent > 0 {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: risk, Present: present, Absent: absent})
	}
}

// addFindings links a condition to common roots, to roots of its discipline, and to
// children of both.
func (s *generator) addFindings(c *model.DraftCondition, discipline, links int) {
	lambdas := map[*model.DraftObservation]float64{}
	for len(c.Findings) < links {
		root := s.sampleRoot(discipline)
		if len(s.abnormalResults) > 0 && s.random.IntN(labResultInterval) == 0 {
			root = s.abnormalResults[s.random.IntN(len(s.abnormalResults))]
		}
		children := s.children[root]
		if lambdas[root] == 0 {
			addFinding(c, root, s.logUniform(0.05, 0.95), lambdas)
		} else if len(children) > 0 {
			child := children[s.random.IntN(len(children))]
			if lambdas[child] == 0 {
				addFinding(c, child, lambdas[root]*s.logUniform(0.05, 0.7)/float64(len(children)), lambdas)
			}
		}
	}
}

// sampleRoot draws a common symptom, favoring the first ones, or a symptom of the
// discipline.
func (s *generator) sampleRoot(discipline int) *model.DraftObservation {
	common := s.size.commonRoots()
	if s.random.IntN(3) == 0 {
		skewed := s.random.Float64()
		return s.roots[int(skewed*skewed*float64(common))]
	}
	specific := len(s.roots) - common
	first := discipline * specific / s.size.disciplines()
	return s.roots[common+(first+s.random.IntN(s.size.rootsPerDiscipline()))%specific]
}

// addFinding links a condition to an observation with a causal probability.
func addFinding(c *model.DraftCondition, o *model.DraftObservation, lambda float64, lambdas map[*model.DraftObservation]float64) {
	lambdas[o] = lambda
	c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Probability: 1 - (1-lambda)*(1-o.Leak)})
}
