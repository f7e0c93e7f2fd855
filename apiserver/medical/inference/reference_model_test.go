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
func (w *referenceModel) drawFamily(random *rand.Rand) {
	root := w.addNode(none, none, w.drawProbabilities(random, 0.05, 0.95, 0.01, 0.15))
	for range random.IntN(3) {
		child := w.addNode(root, none, w.scaledActivation(random, root, 0.9))
		if random.IntN(3) == 0 {
			w.addNode(child, none, w.scaledActivation(random, child, 0.9))
		}
	}
	switch random.IntN(4) {
	case 0:
		w.drawItems(random, root, false)
	case 1:
		w.drawItems(random, root, true)
	case 2:
		group := len(w.groups)
		w.groups = append(w.groups, referenceGroup{})
		for range 2 {
			item := w.addNode(root, group, w.scaledActivation(random, root, 0.9))
			w.groups[group].items = append(w.groups[group].items, item)
		}
	}
}

// drawItems adds an exclusive group with or without a parent. It divides the
// probability that a cause produces the parent among the items and none of them.
func (w *referenceModel) drawItems(random *rand.Rand, parent int, ordered bool) {
	group, items := len(w.groups), 2+random.IntN(2)
	w.groups = append(w.groups, referenceGroup{single: true, ordered: ordered})
	whole := w.drawProbabilities(random, 0.5, 0.95, 0.05, 0.06)
	if parent != none {
		whole = w.nodes[parent].activation
	}
	for range items {
		chances := make([]float64, len(whole))
		for c := range chances {
			chances[c] = whole[c] * (0.1 + 0.9*random.Float64()) * 0.7 / float64(items)
		}
		item := w.addNode(parent, group, chances)
		w.groups[group].items = append(w.groups[group].items, item)
	}
	if item := w.groups[group].items[0]; random.IntN(2) == 0 {
		w.addNode(item, none, w.scaledActivation(random, item, 0.5))
	}
}

func (w *referenceModel) addNode(parent, group int, probabilities []float64) int {
	n := referenceNode{id: fmt.Sprintf("s_%d", len(w.nodes)+1), parent: parent, group: group, activation: probabilities}
	for _, chance := range probabilities[:len(w.priors)] {
		n.linked = n.linked || chance > 0
	}
	w.nodes = append(w.nodes, n)
	return len(w.nodes) - 1
}

// drawProbabilities draws the probability for each condition, some of them zero, and
// for the leak.
func (w *referenceModel) drawProbabilities(random *rand.Rand, low, high, leakLow, leakHigh float64) []float64 {
	chances := make([]float64, len(w.priors)+1)
	for c := range w.priors {
		if random.IntN(3) > 0 {
			chances[c] = low + (high-low)*random.Float64()
		}
	}
	chances[len(w.priors)] = leakLow + (leakHigh-leakLow)*random.Float64()
	return chances
}

// scaledActivation draws the probabilities of a child, at most the given share of the
// parent's.
func (w *referenceModel) scaledActivation(random *rand.Rand, node int, most float64) []float64 {
	chances := make([]float64, len(w.priors)+1)
	for c, whole := range w.nodes[node].activation {
		chances[c] = whole * most * (0.05 + 0.95*random.Float64())
		if c < len(w.priors) && random.IntN(5) == 0 && !w.isOrderedLevel(node) {
			chances[c] = 0
		}
	}
	return chances
}

func (w *referenceModel) isOrderedLevel(node int) bool {
	return w.nodes[node].group != none && w.groups[w.nodes[node].group].ordered
}

// build builds the release of the model.
func (w *referenceModel) build(t modeltest.TB) *model.Release {
	b := modeltest.New()
	for c, prior := range w.priors {
		b.Condition(fmt.Sprintf("c_%d", c+1), prior, func(d *model.DraftCondition) {
			if len(w.courses) > 0 {
				d.Course = w.courses[c]
			}
		})
	}
	if len(w.courses) > 0 {
		b.Draft().Meta.LeakCourse = w.courses[len(w.priors)]
	}
	for _, n := range w.nodes {
		if leak := n.activation[len(w.priors)]; n.parent == none {
			b.Symptom(n.id, leak)
		} else {
			b.Child(n.id, w.nodes[n.parent].id, model.CharacterRelation, leak)
		}
	}
	for i := range w.nodes {
		for c := range w.priors {
			if w.nodes[i].activation[c] > 0 {
				b.Link(fmt.Sprintf("c_%d", c+1), w.nodes[i].id, w.share(i, c))
			}
		}
	}
	for _, g := range w.groups {
		var ids []string
		for _, item := range g.items {
			ids = append(ids, w.nodes[item].id)
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
	for _, f := range w.factors {
		b.Factor(fmt.Sprintf("c_%d", f.condition+1), fmt.Sprintf("p_%d", f.risk+1), f.present, f.absent)
	}
	return b.Build(t)
}

// share returns the share of patients with only the given condition who report a node.
func (w *referenceModel) share(node, condition int) float64 {
	leak := len(w.priors)
	n := &w.nodes[node]
	if !w.isOrderedLevel(node) {
		return 1 - (1-n.activation[condition])*(1-n.activation[leak])
	}
	items := w.groups[n.group].items
	worse := 0.0
	for i := len(items) - 1; ; i-- {
		link, background := 0.0, 0.0
		for _, item := range items[i:] {
			link += w.nodes[item].activation[condition]
			background += w.nodes[item].activation[leak]
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
func (w *referenceModel) drawAnswers(random *rand.Rand) answers {
	a := answers{}
	for i := range w.nodes {
		if random.IntN(2) == 0 {
			a[i] = Choice(random.IntN(3))
		}
	}
	for risk := range referenceRiskCount {
		if random.IntN(2) == 0 {
			a[len(w.nodes)+risk] = Choice(random.IntN(3))
		}
	}
	return a
}

// drawDurations draws durations for some of the reported nodes, from a minute to five
// years.
func (w *referenceModel) drawDurations(a answers, random *rand.Rand) {
	w.durations = map[int]time.Duration{}
	for i := range w.nodes {
		if a[i] == Present && random.IntN(2) == 0 {
			w.durations[i] = time.Duration(math.Exp(15*random.Float64()) * float64(time.Minute))
		}
	}
}

// evidence returns the answers as a client sends them, in random order.
func (w *referenceModel) evidence(a answers, random *rand.Rand) []ReportedEvidence {
	var list []ReportedEvidence
	for i := range len(w.nodes) + referenceRiskCount {
		choice, ok := a[i]
		if !ok {
			continue
		}
		id := fmt.Sprintf("p_%d", i-len(w.nodes)+1)
		if i < len(w.nodes) {
			id = w.nodes[i].id
		}
		list = append(list, ReportedEvidence{ID: id, Choice: choice, Duration: w.durations[i]})
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
