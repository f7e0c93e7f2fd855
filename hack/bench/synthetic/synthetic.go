// SPDX-License-Identifier: Apache-2.0

// Package synthetic makes a model of the size of a full catalogue, and
// patients for it, to measure on: 1,000 conditions, 2,000 observations and
// 40,000 links. It says nothing about medicine. The same call gives the same
// bytes on every machine.
//
// The model has the shape of a real one: conditions gather in disciplines; a
// few symptoms belong to hundreds of conditions and most to a handful;
// symptoms have children, some asked in groups; a few conditions make up most
// of what patients have.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// The size of the model.
const (
	Conditions   = 1000
	Observations = 2000
	Links        = 40000
)

const (
	seed         = 20261121
	riskFactors  = 200
	roots        = 900 // symptoms without a parent; the others are children
	disciplines  = 25
	linksOfEach  = Links / Conditions
	commonRoots  = 60 // symptoms that any discipline may bring
	mostFactors  = 4  // of a condition
	groupedEvery = 5  // of the roots, one in so many asks its children in a group
)

// generator is a model in the making.
type generator struct {
	random *rand.Rand
	draft  model.Draft
	roots  []*model.DraftObservation
	below  map[*model.DraftObservation][]*model.DraftObservation
}

// Draft is the model before it is laid out.
func Draft() *model.Draft {
	g := &generator{random: rand.New(rand.NewPCG(seed, 1)), below: map[*model.DraftObservation][]*model.DraftObservation{}}
	g.draft.Meta = model.Meta{
		ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en",
		ChoicePresent: "Yes", ChoiceAbsent: "No", ChoiceUnknown: "Don't know",
	}
	g.draft.Specialists = []*model.DraftNamed{{Number: 1, Name: "General practitioner"}}
	for i := range disciplines {
		g.draft.Categories = append(g.draft.Categories, &model.DraftNamed{Number: uint32(i + 1), Name: fmt.Sprintf("Discipline %d", i+1)})
	}
	g.addSymptoms()
	g.addRiskFactors()
	for i := range Conditions {
		g.addCondition(i)
	}
	return &g.draft
}

// Release is the model as an engine reads it.
func Release() (*model.Release, error) {
	file, err := model.Encode(Draft().Layout())
	if err != nil {
		return nil, fmt.Errorf("encoding the synthetic model: %w", err)
	}
	return model.Decode(file)
}

// between draws from a range evenly on a logarithmic scale.
func (g *generator) between(low, high float64) float64 {
	return low * math.Pow(high/low, g.random.Float64())
}

// addSymptoms adds roots, the first of them common, and their children.
func (g *generator) addSymptoms() {
	for i := range roots {
		leak := g.between(0.0005, 0.02)
		if i < commonRoots {
			leak = g.between(0.01, 0.08)
		}
		g.roots = append(g.roots, g.observation(model.Symptom, i+1, leak))
	}
	for i := roots; i < Observations-riskFactors; i++ {
		parent := g.roots[g.random.IntN(roots)]
		child := g.observation(model.Symptom, i+1, parent.Leak*(0.05+0.1*g.random.Float64()))
		child.Parent, child.Relation = parent, model.Character
		g.below[parent] = append(g.below[parent], child)
	}
	for i := 0; i < roots; i += groupedEvery {
		if items := g.below[g.roots[i]]; len(items) > 1 {
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
}

func (g *generator) addRiskFactors() {
	for i := range riskFactors {
		g.observation(model.RiskFactor, i+1001, g.between(0.01, 0.3))
	}
}

func (g *generator) observation(kind model.ObservationKind, number int, leak float64) *model.DraftObservation {
	name := fmt.Sprintf("Observation %s%d", kind.Prefix(), number)
	o := &model.DraftObservation{
		Number: uint32(number), Kind: kind, Name: name, CommonName: name, AgeTo: model.MaxAge, Leak: leak,
		Question: name + "?", QuestionThirdPerson: "Does the person have " + name + "?",
	}
	if kind == model.Symptom && number%25 == 0 {
		o.Seriousness = model.Seriousness(1 + number/25%3)
	}
	g.draft.Observations = append(g.draft.Observations, o)
	return o
}

// addCondition adds a condition with its findings and risk factors.
func (g *generator) addCondition(i int) {
	name := fmt.Sprintf("Condition c_%d", i+1)
	c := &model.DraftCondition{
		Number: uint32(i + 1), Name: name, CommonName: name, AgeTo: model.MaxAge,
		Specialists: g.draft.Specialists[:1:1], Categories: g.draft.Categories[i%disciplines : i%disciplines+1],
		Severity: model.ModerateSeverity, Acuteness: model.Acute,
		Triage: []model.TriageLevel{model.SelfCare, model.Consultation, model.Consultation, model.Consultation24, model.Emergency}[i%5],
	}
	prior := 0.04 / float64(i+4)
	for sex := range c.Prior {
		for band := range c.Prior[sex] {
			c.Prior[sex][band] = prior * (0.5 + g.random.Float64())
		}
	}
	g.addFindings(c, i%disciplines)
	for range g.random.IntN(mostFactors + 1) {
		risk := g.draft.Observations[Observations-riskFactors+g.random.IntN(riskFactors)]
		g.addFactor(c, risk)
	}
	g.draft.Conditions = append(g.draft.Conditions, c)
}

// addFactor makes a risk factor count for a condition, so that the condition
// is as frequent as before in people of whom nothing is known.
func (g *generator) addFactor(c *model.DraftCondition, risk *model.DraftObservation) {
	for _, f := range c.Factors {
		if f.Observation == risk {
			return
		}
	}
	present := g.between(1.2, 3)
	absent := (1 - risk.Leak*present) / (1 - risk.Leak)
	if absent > 0 {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: risk, Present: present, Absent: absent})
	}
}

// addFindings links a condition to common roots, to roots of its discipline,
// and to children of both.
func (g *generator) addFindings(c *model.DraftCondition, discipline int) {
	lambdas := map[*model.DraftObservation]float64{}
	for len(c.Findings) < linksOfEach {
		root := g.drawRoot(discipline)
		children := g.below[root]
		if lambdas[root] == 0 {
			g.link(c, root, g.between(0.05, 0.95), lambdas)
		} else if len(children) > 0 {
			child := children[g.random.IntN(len(children))]
			if lambdas[child] == 0 {
				g.link(c, child, lambdas[root]*g.between(0.05, 0.7)/float64(len(children)), lambdas)
			}
		}
	}
}

// drawRoot draws one of the common symptoms, the first most often, or one of
// a discipline.
func (g *generator) drawRoot(discipline int) *model.DraftObservation {
	if g.random.IntN(3) == 0 {
		skewed := g.random.Float64()
		return g.roots[int(skewed*skewed*commonRoots)]
	}
	specific := roots - commonRoots
	size := 2 * specific / disciplines // neighbouring disciplines overlap
	return g.roots[commonRoots+(discipline*specific/disciplines+g.random.IntN(size))%specific]
}

func (g *generator) link(c *model.DraftCondition, o *model.DraftObservation, lambda float64, lambdas map[*model.DraftObservation]float64) {
	lambdas[o] = lambda
	c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Share: 1 - (1-lambda)*(1-o.Leak)})
}
