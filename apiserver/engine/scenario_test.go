// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"pgregory.net/rapid"
)

// TestScenariosExcludeEachOtherAndLeaveNothingOut: of all sets of contenders,
// each agrees with the suppositions of one scenario.
func TestScenariosExcludeEachOtherAndLeaveNothingOut(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	random := rand.New(rand.NewPCG(24, 24))
	n := &scratchFor(t, r, commonPatient(t, r, 12, random)).network
	if len(n.scenarios.list) < 2 {
		t.Fatal("nothing was split")
	}
	for range 200 {
		there := make([]bool, len(n.contenders))
		for c := range there {
			there[c] = random.IntN(2) == 0
		}
		if agreeing := n.scenarios.agreeing(there); agreeing != 1 {
			t.Fatalf("%d scenarios agree with a set of contenders", agreeing)
		}
	}
	sum := 0.0
	for _, weight := range n.scenarios.weights {
		sum += weight
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the weights add up to %v", sum)
	}
}

// agreeing is how many scenarios suppose nothing else than what is there.
func (sc *scenarios) agreeing(contenderThere []bool) (count int) {
	for _, s := range sc.list {
		against := func(x supposition) bool { return contenderThere[x.contender] != (x.stance == there) }
		if !slices.ContainsFunc(sc.suppositions[s.from:s.to], against) {
			count++
		}
	}
	return count
}

// TestScenariosOfEveryCondition: when all contenders in several places are
// supposed to be there or not, messages have no loop left to err in.
func TestScenariosOfEveryCondition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 25))
	w := &world{priors: []float64{0.02, 0.03, 0.01, 0.04, 0.02, 0.05}}
	a := answers{}
	for len(a) < 12 {
		a[w.addNode(none, none, w.drawChances(random, 0.2, 0.9, 0.01, 0.1))] = Present
	}
	w.release = w.build(t)
	s := scratchFor(t, w.release, w.evidence(a, random))
	n := &s.network
	sc := &n.scenarios
	sc.list, sc.suppositions, sc.odds = sc.list[:0], sc.suppositions[:0], sc.odds[:0]
	for set := range 1 << len(w.priors) {
		from := int32(len(sc.suppositions))
		for c := range w.priors {
			sc.suppositions = append(sc.suppositions, supposition{int32(c), []stance{missing, there}[set>>c&1]})
		}
		sc.list = append(sc.list, scenario{from: from, to: int32(len(sc.suppositions))})
		n.explore(set)
	}
	n.mixScenarios()
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
}

// hostile are patients who report more than any person would.
func hostile(t testing.TB, r *model.Release, random *rand.Rand) map[string][]ReportedEvidence {
	all := []ReportedEvidence{}
	for i := range r.Observations {
		if r.Observations[i].Kind == model.Symptom {
			all = append(all, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(i)), Choice: Present})
		}
	}
	patients := map[string][]ReportedEvidence{"all symptoms": slices.Clone(all), "10 common": commonPatient(t, r, 10, random), "45 common": commonPatient(t, r, 45, random)}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	patients["any 100"] = all[:100]
	return patients
}

// TestNoPatientTakesForever: the work of a ranking ends where it should, give
// or take the two scenarios of a split, and what is kept of it is small.
func TestNoPatientTakesForever(t *testing.T) {
	t.Parallel()
	const keptBytes = 4 << 20
	r := syntheticRelease(t)
	s := &scratch{}
	for name, list := range hostile(t, r, rand.New(rand.NewPCG(26, 26))) {
		p, err := resolvePatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		s.prepare(r, &p)
		s.infer()
		if s.network.work > rankingWork*5/4 {
			t.Errorf("%s: work %d, should end at %d", name, s.network.work, rankingWork)
		}
		for c, probability := range s.posterior {
			if !(probability >= 0 && probability <= 1) {
				t.Fatalf("%s: %s has probability %v", name, r.ConditionID(model.ConditionIndex(c)), probability)
			}
		}
		s.trim()
		if kept := memoryOf(reflect.ValueOf(*s)); kept > keptBytes {
			t.Errorf("%s: %d bytes kept", name, kept)
		}
	}
}

// memoryOf is how much memory the slices of a structure hold.
func memoryOf(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.Slice:
		bytes = v.Cap() * int(v.Type().Elem().Size())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += memoryOf(v.Field(i))
		}
	}
	return bytes
}

// TestManyFindingsKeepTheirPromises: for any patient with more findings than
// one lattice holds, probabilities are probabilities, nothing hangs on the
// order of the evidence, and the same patient has the same ranking again, to
// the last bit, whoever was ranked in between.
func TestManyFindingsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	r, used := modeltest.Synthetic(modeltest.Size{Conditions: 40, Observations: 200, Links: 800}, modeltest.Seed).Build(t), New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "patient"), 27))
		symptoms := random.Perm(len(r.Observations))[:rapid.IntRange(11, 30).Draw(t, "findings")]
		var list []ReportedEvidence
		for _, o := range symptoms {
			list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(o)), Choice: []Choice{Present, Present, Present, Absent}[random.IntN(4)]})
		}
		p, err := NewPatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		first := infer(New(), r, p)
		for c, probability := range first {
			if !(probability >= 0 && probability <= 1) {
				t.Fatalf("%s has probability %v", r.ConditionID(model.ConditionIndex(c)), probability)
			}
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		q, err := NewPatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		if again := infer(used, r, q); !slices.Equal(first, again) {
			t.Fatal("not the same again")
		}
	})
}

// TestOneFindingMore: a finding that nobody competes for leaves all others
// where ten findings had them, though they are explained another way.
func TestOneFindingMore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 28))
		b := modeltest.New()
		list := addPart(b, 0, 25, 10, random)
		b.Condition("c_999", 0.01).Condition("c_998", 0.02).
			Symptom("s_998", 0.999).Link("c_998", "s_998", 0.9995). // almost certain
			Symptom("s_999", 0.05).Link("c_999", "s_999", 0.6)      // without rivals
		r := b.Build(t)
		want := scratchFor(t, r, list).posterior
		for _, more := range []string{"s_998", "s_999"} {
			s := scratchFor(t, r, append(slices.Clone(list), ReportedEvidence{ID: more, Choice: Present}))
			if len(s.network.families) < 2 {
				t.Fatal("explained in one lattice")
			}
			if at, apart := furthest(s.posterior[:25], want[:25]); apart > tolerance {
				t.Errorf("world %d with %s: %s has %.4f, without it %.4f", seed, more, r.ConditionID(model.ConditionIndex(at)), s.posterior[at], want[at])
			}
		}
	}
}
