// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"pgregory.net/rapid"
)

// TestScenariosFormPartition expects each set of contenders to match the assumptions
// of exactly one scenario.
func TestScenariosFormPartition(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	random := rand.New(rand.NewPCG(24, 24))
	n := &scratchFor(t, r, drawCommonPatient(t, r, 12, random)).network
	if len(n.scenarios.list) < 2 {
		t.Fatal("no scenario was split")
	}
	for range 200 {
		there := make([]bool, len(n.contenders))
		for c := range there {
			there[c] = random.IntN(2) == 0
		}
		if agreeing := n.scenarios.countMatching(there); agreeing != 1 {
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

// countMatching returns the number of scenarios whose assumptions match the given
// contenders.
func (sc *scenarios) countMatching(contenderThere []bool) (count int) {
	for _, s := range sc.list {
		against := func(x assumption) bool { return contenderThere[x.contender] != (x.clamp == clampedPresent) }
		if !slices.ContainsFunc(sc.assumptions[s.from:s.to], against) {
			count++
		}
	}
	return count
}

// TestScenariosSplitOnEveryCondition clamps all contenders with several memberships,
// which leaves no loops that make messages inexact.
func TestScenariosSplitOnEveryCondition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 25))
	w := &referenceModel{priors: []float64{0.02, 0.03, 0.01, 0.04, 0.02, 0.05}}
	a := answers{}
	for len(a) < 12 {
		a[w.addNode(none, none, w.drawProbabilities(random, 0.2, 0.9, 0.01, 0.1))] = Present
	}
	w.release = w.build(t)
	s := scratchFor(t, w.release, w.evidence(a, random))
	n := &s.network
	sc := &n.scenarios
	sc.list, sc.assumptions, sc.odds = sc.list[:0], sc.assumptions[:0], sc.odds[:0]
	for set := range 1 << len(w.priors) {
		from := int32(len(sc.assumptions))
		for c := range w.priors {
			sc.assumptions = append(sc.assumptions, assumption{int32(c), []clamp{clampedAbsent, clampedPresent}[set>>c&1]})
		}
		sc.list = append(sc.list, scenario{from: from, to: int32(len(sc.assumptions))})
		n.evaluateScenario(set)
	}
	n.averageScenarios()
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
}

// adversarialEvidence returns patients who report more than any person would.
func adversarialEvidence(t testing.TB, r *model.Release, random *rand.Rand) map[string][]ReportedEvidence {
	all := []ReportedEvidence{}
	for i := range r.Observations {
		if r.Observations[i].Kind == model.Symptom {
			all = append(all, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(i)), Choice: Present})
		}
	}
	patients := map[string][]ReportedEvidence{"all symptoms": slices.Clone(all), "10 common": drawCommonPatient(t, r, 10, random), "45 common": drawCommonPatient(t, r, 45, random)}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	patients["any 100"] = all[:100]
	return patients
}

// TestRankingWorkIsBounded expects the work of a ranking to stay within its limit,
// apart from the two scenarios of a split, and the pooled memory to be small.
func TestRankingWorkIsBounded(t *testing.T) {
	t.Parallel()
	const keptBytes = 4 << 20
	r := syntheticRelease(t)
	s := &scratch{}
	for name, list := range adversarialEvidence(t, r, rand.New(rand.NewPCG(26, 26))) {
		p, err := resolvePatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		s.reset(r, &p)
		s.infer()
		if s.network.work > maxRankingWork*5/4 {
			t.Errorf("%s: work is %d, want at most about %d", name, s.network.work, maxRankingWork)
		}
		for c, probability := range s.posterior {
			if !(probability >= 0 && probability <= 1) {
				t.Fatalf("%s: %s has probability %v", name, r.ConditionID(model.ConditionIndex(c)), probability)
			}
		}
		s.trim()
		if kept := sliceBytes(reflect.ValueOf(*s)); kept > keptBytes {
			t.Errorf("%s: %d bytes kept", name, kept)
		}
	}
}

// sliceBytes returns the memory that the slices of a struct hold.
func sliceBytes(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.Slice:
		bytes = v.Cap() * int(v.Type().Elem().Size())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += sliceBytes(v.Field(i))
		}
	}
	return bytes
}

// TestManyFindingsInvariants covers patients with more findings than one lattice
// holds: probabilities are in range, the order of the evidence does not matter, and
// ranking the same patient again yields bit-identical results, whatever was ranked in
// between.
func TestManyFindingsInvariants(t *testing.T) {
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

// TestAdditionalFinding expects a finding without competing causes to leave the
// results for ten other findings unchanged, although they are computed in another way.
func TestAdditionalFinding(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 28))
		b := modeltest.New()
		list := addPart(b, 0, 25, 10, random)
		b.Condition("c_999", 0.01).Condition("c_998", 0.02).
			Symptom("s_998", 0.999).Link("c_998", "s_998", 0.9995). // almost certain
			Symptom("s_999", 0.05).Link("c_999", "s_999", 0.6)      // no competing causes
		r := b.Build(t)
		want := scratchFor(t, r, list).posterior
		for _, more := range []string{"s_998", "s_999"} {
			s := scratchFor(t, r, append(slices.Clone(list), ReportedEvidence{ID: more, Choice: Present}))
			if len(s.network.families) < 2 {
				t.Fatal("explained in one lattice")
			}
			if at, apart := maxDifference(s.posterior[:25], want[:25]); apart > maxError {
				t.Errorf("world %d with %s: %s has %.4f, without it %.4f", seed, more, r.ConditionID(model.ConditionIndex(at)), s.posterior[at], want[at])
			}
		}
	}
}
