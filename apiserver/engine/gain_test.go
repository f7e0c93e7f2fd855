// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
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
		s.findSuspects()
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
	s.findSuspects()
	s.collectVotes()
	s.findCompleting()
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

// expected is how much the answer to a root symptom is expected to tell about
// each condition, summed: exactly, by enumeration of the world.
func (w *world) expected(a answers, node int) float64 {
	before := w.posterior(a)
	yes := answers{node: Present}
	no := answers{node: Absent}
	for k, v := range a {
		yes[k], no[k] = v, v
	}
	chance := w.evidenceLikelihood(yes) / w.evidenceLikelihood(a)
	after := [2][]float64{w.posterior(yes), w.posterior(no)}
	gain := 0.0
	for c, p := range before {
		gain += model.BinaryEntropy(p) - chance*model.BinaryEntropy(after[0][c]) - (1-chance)*model.BinaryEntropy(after[1][c])
	}
	return gain
}

// evidenceLikelihood is how likely the answers are.
func (w *world) evidenceLikelihood(a answers) float64 {
	all := 0.0
	for set := range 1 << len(w.priors) {
		weight := 1.0
		for c := range w.priors {
			prior := w.odds(c, a) / (1 + w.odds(c, a))
			if set>>c&1 == 0 {
				prior = 1 - prior
			}
			weight *= prior
		}
		for _, family := range w.families() {
			weight *= w.likelihood(family, set, a)
		}
		all += weight
	}
	return all
}

// TestChoiceIsCloseToTheBestByExpectedInformation enumerates small worlds: the
// question that the approximation chooses tells, exactly reckoned, nearly as
// much as the best one would.
func TestChoiceIsCloseToTheBestByExpectedInformation(t *testing.T) {
	t.Parallel()
	e := New()
	chosen, best, n := 0.0, 0.0, 0
	for seed := range uint64(250) {
		random := rand.New(rand.NewPCG(seed, 5))
		w := newFlatWorld(t, random)
		complaint := random.IntN(len(w.nodes))
		a := answers{complaint: Present}
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		q := e.Assess(w.release, p, Options{}).Question
		if q == nil {
			continue
		}
		most := 0.0
		for node := range w.nodes {
			if node != complaint {
				most = max(most, w.expected(a, node))
			}
		}
		got := w.expected(a, int(q.Items[0]))
		chosen, best, n = chosen+got, best+most, n+1
	}
	if n < 200 {
		t.Fatalf("only %d worlds had a question", n)
	}
	t.Logf("over %d worlds the choice tells %.1f %% of what the best question would", n, 100*chosen/best)
	if chosen < 0.93*best {
		t.Errorf("the choice tells %.4f nats on average, the best %.4f", chosen/float64(n), best/float64(n))
	}
}

// newFlatWorld is a world of rare conditions and roots without families.
func newFlatWorld(t modeltest.TB, random *rand.Rand) *world {
	w := &world{}
	for range 3 + random.IntN(4) {
		w.priors = append(w.priors, 0.002+0.02*random.Float64())
	}
	for range 6 {
		w.addNode(none, none, w.drawChances(random, 0.1, 0.9, 0.005, 0.05))
	}
	w.release = w.build(t)
	return w
}
