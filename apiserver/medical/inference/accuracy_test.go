// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// maxError is the maximum error of a probability where the exact method is replaced by
// an approximation.
const maxError = 0.01

// checkAgreement compares the ranking of a patient with exact probabilities.
func checkAgreement(t *testing.T, name string, r *model.Release, list []ReportedEvidence, want []float64, noneProb float64) {
	t.Helper()
	s := scratchFor(t, r, list)
	if at, apart := maxDifference(s.posterior[:len(want)], want); apart > maxError {
		t.Errorf("%s: probability of %s is %.4f, want %.4f", name, r.ConditionID(model.ConditionIndex(at)), s.posterior[at], want[at])
	}
	if math.Abs(s.noneProbability-noneProb) > maxError {
		t.Errorf("%s: probability of no condition is %.4f, want %.4f", name, s.noneProbability, noneProb)
	}
}

// TestPosteriorMatchesExactMethod uses patients of a model that is small enough for
// the exact method.
func TestPosteriorMatchesExactMethod(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.Size{Conditions: 50, Observations: 300, Links: 1500}, modeltest.Seed).Build(t)
	for tips, count := range map[int]int{11: 6, 12: 6, 14: 3, 16: 1} {
		t.Run(fmt.Sprintf("tips=%d", tips), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(tips), 22))
			for i := range count {
				list := drawExplainedPatient(t, r, 1+i%3, tips, random)
				p, err := NewPatient(r, model.Female, 480, list)
				if err != nil {
					t.Fatal(err)
				}
				want, noneProb := exactPosterior(r, p)
				checkAgreement(t, fmt.Sprintf("patient %d", i), r, list, want, noneProb)
			}
		})
	}
}

// TestPosteriorMatchesEnumerationForManyFindings uses models in which few conditions
// compete for all findings.
func TestPosteriorMatchesEnumerationForManyFindings(t *testing.T) {
	t.Parallel()
	for _, findings := range []int{11, 15, 18, 25, 35, 45} {
		random := rand.New(rand.NewPCG(uint64(findings), 23))
		w := &referenceModel{}
		for range 9 {
			w.priors = append(w.priors, 0.001+0.05*random.Float64())
		}
		a := answers{}
		for len(a) < findings {
			probabilities := w.drawProbabilities(random, 0.05, 0.9, 0.005, 0.2)
			for c := range w.priors {
				if random.IntN(2) == 0 {
					probabilities[c] = 0
				}
			}
			a[w.addNode(none, none, probabilities)] = Present
		}
		w.release = w.build(t)
		with, all := w.enumerate(a)
		for c := range with {
			with[c] /= all
		}
		checkAgreement(t, fmt.Sprintf("%d findings", findings), w.release, w.evidence(a, random), with, w.noneProbability(a)/all)
	}
}

// noneProbability returns the joint probability of the answers and of no condition
// that causes a positive one. Unasked observations are ignored.
func (m *referenceModel) noneProbability(a answers) float64 {
	likelihood := 1.0
	for c := range m.priors {
		for node, choice := range a {
			if choice == Present && m.nodes[node].activation[c] > 0 {
				likelihood *= 1 - m.priors[c]
				break
			}
		}
	}
	for _, family := range m.families() {
		likelihood *= m.likelihood(family, 0, a)
	}
	return likelihood
}

// TestIndependentPartsDoNotInteract expects the exact probabilities of independent
// parts to hold for their combination.
func TestIndependentPartsDoNotInteract(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ parts, tips int }{{2, 9}, {2, 12}, {3, 12}, {3, 15}} {
		t.Run(fmt.Sprintf("%dx%d", test.parts, test.tips), func(t *testing.T) {
			t.Parallel()
			const conditions = 25
			random := rand.New(rand.NewPCG(uint64(test.parts), uint64(test.tips)))
			b := modeltest.New()
			parts := make([][]ReportedEvidence, test.parts)
			for part := range parts {
				parts[part] = addPart(b, part, conditions, test.tips, random)
			}
			r := b.Build(t)
			want, noneProb := make([]float64, len(r.Conditions)), 1.0
			for part, list := range parts {
				p, err := NewPatient(r, model.Female, 480, list)
				if err != nil {
					t.Fatal(err)
				}
				exact, alone := exactPosterior(r, p)
				copy(want[part*conditions:], exact[part*conditions:(part+1)*conditions])
				noneProb *= alone
			}
			checkAgreement(t, "all parts", r, slices.Concat(parts...), want, noneProb)
		})
	}
}

// addPart adds conditions and symptoms that are unrelated to other parts, and reports
// the symptoms, most of which the first condition may have caused.
func addPart(b *modeltest.Builder, part, conditions, symptoms int, random *rand.Rand) (list []ReportedEvidence) {
	id := func(kind string, number int) string { return fmt.Sprintf("%s_%d", kind, 1+100*part+number) }
	for i := range symptoms {
		b.Symptom(id("s", i), 0.01+0.1*random.Float64())
		list = append(list, ReportedEvidence{ID: id("s", i), Choice: Present})
	}
	for c := range conditions {
		b.Condition(id("c", c), 0.0005+0.02*random.Float64()*random.Float64())
		linkedCount := 4
		if c == 0 {
			linkedCount = symptoms * 4 / 5
		}
		for _, symptom := range random.Perm(symptoms)[:linkedCount] {
			b.Link(id("c", c), id("s", symptom), 0.15+0.7*random.Float64())
		}
	}
	return list
}

// exactFile contains patients of the synthetic model of the size of a full catalog,
// with the results of the exact method, which takes minutes to compute them.
const exactFile = "exact.txt"

// minRecordedProbability is the probability from which a condition is recorded in
// exactFile.
const minRecordedProbability = 0.002

// TestPosteriorMatchesExactMethodOnFullCatalog compares the ranking of the patients in
// exactFile. With -update it draws new patients.
func TestPosteriorMatchesExactMethodOnFullCatalog(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	path := filepath.Join("testdata", exactFile)
	if *updateGolden {
		if err := os.WriteFile(path, []byte(exactLines(t, r)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		name, reported, _ := strings.Cut(lines.Text(), ": ")
		lines.Scan()
		want, noneProb := make([]float64, len(r.Conditions)), 0.0
		fields := strings.Fields(lines.Text())
		for i := 0; i+1 < len(fields); i += 2 {
			probability, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := r.ConditionByID(fields[i]); ok {
				want[c] = probability
			} else {
				noneProb = probability
			}
		}
		checkAgreement(t, name, r, parseEvidence(reported), want, noneProb)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// exactLines draws patients and returns a line with the evidence of each and one with
// the exact probabilities.
func exactLines(t *testing.T, r *model.Release) string {
	t.Helper()
	var b strings.Builder
	for _, draw := range []struct{ tips, count int }{{12, 2}, {16, 2}, {20, 1}} {
		for conditions := range 4 {
			random := rand.New(rand.NewPCG(uint64(draw.tips), uint64(conditions)))
			for i := range draw.count {
				list := drawCommonPatient(t, r, draw.tips, random)
				if conditions > 0 {
					list = drawExplainedPatient(t, r, conditions, draw.tips, random)
				}
				fmt.Fprintf(&b, "patient %d of %d conditions with %d tips:", i, conditions, draw.tips)
				for _, e := range list {
					fmt.Fprintf(&b, " %s", e.ID)
				}
				p, err := NewPatient(r, model.Female, 480, list)
				if err != nil {
					t.Fatal(err)
				}
				exact, noneProb := exactPosterior(r, p)
				fmt.Fprintf(&b, "\nnobody %.4f", noneProb)
				for c, probability := range exact {
					if probability >= minRecordedProbability {
						fmt.Fprintf(&b, " %s %.4f", r.ConditionID(model.ConditionIndex(c)), probability)
					}
				}
				fmt.Fprintln(&b)
			}
		}
	}
	return b.String()
}

// TestExplanationMatchesExactMethod expects the support of a finding to match the
// exact method, although the rankings of an explanation share the work limit of one.
func TestExplanationMatchesExactMethod(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.Size{Conditions: 50, Observations: 300, Links: 1500}, modeltest.Seed).Build(t)
	random := rand.New(rand.NewPCG(32, 32))
	for i := range 3 {
		list := drawExplainedPatient(t, r, 1+i, 12, random)
		p, err := NewPatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		target := New().Assess(r, p, Options{}).Conditions[0].Condition
		exact, _ := exactPosterior(r, p)
		s := New().getScratch(r, &p)
		for _, support := range p.findSupports(s, Options{}, []model.ConditionIndex{target})[0] {
			without := p.without(r, support.observation)
			less, _ := exactPosterior(r, without)
			if want := exact[target] - less[target]; math.Abs(support.drop-want) > maxError {
				t.Errorf("patient %d: %s owes %.4f to %s, exactly %.4f", i, r.ConditionID(target), support.drop, r.ObservationID(support.observation), want)
			}
		}
	}
}

// TestExplanationWorkIsBounded expects a ranking without remaining work to make no
// assumptions.
func TestExplanationWorkIsBounded(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	p, err := NewPatient(r, model.Female, 480, drawCommonPatient(t, r, 45, rand.New(rand.NewPCG(33, 33))))
	if err != nil {
		t.Fatal(err)
	}
	s := New().getScratch(r, &p)
	s.rankWithBudget(maxExplanationWork/100, &p)
	if scenarios := len(s.network.scenarios.list); scenarios > 1 {
		t.Errorf("%d scenarios", scenarios)
	}
	if s.network.work > maxRankingWork/20 {
		t.Errorf("work %d, the total limit is %d", s.network.work, maxRankingWork)
	}
}

// TestRationaleWorkIsBounded expects that neither an answer nor the ranking it is
// compared with exceeds its share of the work limit of one ranking.
func TestRationaleWorkIsBounded(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	p, err := NewPatient(r, model.Female, 480, drawCommonPatient(t, r, 45, rand.New(rand.NewPCG(33, 33))))
	if err != nil {
		t.Fatal(err)
	}
	s := New().getScratch(r, &p)
	s.infer()
	if s.network.work < maxRationaleWork/2 {
		t.Fatalf("work is %d for a simple patient", s.network.work)
	}
	trial := s.newTrial(100)
	for _, choice := range []Choice{Unknown, Absent, Present} { // Unknown is the ranking before the answer
		if choice != Unknown {
			trial.posteriorAfter(choice, unknownObservation(t, s))
		}
		if s.network.work > maxRankingWork/20 {
			t.Errorf("%v: work %d, the total limit is %d", choice, s.network.work, maxRankingWork)
		}
	}
}

// unknownObservation returns an observation that is unknown for the patient.
func unknownObservation(t *testing.T, s *scratch) model.ObservationIndex {
	t.Helper()
	o := slices.Index(s.state, stateUnknown)
	if o < 0 {
		t.Fatal("everything is known")
	}
	return model.ObservationIndex(o)
}
