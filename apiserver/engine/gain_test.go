// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"pgregory.net/rapid"
)

// TestGainByHand compares the gain of a question with what the definition of
// mutual information gives.
func TestGainByHand(t *testing.T) {
	t.Parallel()
	chances, answers := []float64{0.5, 0.3, 0.2}, []float64{0.9, 0.1, 0.05}
	want, yes := 0.0, 0.0
	for i, p := range chances {
		yes += p * answers[i]
	}
	for i, p := range chances {
		want += p * answers[i] * math.Log(answers[i]/yes)
		want += p * (1 - answers[i]) * math.Log((1-answers[i])/(1-yes))
	}
	if got := gain(chances, answers); math.Abs(got-want) > 1e-15 {
		t.Errorf("gain %v, by definition %v", got, want)
	}
}

// TestBoundIsNeverBelowTheGain, or a question that tells more would be passed
// over.
func TestBoundIsNeverBelowTheGain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "suspects")
		chances := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "chances")
		answers := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "answers")
		total := rapid.Float64Range(1, 3).Draw(t, "total")
		for i := range chances {
			chances[i] /= float64(n) * total
		}
		gain, bound := gain(chances, answers), gainBound(chances, answers)
		if gain > bound+1e-12 {
			t.Fatalf("gain %v above its bound %v", gain, bound)
		}
		if gain < -1e-12 {
			t.Fatalf("gain %v is negative", gain)
		}
	})
}

// TestVoteIsTheGainOfAllSuspects compares the sums that are kept for a root
// with the gain over all suspects one by one.
func TestVoteIsTheGainOfAllSuspects(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	for _, p := range workload(t, r, 20, 4) {
		s := e.acquire(r, &p)
		s.infer()
		s.findSuspects(s.suspected, suspectFloor)
		s.collectVotes()
		for i, voted := range s.voted {
			o := &r.Observations[i]
			if !voted || o.Parent != model.None {
				continue
			}
			s.answers(model.ObservationIndex(i))
			want, got := gain(s.chances, s.answer), s.votes[i].gain(o.Leak)
			if math.Abs(want-got) > 1e-12 {
				t.Fatalf("observation %d: gain %v, one by one %v", i, got, want)
			}
			if bound := s.votes[i].bound(o.Leak); bound < got-1e-12 {
				t.Fatalf("observation %d: bound %v below gain %v", i, bound, got)
			}
		}
		e.release(s)
	}
}

// TestExclusiveItemsShareTheGainOfTheirGroup: the gains of the items, each
// given that none before it was chosen, add up to that of the whole answer.
func TestExclusiveItemsShareTheGainOfTheirGroup(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.03).
		Symptom("s_1", 0.05).
		Child("s_2", "s_1", model.Character, 0.01).Child("s_3", "s_1", model.Character, 0.01).Child("s_4", "s_1", model.Character, 0.01).
		Group(model.GroupSingle, "s_2", "s_3", "s_4").
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.6).
		Link("c_1", "s_2", 0.5).Link("c_1", "s_3", 0.2).Link("c_2", "s_3", 0.1).Link("c_2", "s_4", 0.4).
		Build(t)
	p, e := woman(t, r, "s_1!"), New()
	s := e.acquire(r, &p)
	defer e.release(s)
	s.infer()
	s.findSuspects(s.suspected, suspectFloor)
	s.collectVotes()
	c := s.groupCandidate(0)
	s.addGain(&c)

	// The answer is one of four: an item, or none of these.
	yes := make([]float64, 4)
	whole := 0.0
	var byItem [4][]float64
	none := make([]float64, len(s.chances))
	for i := range none {
		none[i] = 1
	}
	for k, item := range s.items(0) {
		s.answers(item)
		byItem[k] = append([]float64(nil), s.answer...)
		for i, a := range s.answer {
			none[i] -= a
		}
	}
	byItem[3] = none
	for k := range byItem {
		for i, a := range byItem[k] {
			yes[k] += s.chances[i] * a
		}
		for i, a := range byItem[k] {
			whole += s.chances[i] * a * math.Log(a/yes[k])
		}
	}
	if math.Abs(c.gain-whole) > 1e-12 {
		t.Errorf("gain of the group %v, of the answer as a whole %v", c.gain, whole)
	}
	if c.bound < c.gain {
		t.Errorf("bound %v below gain %v", c.bound, c.gain)
	}
}

// TestAGroupPromisesWhatItsItemsDo compares the candidate for a group of which
// several items may hold with the candidates for its items, one by one.
func TestAGroupPromisesWhatItsItemsDo(t *testing.T) {
	t.Parallel()
	r, e, groups := real(t), New(), 0
	for _, p := range workload(t, r, 20, 4) {
		s := e.acquire(r, &p)
		s.assess(Options{})
		for _, c := range slices.Clone(s.candidates) {
			if c.group == model.None || r.Groups[c.group].Type != model.GroupMultiple {
				continue
			}
			groups++
			var want prospect
			for _, item := range s.items(c.group) {
				if !s.askable(item) || s.untold(item) {
					continue
				}
				alone := s.single(item)
				want.bound, want.danger = want.bound+alone.bound, want.danger+alone.danger
				want.lead, want.itself = max(want.lead, alone.lead), max(want.itself, alone.itself)
			}
			if c.prospect != want {
				t.Fatalf("group %d promises %+v, its items %+v", c.group, c.prospect, want)
			}
		}
		e.release(s)
	}
	if groups == 0 {
		t.Fatal("no group to ask")
	}
}

// TestWhatIsAskedIsWeighed, also where it is asked for its danger.
func TestWhatIsAskedIsWeighed(t *testing.T) {
	t.Parallel()
	r, e, urgent := syntheticRelease(t), New(), 0
	for _, p := range workload(t, r, 100, 2) {
		s := e.acquire(r, &p)
		s.infer()
		next, ask, _ := s.next(Options{})
		if again := next; ask {
			if s.weigh(&again, Options{}); next != again {
				t.Fatalf("asked as %+v, weighed %+v", next, again)
			}
			if next.urgent {
				urgent++
			}
		}
		e.release(s)
	}
	if urgent == 0 {
		t.Fatal("no red flag was asked")
	}
}

// An inquiry is a question about a world: what it asks and the answers that it
// may get, of which exactly one is true.
type inquiry struct {
	items    []int
	outcomes []answers
}

// inquiries are the questions that can be asked once some symptoms are known.
func (w *world) inquiries(a answers) []inquiry {
	var list []inquiry
	for i, n := range w.nodes {
		if _, known := a[i]; !known && n.linked && n.group == none && (n.parent == none || a[n.parent] == Present) {
			list = append(list, inquiry{[]int{i}, []answers{{i: Present}, {i: Absent}}})
		}
	}
	for _, g := range w.groups {
		if parent := w.nodes[g.items[0]].parent; parent == none || a[parent] == Present {
			list = append(list, inquiry{g.items, g.outcomes()})
		}
	}
	return list
}

// outcomes are the answers to a group: one item or none of them, or any.
func (g *worldGroup) outcomes() []answers {
	var list []answers
	for chosen := range 1 << len(g.items) {
		if g.single && chosen&(chosen-1) != 0 {
			continue // more than one
		}
		outcome := answers{}
		for i, item := range g.items {
			outcome[item] = Absent
			if chosen>>i&1 == 1 {
				outcome[item] = Present
			}
		}
		list = append(list, outcome)
	}
	return list
}

// tells is how much the answer is expected to tell about each condition,
// summed: exactly, by enumeration of the world.
func (w *world) tells(a answers, q inquiry) float64 {
	entropy := func(with []float64, all float64) (sum float64) {
		for _, p := range with {
			sum += model.BinaryEntropy(p / all)
		}
		return sum
	}
	after, total := 0.0, 0.0
	for _, outcome := range q.outcomes {
		more := maps.Clone(a)
		maps.Copy(more, outcome)
		with, all := w.enumerate(more)
		after += all * entropy(with, all)
		total += all
	}
	return entropy(w.enumerate(a)) - after/total
}

// TestChoiceIsCloseToTheBestByExpectedInformation enumerates small worlds: the
// question that the approximation chooses tells, exactly reckoned, nearly as
// much as the best one would. So it does with children and groups, and when
// some answers are known.
func TestChoiceIsCloseToTheBestByExpectedInformation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		draw   func(modeltest.TB, *rand.Rand) *world
		worlds uint64
		least  float64
	}{
		"roots":               {newFlatWorld, 80, 0.95},
		"children and groups": {newBranchedWorld, 50, 0.95},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chosen, best := 0.0, 0.0
			n := 0
			for seed := range test.worlds {
				random := rand.New(rand.NewPCG(seed, 5))
				w := test.draw(t, random)
				a := w.drawComplaint(random)
				if q := w.ask(t, a, random); q != nil {
					got, most := w.compare(t, a, q)
					chosen, best, n = chosen+got, best+most, n+1
				}
			}
			if n < int(test.worlds)*3/4 {
				t.Fatalf("only %d worlds had a question", n)
			}
			t.Logf("over %d worlds the choice tells %.1f %% of what the best question would", n, 100*chosen/best)
			if chosen < test.least*best {
				t.Errorf("the choice tells %.4f nats on average, the best %.4f", chosen/float64(n), best/float64(n))
			}
		})
	}
}

// drawComplaint draws a root that is present and perhaps another that is not.
func (w *world) drawComplaint(random *rand.Rand) answers {
	var roots []int
	for i, n := range w.nodes {
		if n.parent == none && n.group == none {
			roots = append(roots, i)
		}
	}
	random.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
	a := answers{roots[0]: Present}
	if random.IntN(2) == 0 {
		a[roots[1]] = Absent
	}
	return a
}

// ask is the question that the engine chooses.
func (w *world) ask(t testing.TB, a answers, random *rand.Rand) *Question {
	p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
	if err != nil {
		t.Fatal(err)
	}
	return New().Assess(w.release, p, Options{}).Question
}

// compare is what a question tells and what the best one would.
func (w *world) compare(t testing.TB, a answers, q *Question) (got, most float64) {
	got = -1
	for _, inquiry := range w.inquiries(a) {
		told := w.tells(a, inquiry)
		most = max(most, told)
		if w.nodes[inquiry.items[0]].id == w.release.ObservationID(q.Items[0]) {
			got = told
		}
	}
	if got < 0 {
		t.Fatalf("%+v is none of the questions that can be asked after %v", q, a)
	}
	return got, most
}

// newFlatWorld is a world of rare conditions and roots without families.
func newFlatWorld(t modeltest.TB, random *rand.Rand) *world {
	w := newRareWorld(random)
	for range 6 {
		w.addNode(none, none, w.drawChances(random, 0.1, 0.9, 0.005, 0.05))
	}
	w.release = w.build(t)
	return w
}

// newBranchedWorld is one of rare conditions and roots, most of which have a
// child, an exclusive group, or a group of which any items may hold.
func newBranchedWorld(t modeltest.TB, random *rand.Rand) *world {
	w := newRareWorld(random)
	for i := range 4 {
		root := w.addNode(none, none, w.drawChances(random, 0.1, 0.9, 0.005, 0.05))
		switch i {
		case 0:
			w.drawItems(random, root, false)
		case 1:
			w.groups = append(w.groups, worldGroup{})
			for range 3 {
				item := w.addNode(root, len(w.groups)-1, w.scaled(random, root, 0.9))
				w.groups[len(w.groups)-1].items = append(w.groups[len(w.groups)-1].items, item)
			}
		default:
			w.addNode(root, none, w.scaled(random, root, 0.9))
		}
	}
	w.release = w.build(t)
	return w
}

// newRareWorld has conditions and no symptoms yet.
func newRareWorld(random *rand.Rand) *world {
	w := &world{}
	for range 3 + random.IntN(4) {
		w.priors = append(w.priors, 0.002+0.02*random.Float64())
	}
	return w
}
