// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// A world is a small random model, described by what each cause brings, and
// the release made of it. It is the reference that the engine is held
// against: nothing in it is computed by the engine.
type world struct {
	release *model.Release
	priors  []float64
	nodes   []worldNode // parents before children
	groups  []worldGroup
	factors []worldFactor
	courses []model.Course // of each condition, and last of the leak
	// lasted is how long the patient says that they have had a node.
	lasted map[int]time.Duration
}

// A worldNode is a symptom. brings is how likely each condition brings it,
// parent or not; the last entry is the leak. In an ordered group that is the
// chance of this very level.
type worldNode struct {
	id     string
	parent int // or none
	group  int // or none
	brings []float64
	linked bool // some condition may bring it
}

type worldGroup struct {
	items           []int
	single, ordered bool
}

// A worldFactor multiplies the odds of a condition.
type worldFactor struct {
	risk            int // p_<risk + 1>
	condition       int
	present, absent float64
}

const worldRisks = 2

// newWorld draws a world. It stays small enough to be enumerated.
func newWorld(t modeltest.TB, random *rand.Rand) *world {
	w := &world{}
	for range 1 + random.IntN(5) {
		w.priors = append(w.priors, 0.001+0.3*random.Float64()*random.Float64())
	}
	for range len(w.priors) + 1 {
		w.courses = append(w.courses, model.Course{Mean: 4 + 8*random.Float64(), Deviation: 0.3 + 3*random.Float64()})
	}
	for range 1 + random.IntN(3) {
		w.drawFamily(random)
	}
	if random.IntN(2) == 0 {
		w.drawItems(random, none, false)
	}
	for risk := range worldRisks {
		for c := range w.priors {
			if random.IntN(2) == 0 {
				w.factors = append(w.factors, worldFactor{risk, c, 0.5 + 3*random.Float64(), 0.5 + random.Float64()})
			}
		}
	}
	w.release = w.build(t)
	return w
}

// drawFamily adds a root, children, perhaps a group, and grandchildren.
func (w *world) drawFamily(random *rand.Rand) {
	root := w.addNode(none, none, w.drawChances(random, 0.05, 0.95, 0.01, 0.15))
	for range random.IntN(3) {
		child := w.addNode(root, none, w.scaled(random, root, 0.9))
		if random.IntN(3) == 0 {
			w.addNode(child, none, w.scaled(random, child, 0.9))
		}
	}
	switch random.IntN(4) {
	case 0:
		w.drawItems(random, root, false)
	case 1:
		w.drawItems(random, root, true)
	case 2:
		group := len(w.groups)
		w.groups = append(w.groups, worldGroup{})
		for range 2 {
			item := w.addNode(root, group, w.scaled(random, root, 0.9))
			w.groups[group].items = append(w.groups[group].items, item)
		}
	}
}

// drawItems adds an exclusive group below a parent, or without one. What a
// cause brings of the parent it divides among the items and none of these.
func (w *world) drawItems(random *rand.Rand, parent int, ordered bool) {
	group, items := len(w.groups), 2+random.IntN(2)
	w.groups = append(w.groups, worldGroup{single: true, ordered: ordered})
	whole := w.drawChances(random, 0.5, 0.95, 0.05, 0.06)
	if parent != none {
		whole = w.nodes[parent].brings
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
		w.addNode(item, none, w.scaled(random, item, 0.5))
	}
}

func (w *world) addNode(parent, group int, brings []float64) int {
	n := worldNode{id: fmt.Sprintf("s_%d", len(w.nodes)+1), parent: parent, group: group, brings: brings}
	for _, chance := range brings[:len(w.priors)] {
		n.linked = n.linked || chance > 0
	}
	w.nodes = append(w.nodes, n)
	return len(w.nodes) - 1
}

// drawChances draws what each condition brings, some nothing, and the leak.
func (w *world) drawChances(random *rand.Rand, low, high, leakLow, leakHigh float64) []float64 {
	chances := make([]float64, len(w.priors)+1)
	for c := range w.priors {
		if random.IntN(3) > 0 {
			chances[c] = low + (high-low)*random.Float64()
		}
	}
	chances[len(w.priors)] = leakLow + (leakHigh-leakLow)*random.Float64()
	return chances
}

// scaled draws what a child of a node is brought, at most this part of it.
func (w *world) scaled(random *rand.Rand, node int, most float64) []float64 {
	chances := make([]float64, len(w.priors)+1)
	for c, whole := range w.nodes[node].brings {
		chances[c] = whole * most * (0.05 + 0.95*random.Float64())
		if c < len(w.priors) && random.IntN(5) == 0 && !w.inOrdered(node) {
			chances[c] = 0
		}
	}
	return chances
}

func (w *world) inOrdered(node int) bool {
	return w.nodes[node].group != none && w.groups[w.nodes[node].group].ordered
}

// build makes the release of the world.
func (w *world) build(t modeltest.TB) *model.Release {
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
		if leak := n.brings[len(w.priors)]; n.parent == none {
			b.Symptom(n.id, leak)
		} else {
			b.Child(n.id, w.nodes[n.parent].id, model.Character, leak)
		}
	}
	for i := range w.nodes {
		for c := range w.priors {
			if w.nodes[i].brings[c] > 0 {
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
	for risk := range worldRisks {
		b.RiskFactor(fmt.Sprintf("p_%d", risk+1), 0.2)
	}
	for _, f := range w.factors {
		b.Factor(fmt.Sprintf("c_%d", f.condition+1), fmt.Sprintf("p_%d", f.risk+1), f.present, f.absent)
	}
	return b.Build(t)
}

// share is how many patients with one condition, and no other, report a node.
func (w *world) share(node, condition int) float64 {
	leak := len(w.priors)
	n := &w.nodes[node]
	if !w.inOrdered(node) {
		return 1 - (1-n.brings[condition])*(1-n.brings[leak])
	}
	items := w.groups[n.group].items
	worse := 0.0
	for i := len(items) - 1; ; i-- {
		link, background := 0.0, 0.0
		for _, item := range items[i:] {
			link += w.nodes[item].brings[condition]
			background += w.nodes[item].brings[leak]
		}
		orWorse := 1 - (1-link)*(1-background)
		if items[i] == node {
			return orWorse - worse
		}
		worse = orWorse
	}
}

// An answer is a choice about a node of a world or, from worldRisks below, a
// risk factor.
type answers map[int]Choice

// drawAnswers draws any answers at all, contradictory ones included.
func (w *world) drawAnswers(random *rand.Rand) answers {
	a := answers{}
	for i := range w.nodes {
		if random.IntN(2) == 0 {
			a[i] = Choice(random.IntN(3))
		}
	}
	for risk := range worldRisks {
		if random.IntN(2) == 0 {
			a[len(w.nodes)+risk] = Choice(random.IntN(3))
		}
	}
	return a
}

// drawDurations draws how long the patient has had some of what they report,
// from a minute to five years.
func (w *world) drawDurations(a answers, random *rand.Rand) {
	w.lasted = map[int]time.Duration{}
	for i := range w.nodes {
		if a[i] == Present && random.IntN(2) == 0 {
			w.lasted[i] = time.Duration(math.Exp(15*random.Float64()) * float64(time.Minute))
		}
	}
}

// evidence is the answers as a client sends them, in random order.
func (w *world) evidence(a answers, random *rand.Rand) []ReportedEvidence {
	var list []ReportedEvidence
	for i := range len(w.nodes) + worldRisks {
		choice, ok := a[i]
		if !ok {
			continue
		}
		id := fmt.Sprintf("p_%d", i-len(w.nodes)+1)
		if i < len(w.nodes) {
			id = w.nodes[i].id
		}
		list = append(list, ReportedEvidence{ID: id, Choice: choice, Duration: w.lasted[i]})
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
