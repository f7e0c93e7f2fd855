// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"pgregory.net/rapid"
)

// TestGainKnownValues compares the gain of a question with the definition of mutual
// information.
func TestGainKnownValues(t *testing.T) {
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
	if got := mutualInformation(chances, answers); math.Abs(got-want) > 1e-15 {
		t.Errorf("gain %v, by definition %v", got, want)
	}
}

// TestGainBoundIsUpperBound guards against skipping a question with a higher gain.
func TestGainBoundIsUpperBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "suspects")
		chances := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "chances")
		answers := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "answers")
		total := rapid.Float64Range(1, 3).Draw(t, "total")
		for i := range chances {
			chances[i] /= float64(n) * total
		}
		gain, bound := mutualInformation(chances, answers), gainBound(chances, answers)
		if gain > bound+1e-12 {
			t.Fatalf("gain %v above its bound %v", gain, bound)
		}
		if gain < -1e-12 {
			t.Fatalf("gain %v is negative", gain)
		}
	})
}

// TestTallyMatchesMutualInformation compares the tallies of a root with the gain
// computed over all suspects one by one.
func TestTallyMatchesMutualInformation(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	for _, p := range workload(t, r, 20, 4) {
		s := e.getScratch(r, &p)
		s.infer()
		s.findSuspects(s.suspected, suspectFloor)
		s.tallySuspects()
		for i, voted := range s.hasTally {
			o := &r.Observations[i]
			if !voted || o.Parent != model.None {
				continue
			}
			s.fillAnswers(model.ObservationIndex(i))
			want, got := mutualInformation(s.suspectProbabilities, s.answerProbabilities), s.tallies[i].gain(o.Leak)
			if math.Abs(want-got) > 1e-12 {
				t.Fatalf("observation %d: gain %v, one by one %v", i, got, want)
			}
			if bound := s.tallies[i].gainBound(o.Leak); bound < got-1e-12 {
				t.Fatalf("observation %d: bound %v below gain %v", i, bound, got)
			}
		}
		e.putScratch(s)
	}
}

// TestExclusiveItemGainsAddUp expects the gains of the items, each given that no
// earlier one was chosen, to add up to the gain of the whole answer.
func TestExclusiveItemGainsAddUp(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.03).
		Symptom("s_1", 0.05).
		Child("s_2", "s_1", model.CharacterRelation, 0.01).Child("s_3", "s_1", model.CharacterRelation, 0.01).Child("s_4", "s_1", model.CharacterRelation, 0.01).
		Group(model.GroupSingle, "s_2", "s_3", "s_4").
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.6).
		Link("c_1", "s_2", 0.5).Link("c_1", "s_3", 0.2).Link("c_2", "s_3", 0.1).Link("c_2", "s_4", 0.4).
		Build(t)
	p, e := newFemalePatient(t, r, "s_1!"), New()
	s := e.getScratch(r, &p)
	defer e.putScratch(s)
	s.infer()
	s.findSuspects(s.suspected, suspectFloor)
	s.tallySuspects()
	c := s.groupCandidate(0)
	s.computeGain(&c)

	// The answer is one of four: an item, or none of them.
	yes := make([]float64, 4)
	whole := 0.0
	var byItem [4][]float64
	none := make([]float64, len(s.suspectProbabilities))
	for i := range none {
		none[i] = 1
	}
	for k, item := range s.groupItems(0) {
		s.fillAnswers(item)
		byItem[k] = append([]float64(nil), s.answerProbabilities...)
		for i, a := range s.answerProbabilities {
			none[i] -= a
		}
	}
	byItem[3] = none
	for k := range byItem {
		for i, a := range byItem[k] {
			yes[k] += s.suspectProbabilities[i] * a
		}
		for i, a := range byItem[k] {
			whole += s.suspectProbabilities[i] * a * math.Log(a/yes[k])
		}
	}
	if math.Abs(c.gain-whole) > 1e-12 {
		t.Errorf("gain of the group %v, of the answer as a whole %v", c.gain, whole)
	}
	if c.maxGain < c.gain {
		t.Errorf("bound %v below gain %v", c.maxGain, c.gain)
	}
}

// TestGroupEstimateSumsItems compares the candidate for a multiple-choice group with
// the candidates for its single items.
func TestGroupEstimateSumsItems(t *testing.T) {
	t.Parallel()
	r, e, groups := contentRelease(t), New(), 0
	for _, p := range workload(t, r, 20, 4) {
		s := e.getScratch(r, &p)
		s.assess(Options{})
		for _, c := range slices.Clone(s.candidates) {
			if c.group == model.None || r.Groups[c.group].Type != model.GroupMultiple {
				continue
			}
			groups++
			var want estimate
			for _, item := range s.groupItems(c.group) {
				if !s.isAskable(item) || s.isUninformative(item) {
					continue
				}
				alone := s.singleCandidate(item)
				want.maxGain, want.danger = want.maxGain+alone.maxGain, want.danger+alone.danger
				want.childDanger, want.inherentEmergency = max(want.childDanger, alone.childDanger), max(want.inherentEmergency, alone.inherentEmergency)
			}
			if c.estimate != want {
				t.Fatalf("group %d promises %+v, its items %+v", c.group, c.estimate, want)
			}
		}
		e.putScratch(s)
	}
	if groups == 0 {
		t.Fatal("no group to ask")
	}
}

// TestAskedCandidateHasValue also covers questions that are asked for their danger.
func TestAskedCandidateHasValue(t *testing.T) {
	t.Parallel()
	r, e, urgent := syntheticRelease(t), New(), 0
	for _, p := range workload(t, r, 100, 2) {
		s := e.getScratch(r, &p)
		s.infer()
		next, ask, _ := s.nextQuestion(Options{})
		if again := next; ask {
			if s.computeValue(&again, Options{}); next != again {
				t.Fatalf("asked as %+v, weighed %+v", next, again)
			}
			if next.urgent {
				urgent++
			}
		}
		e.putScratch(s)
	}
	if urgent == 0 {
		t.Fatal("no red flag was asked")
	}
}

// A questionOption is a question about a reference model: its items and its possible
// answers, exactly one of which is true.
type questionOption struct {
	items    []int
	outcomes []answers
}

// questionOptions returns the questions that can be asked once some symptoms are
// known.
func (m *referenceModel) questionOptions(a answers) []questionOption {
	var list []questionOption
	for i, n := range m.nodes {
		if _, known := a[i]; !known && n.linked && n.group == none && (n.parent == none || a[n.parent] == Present) {
			list = append(list, questionOption{[]int{i}, []answers{{i: Present}, {i: Absent}}})
		}
	}
	for _, g := range m.groups {
		if parent := m.nodes[g.items[0]].parent; parent == none || a[parent] == Present {
			list = append(list, questionOption{g.items, g.outcomes()})
		}
	}
	return list
}

// outcomes returns all possible answers to a group: at most one item present in a
// single-choice group, any subset in a multiple-choice group.
func (g *referenceGroup) outcomes() []answers {
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

// expectedGain returns the expected information of the answer about each condition,
// summed, computed exactly by enumeration.
func (m *referenceModel) expectedGain(a answers, q questionOption) float64 {
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
		with, all := m.enumerate(more)
		after += all * entropy(with, all)
		total += all
	}
	return entropy(m.enumerate(a)) - after/total
}

// TestChosenQuestionIsNearOptimal enumerates small models: the exact gain of the
// question that the approximation chooses is nearly as high as the gain of the best
// one. This includes children and groups, and known answers.
func TestChosenQuestionIsNearOptimal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		draw   func(modeltest.TB, *rand.Rand) *referenceModel
		worlds uint64
		least  float64
	}{
		"roots":               {newFlatReferenceModel, 80, 0.95},
		"children and groups": {newBranchedReferenceModel, 50, 0.95},
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
				t.Errorf("the chosen question has a mean gain of %.4f nats, the best question %.4f", chosen/float64(n), best/float64(n))
			}
		})
	}
}

// drawComplaint draws a root that is present and possibly another that is absent.
func (m *referenceModel) drawComplaint(random *rand.Rand) answers {
	var roots []int
	for i, n := range m.nodes {
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

// ask returns the question that the engine chooses.
func (m *referenceModel) ask(t testing.TB, a answers, random *rand.Rand) *Question {
	p, err := NewPatient(m.release, model.Female, 400, m.evidence(a, random))
	if err != nil {
		t.Fatal(err)
	}
	return New().Assess(m.release, p, Options{}).Question
}

// compare returns the gain of a question and of the best one.
func (m *referenceModel) compare(t testing.TB, a answers, q *Question) (got, most float64) {
	got = -1
	for _, inquiry := range m.questionOptions(a) {
		gain := m.expectedGain(a, inquiry)
		most = max(most, gain)
		if m.nodes[inquiry.items[0]].id == m.release.ObservationID(q.Items[0]) {
			got = gain
		}
	}
	if got < 0 {
		t.Fatalf("%+v is not a possible question after %v", q, a)
	}
	return got, most
}

// newFlatReferenceModel returns a model of rare conditions and roots without families.
func newFlatReferenceModel(t modeltest.TB, random *rand.Rand) *referenceModel {
	w := newRareReferenceModel(random)
	for range 6 {
		w.addNode(none, none, w.drawProbabilities(random, 0.1, 0.9, 0.005, 0.05))
	}
	w.release = w.build(t)
	return w
}

// newBranchedReferenceModel returns a model of rare conditions and roots, most of
// which have a child, an exclusive group, or a multiple-choice group.
func newBranchedReferenceModel(t modeltest.TB, random *rand.Rand) *referenceModel {
	w := newRareReferenceModel(random)
	for i := range 4 {
		root := w.addNode(none, none, w.drawProbabilities(random, 0.1, 0.9, 0.005, 0.05))
		switch i {
		case 0:
			w.drawItems(random, root, false)
		case 1:
			w.groups = append(w.groups, referenceGroup{})
			for range 3 {
				item := w.addNode(root, len(w.groups)-1, w.scaledActivation(random, root, 0.9))
				w.groups[len(w.groups)-1].items = append(w.groups[len(w.groups)-1].items, item)
			}
		default:
			w.addNode(root, none, w.scaledActivation(random, root, 0.9))
		}
	}
	w.release = w.build(t)
	return w
}

// newRareReferenceModel returns a model with conditions, but without symptoms.
func newRareReferenceModel(random *rand.Rand) *referenceModel {
	w := &referenceModel{}
	for range 3 + random.IntN(4) {
		w.priors = append(w.priors, 0.002+0.02*random.Float64())
	}
	return w
}
