// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// A referenceModel is a small random model, described by what each cause produces, and
// the release built from it. It is the reference for the engine: nothing in it is
// computed by the engine.
type referenceModel struct {
	release *model.Release
	priors  []float64
	nodes   []referenceNode // parents before children
	groups  []referenceGroup
	factors []referenceFactor
	courses []model.Course // by condition, followed by the leak
	// durations holds how long the patient reports to have had a node.
	durations map[int]time.Duration
}

// A referenceNode is a symptom. activation holds the probability that each condition
// produces it, regardless of the parent; the last entry is the leak. In an ordered
// group it is the probability of exactly this level.
type referenceNode struct {
	id         string
	parent     int // or none
	group      int // or none
	activation []float64
	linked     bool // some condition may produce it
}

type referenceGroup struct {
	items           []int
	single, ordered bool
}

// A referenceFactor multiplies the odds of a condition.
type referenceFactor struct {
	risk            int // p_<risk + 1>
	condition       int
	present, absent float64
}

const referenceRiskCount = 2

// newReferenceModel draws a model that is small enough to be enumerated.
func newReferenceModel(t modeltest.TB, random *rand.Rand) *referenceModel {
	w := &referenceModel{}
	for range 1 + random.IntN(5) {
		w.priors = append(w.priors, 0.001+0.3*random.Float64()*random.Float64())
	}
	for range len(w.priors) + 1 {
		w.courses = append(w.courses, model.Course{Mean: 4 + 8*random.Float64(), StdDev: 0.3 + 3*random.Float64()})
	}
	for range 1 + random.IntN(3) {
		w.drawFamily(random)
	}
	if random.IntN(2) == 0 {
		w.drawItems(random, none, false)
	}
	for risk := range referenceRiskCount {
		for c := range w.priors {
			if random.IntN(2) == 0 {
				w.factors = append(w.factors, referenceFactor{risk, c, 0.5 + 3*random.Float64(), 0.5 + random.Float64()})
			}
		}
	}
	w.release = w.build(t)
	return w
}

// drawFamily adds a root, children, possibly a group, and grandchildren.
func (m *referenceModel) drawFamily(random *rand.Rand) {
	root := m.addNode(none, none, m.drawProbabilities(random, 0.05, 0.95, 0.01, 0.15))
	for range random.IntN(3) {
		child := m.addNode(root, none, m.scaledActivation(random, root, 0.9))
		if random.IntN(3) == 0 {
			m.addNode(child, none, m.scaledActivation(random, child, 0.9))
		}
	}
	switch random.IntN(4) {
	case 0:
		m.drawItems(random, root, false)
	case 1:
		m.drawItems(random, root, true)
	case 2:
		group := len(m.groups)
		m.groups = append(m.groups, referenceGroup{})
		for range 2 {
			item := m.addNode(root, group, m.scaledActivation(random, root, 0.9))
			m.groups[group].items = append(m.groups[group].items, item)
		}
	}
}

// drawItems adds an exclusive group with or without a parent. It divides the
// probability that a cause produces the parent among the items and none of them.
func (m *referenceModel) drawItems(random *rand.Rand, parent int, ordered bool) {
	group, items := len(m.groups), 2+random.IntN(2)
	m.groups = append(m.groups, referenceGroup{single: true, ordered: ordered})
	whole := m.drawProbabilities(random, 0.5, 0.95, 0.05, 0.06)
	if parent != none {
		whole = m.nodes[parent].activation
	}
	for range items {
		chances := make([]float64, len(whole))
		for c := range chances {
			chances[c] = whole[c] * (0.1 + 0.9*random.Float64()) * 0.7 / float64(items)
		}
		item := m.addNode(parent, group, chances)
		m.groups[group].items = append(m.groups[group].items, item)
	}
	if item := m.groups[group].items[0]; random.IntN(2) == 0 {
		m.addNode(item, none, m.scaledActivation(random, item, 0.5))
	}
}

func (m *referenceModel) addNode(parent, group int, probabilities []float64) int {
	n := referenceNode{id: fmt.Sprintf("s_%d", len(m.nodes)+1), parent: parent, group: group, activation: probabilities}
	for _, chance := range probabilities[:len(m.priors)] {
		n.linked = n.linked || chance > 0
	}
	m.nodes = append(m.nodes, n)
	return len(m.nodes) - 1
}

// drawProbabilities draws the probability for each condition, some of them zero, and
// for the leak.
func (m *referenceModel) drawProbabilities(random *rand.Rand, low, high, leakLow, leakHigh float64) []float64 {
	chances := make([]float64, len(m.priors)+1)
	for c := range m.priors {
		if random.IntN(3) > 0 {
			chances[c] = low + (high-low)*random.Float64()
		}
	}
	chances[len(m.priors)] = leakLow + (leakHigh-leakLow)*random.Float64()
	return chances
}

// scaledActivation draws the probabilities of a child, at most the given share of the
// parent's.
func (m *referenceModel) scaledActivation(random *rand.Rand, node int, most float64) []float64 {
	chances := make([]float64, len(m.priors)+1)
	for c, whole := range m.nodes[node].activation {
		chances[c] = whole * most * (0.05 + 0.95*random.Float64())
		if c < len(m.priors) && random.IntN(5) == 0 && !m.isOrderedLevel(node) {
			chances[c] = 0
		}
	}
	return chances
}

func (m *referenceModel) isOrderedLevel(node int) bool {
	return m.nodes[node].group != none && m.groups[m.nodes[node].group].ordered
}

// build builds the release of the model.
func (m *referenceModel) build(t modeltest.TB) *model.Release {
	b := modeltest.New()
	for c, prior := range m.priors {
		b.Condition(fmt.Sprintf("c_%d", c+1), prior, func(d *model.DraftCondition) {
			if len(m.courses) > 0 {
				d.Course = m.courses[c]
			}
		})
	}
	if len(m.courses) > 0 {
		b.Draft().Meta.LeakCourse = m.courses[len(m.priors)]
	}
	for _, n := range m.nodes {
		if leak := n.activation[len(m.priors)]; n.parent == none {
			b.Symptom(n.id, leak)
		} else {
			b.Child(n.id, m.nodes[n.parent].id, model.CharacterRelation, leak)
		}
	}
	for i := range m.nodes {
		for c := range m.priors {
			if m.nodes[i].activation[c] > 0 {
				b.Link(fmt.Sprintf("c_%d", c+1), m.nodes[i].id, m.share(i, c))
			}
		}
	}
	for _, g := range m.groups {
		var ids []string
		for _, item := range g.items {
			ids = append(ids, m.nodes[item].id)
		}
		switch {
		case g.ordered:
			b.OrderedGroup(ids...)
		case g.single:
			b.Group(model.GroupSingle, ids...)
		default:
			b.Group(model.GroupMultiple, ids...)
		}
	}
	for risk := range referenceRiskCount {
		b.RiskFactor(fmt.Sprintf("p_%d", risk+1), 0.2)
	}
	for _, f := range m.factors {
		b.Factor(fmt.Sprintf("c_%d", f.condition+1), fmt.Sprintf("p_%d", f.risk+1), f.present, f.absent)
	}
	return b.Build(t)
}

// share returns the share of patients with only the given condition who report a node.
func (m *referenceModel) share(node, condition int) float64 {
	leak := len(m.priors)
	n := &m.nodes[node]
	if !m.isOrderedLevel(node) {
		return 1 - (1-n.activation[condition])*(1-n.activation[leak])
	}
	items := m.groups[n.group].items
	worse := 0.0
	for i := len(items) - 1; ; i-- {
		link, background := 0.0, 0.0
		for _, item := range items[i:] {
			link += m.nodes[item].activation[condition]
			background += m.nodes[item].activation[leak]
		}
		orWorse := 1 - (1-link)*(1-background)
		if items[i] == node {
			return orWorse - worse
		}
		worse = orWorse
	}
}

// An answer is a choice about a node of a model or, from referenceRiskCount below, a
// risk factor.
type answers map[int]Choice

// drawAnswers draws arbitrary answers, including contradictory ones.
func (m *referenceModel) drawAnswers(random *rand.Rand) answers {
	a := answers{}
	for i := range m.nodes {
		if random.IntN(2) == 0 {
			a[i] = Choice(random.IntN(3))
		}
	}
	for risk := range referenceRiskCount {
		if random.IntN(2) == 0 {
			a[len(m.nodes)+risk] = Choice(random.IntN(3))
		}
	}
	return a
}

// drawDurations draws durations for some of the reported nodes, from a minute to five
// years.
func (m *referenceModel) drawDurations(a answers, random *rand.Rand) {
	m.durations = map[int]time.Duration{}
	for i := range m.nodes {
		if a[i] == Present && random.IntN(2) == 0 {
			m.durations[i] = time.Duration(math.Exp(15*random.Float64()) * float64(time.Minute))
		}
	}
}

// evidence returns the answers as a client sends them, in random order.
func (m *referenceModel) evidence(a answers, random *rand.Rand) []ReportedEvidence {
	var list []ReportedEvidence
	for i := range len(m.nodes) + referenceRiskCount {
		choice, ok := a[i]
		if !ok {
			continue
		}
		id := fmt.Sprintf("p_%d", i-len(m.nodes)+1)
		if i < len(m.nodes) {
			id = m.nodes[i].id
		}
		list = append(list, ReportedEvidence{ID: id, Choice: choice, Duration: m.durations[i]})
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
