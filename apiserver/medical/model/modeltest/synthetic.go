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
	labResultInterval = 20 // one sampled finding in this many is a laboratory result
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
		return fmt.Errorf("invalid synthetic release size %+v: expected at least one condition and enough observations to link", s)
	}
	return nil
}

// Synthetic returns a builder of an invented release of the given size. The same size and
// seed produce the same release on every machine. Its content is medically meaningless.
//
// It has the structure of a real release: conditions are grouped into disciplines; a
// few symptoms belong to hundreds of conditions and most to a handful; symptoms have
// children, some of which form groups; a few conditions account for most cases. There
// are laboratory tests, courses and articles, and every concept has several wordings.
func Synthetic(size Size, seed uint64) *Builder {
	g := &generator{
		Builder: New(), size: size, random: rand.New(rand.NewPCG(seed, 1)),
		children: map[*model.DraftObservation][]*model.DraftObservation{},
	}
	if g.err = size.validate(); g.err != nil {
		return g.Builder
	}
	g.draft.Categories = nil
	for i := range size.disciplines() {
		g.draft.Categories = append(g.draft.Categories, &model.DraftNamedItem{Number: uint32(i + 1), Name: fmt.Sprintf("Discipline %d", i+1)})
	}
	g.addSymptoms()
	g.addGroups()
	g.addRiskFactors()
	g.addLabTests()
	for i := range size.Conditions {
		g.addCondition(i)
	}
	return g.Builder
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
func (g *generator) logUniform(low, high float64) float64 {
	return low * math.Pow(high/low, g.random.Float64())
}

// addSymptoms adds the roots, common ones first, and their children.
func (g *generator) addSymptoms() {
	roots := g.size.roots()
	for i := range roots {
		leak := g.logUniform(0.0005, 0.02)
		if i < g.size.commonRoots() {
			leak = g.logUniform(0.01, 0.08)
		}
		g.roots = append(g.roots, g.generateObservation(model.Symptom, i+1, leak, nameSymptom))
	}
	for i := roots; i < g.size.symptoms(); i++ {
		parent := g.roots[g.random.IntN(roots)]
		child := g.generateObservation(model.Symptom, i+1, parent.Leak*(0.05+0.1*g.random.Float64()), nameSymptom)
		child.Parent, child.Relation = parent, model.CharacterRelation
		if i%durationInterval == 0 {
			child.Relation = model.DurationRelation
			WithDurationRange(7*24*time.Hour, 0)(child)
		}
		g.children[parent] = append(g.children[parent], child)
	}
}

func (g *generator) addGroups() {
	for i := 0; i < len(g.roots); i += groupInterval {
		items := g.children[g.roots[i]]
		if len(items) < 2 {
			continue
		}
		kind := model.GroupMultiple
		if i%2 == 1 {
			kind = model.GroupSingle
		}
		g.draft.Groups = append(g.draft.Groups, &model.DraftGroup{
			Question: "Which of these?", QuestionThirdPerson: "Which of these does the person have?",
			Type: kind, Parent: g.roots[i], Items: items,
		})
	}
}

func (g *generator) addRiskFactors() {
	for i := range g.size.riskFactors() {
		g.riskFactors = append(g.riskFactors, g.generateObservation(model.RiskFactor, i+1001, g.logUniform(0.01, 0.3), nameRiskFactor))
	}
}

// addLabTests adds laboratory tests. No condition causes a normal result.
func (g *generator) addLabTests() {
	for i := range g.size.labTests() {
		t := &model.DraftLabTest{Number: uint32(i + 1)}
		for k, r := range labResults {
			o := g.generateObservation(model.LabResult, 2001+i*len(labResults)+k, r.leak, func(o *model.DraftObservation) {
				o.LabResult, o.Question, o.QuestionThirdPerson = r.result, "", ""
			})
			t.Results = append(t.Results, o)
			if r.result != model.Normal {
				g.abnormalResults = append(g.abnormalResults, o)
			}
		}
		nameLabTest(t)
		g.draft.LabTests = append(g.draft.LabTests, t)
	}
}

// generateObservation adds an observation and edits it. One symptom in 25 is serious.
func (g *generator) generateObservation(kind model.ObservationKind, number int, leak float64, edit func(*model.DraftObservation)) *model.DraftObservation {
	id := model.FormatID(kind.Prefix(), uint32(number))
	g.addObservation(kind, id, leak, []func(*model.DraftObservation){func(o *model.DraftObservation) {
		edit(o)
		if kind == model.Symptom && number%25 == 0 {
			o.Seriousness = model.Seriousness(1 + number/25%3)
		}
	}})
	return g.observations[id]
}

// addCondition adds a condition with its findings and risk factors.
func (g *generator) addCondition(i int) {
	discipline := i % g.size.disciplines()
	id := model.FormatID(model.ConditionPrefix, uint32(i+1))
	g.Condition(id, 0.04/float64(i+4), func(c *model.DraftCondition) {
		nameCondition(c)
		c.Acuteness = model.Acuteness(i % len(defaultCourses))
		c.Course = defaultCourses[c.Acuteness]
		c.Hint = "Rest, drink enough, and see a doctor when it does not get better within a week."
		c.Categories = g.draft.Categories[discipline : discipline+1]
		c.Triage = []model.TriageLevel{model.SelfCare, model.Consultation, model.Consultation, model.Consultation24, model.Emergency}[i%5]
		for sex := range c.Prior {
			for band := range c.Prior[sex] {
				c.Prior[sex][band] *= 0.5 + g.random.Float64()
			}
		}
	})
	c := g.conditions[id]
	if i%articleInterval == 0 {
		g.addArticle(id, c.CommonName)
	}
	g.addFindings(c, discipline, g.size.linkCount(i))
	for range g.random.IntN(maxRiskFactors + 1) {
		g.addFactor(c, g.riskFactors[g.random.IntN(len(g.riskFactors))])
	}
}

// addArticle adds an article of typical length.
func (g *generator) addArticle(condition, name string) {
	paragraph := Node(model.ParagraphNode, Text(name+" is made up, and so is every sentence about it. "+strings.Repeat("It comes and goes as it likes. ", 5)),
		Link("https://example.org/"+condition, "More about it"), Text("."))
	list := Node(model.UnorderedListNode, Node(model.ListItemNode, Text("Rest.")), Node(model.ListItemNode, Text("Drink enough.")))
	g.Article(condition, name,
		Section(model.SummarySection, "In short", paragraph),
		Section(model.CauseSection, "Causes", paragraph, paragraph),
		Section(model.HomeTreatmentSection, "What you can do", Node(model.Heading1Node, Text("At once")), paragraph, list),
		Section(model.DisclaimerSection, "Please note", paragraph),
		Section(model.SourcesSection, "Sources", list))
}

// addFactor adds a risk factor to a condition with multipliers that leave the overall
// frequency of the condition unchanged.
func (g *generator) addFactor(c *model.DraftCondition, risk *model.DraftObservation) {
	for _, f := range c.Factors {
		if f.Observation == risk {
			return
		}
	}
	present := g.logUniform(1.2, 3)
	absent := (1 - risk.Leak*present) / (1 - risk.Leak)
	if absent > 0 {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: risk, Present: present, Absent: absent})
	}
}

// addFindings links a condition to common roots, to roots of its discipline, and to
// children of both.
func (g *generator) addFindings(c *model.DraftCondition, discipline, links int) {
	lambdas := map[*model.DraftObservation]float64{}
	for len(c.Findings) < links {
		root := g.sampleRoot(discipline)
		if len(g.abnormalResults) > 0 && g.random.IntN(labResultInterval) == 0 {
			root = g.abnormalResults[g.random.IntN(len(g.abnormalResults))]
		}
		children := g.children[root]
		if lambdas[root] == 0 {
			addFinding(c, root, g.logUniform(0.05, 0.95), lambdas)
		} else if len(children) > 0 {
			child := children[g.random.IntN(len(children))]
			if lambdas[child] == 0 {
				addFinding(c, child, lambdas[root]*g.logUniform(0.05, 0.7)/float64(len(children)), lambdas)
			}
		}
	}
}

// sampleRoot draws a common symptom, favoring the first ones, or a symptom of the
// discipline.
func (g *generator) sampleRoot(discipline int) *model.DraftObservation {
	common := g.size.commonRoots()
	if g.random.IntN(3) == 0 {
		skewed := g.random.Float64()
		return g.roots[int(skewed*skewed*float64(common))]
	}
	specific := len(g.roots) - common
	first := discipline * specific / g.size.disciplines()
	return g.roots[common+(first+g.random.IntN(g.size.rootsPerDiscipline()))%specific]
}

// addFinding links a condition to an observation with a causal probability.
func addFinding(c *model.DraftCondition, o *model.DraftObservation, lambda float64, lambdas map[*model.DraftObservation]float64) {
	lambdas[o] = lambda
	c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Probability: 1 - (1-lambda)*(1-o.Leak)})
}
