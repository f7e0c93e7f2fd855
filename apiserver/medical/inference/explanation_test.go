// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newExplanationRelease has a condition that causes findings of every kind, some of
// them with a competing condition, and a condition that is unrelated to all of them.
func newExplanationRelease(t testing.TB) *model.Release {
	return modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.2).
		Symptom("s_1", 0.1).
		Child("s_2", "s_1", model.LocationRelation, 0.02).
		Child("s_3", "s_1", model.CharacterRelation, 0.02).
		Child("s_11", "s_1", model.SeverityRelation, 0.02).
		Child("s_12", "s_1", model.SeverityRelation, 0.02).
		OrderedGroup("s_11", "s_12").
		Symptom("s_21", 0.05).Symptom("s_22", 0.05).Symptom("s_23", 0.05).
		Symptom("s_31", 0.05). // of c_2 only
		Symptom("s_32", 0.05). // protects against c_1
		Symptom("s_33", 0.05, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Symptom("s_41", 0.05).
		RiskFactor("p_1", 0.3).RiskFactor("p_2", 0.3).
		LabResult("lt_1", 0.05, withoutQuestion).
		Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.6).Link("c_1", "s_11", 0.2).Link("c_1", "s_12", 0.5).
		Link("c_1", "s_21", 0.5).Link("c_1", "s_22", 0.9).Link("c_1", "s_23", 0.3).Link("c_1", "s_33", 0.5).
		Link("c_1", "lt_1", 0.95).
		Link("c_2", "s_1", 0.9).Link("c_2", "s_3", 0.6).Link("c_2", "s_31", 0.9).
		Link("c_3", "s_41", 0.9).
		Factor("c_1", "p_1", 3, 0.5).Factor("c_1", "s_32", 0.2, 1.1).Factor("c_2", "p_2", 3, 0.5).
		Build(t)
}

// formatExplanation returns an explanation in short form: supporting, conflicting and
// unconfirmed observations.
func formatExplanation(r *model.Release, x Explanation) string {
	var lists []string
	for _, list := range [][]model.ObservationIndex{x.Supporting, x.Conflicting, x.Unconfirmed} {
		lists = append(lists, strings.Join(observationIDs(r, list), " "))
	}
	return strings.TrimSpace(strings.Join(lists, " | "))
}

func observationIDs(r *model.Release, list []model.ObservationIndex) []string {
	ids := []string{}
	for _, o := range list {
		ids = append(ids, r.ObservationID(o))
	}
	return ids
}

func TestExplainListsRelevantObservations(t *testing.T) {
	t.Parallel()
	r := newExplanationRelease(t)
	for words, want := range map[string]string{
		"s_1 -s_31 -s_21 ?s_22":  "s_1 | s_21 | s_22",
		"s_1 s_21 s_22":          "s_22 s_21 s_1 |  |", // by decreasing effect
		"s_1 s_31 -s_41 s_21":    "s_21 s_1 |  |",      // s_31 supports c_2
		"s_21 s_32 -s_22 -s_41":  "s_21 | s_22 |",      // s_32 is evidence against c_1
		"s_21 -s_32 -s_22 -s_41": "s_21 | s_22 s_32 |", // a factor counts like a link
		"s_21 p_1 -p_2 ?lt_1":    "s_21 p_1 |  | lt_1", // a factor may outweigh it
		"s_21 -p_1 lt_1 s_41":    "lt_1 s_21 | p_1 |",
		"s_21 s_2 -s_22 -s_23":   "s_2 s_21 | s_22 s_23 |",
		"s_21 s_2 s_1 -s_22":     "s_2 s_21 | s_22 |",     // a parent with its child
		"s_21 s_2 -s_1 -s_22":    "s_2 s_21 | s_22 |",     // also a denied parent
		"s_21 s_2 ?s_1 -s_22":    "s_2 s_21 | s_22 |",     // and an unknown one
		"s_21 -s_1 -s_2 -s_23":   "s_21 | s_1 s_2 s_23 |", // each was denied
		"s_21 -s_1 s_22 -s_3":    "s_22 s_21 | s_1 |",     // s_3 supports c_2
		"s_21 s_12 -s_22 -s_23":  "s_12 s_21 | s_22 s_23 |",
		"s_21 s_12 -s_11 -s_22":  "s_12 s_21 | s_11 s_22 |",
		"s_21 s_12 s_11 -s_22":   "s_21 s_12 | s_22 |", // the worse level takes precedence, and the milder one supports too
		"s_21 s_33 -s_22 -s_41":  "s_21 | s_22 |",      // s_33 applies to men only
	} {
		got, ok := New().Explain(r, newFemalePatient(t, r, words), Options{}, 0)
		if !ok {
			t.Fatalf("%q: c_1 is not in the ranking", words)
		}
		if diff := cmp.Diff(strings.TrimSpace(want), formatExplanation(r, got)); diff != "" {
			t.Errorf("%q: %s", words, diff)
		}
	}
}

// TestChildSupportsImpliedParent has a child without a link or factor of c_1, and a
// parent with one. The link counts only if no condition causes the child, because the
// cause of the child also caused the parent. A factor always counts.
func TestChildSupportsImpliedParent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(*modeltest.Builder)
		want string
	}{
		"a link":              {func(b *modeltest.Builder) { b.Link("c_1", "s_1", 0.9) }, "s_2 s_3 |  |"},
		"a link, and a rival": {func(b *modeltest.Builder) { b.Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.5).Link("c_2", "s_2", 0.4) }, "s_3 |  |"},
		"a factor":            {func(b *modeltest.Builder) { b.Factor("c_1", "s_1", 2, 0.9) }, "s_3 s_2 |  |"},
		"a factor, and a rival": {func(b *modeltest.Builder) {
			b.Factor("c_1", "s_1", 2, 0.9).Link("c_2", "s_1", 0.5).Link("c_2", "s_2", 0.4)
		}, "s_3 s_2 |  |"},
		"nothing": {func(b *modeltest.Builder) { b.Link("c_2", "s_1", 0.5) }, "s_3 |  |"},
	} {
		b := modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.05).
			Symptom("s_1", 0.01).Child("s_2", "s_1", model.CharacterRelation, 0.009).Symptom("s_3", 0.05).Symptom("s_4", 0.05).
			Link("c_1", "s_3", 0.9)
		test.edit(b)
		r := b.Build(t)
		x, ok := New().Explain(r, newFemalePatient(t, r, "s_2 s_3 -s_4"), Options{}, 0)
		if got := formatExplanation(r, x); !ok || got != test.want {
			t.Errorf("%s: %v, %q, want %q", name, ok, got, test.want)
		}
	}
}

// TestSupportIncludesDuration has a symptom that has lasted three months. It supports
// the slow condition more than the fast one, and is removed together with its
// duration. An observation implied by the duration is not listed separately.
func TestSupportIncludesDuration(t *testing.T) {
	t.Parallel()
	r := newDurationRelease(t)
	for _, test := range []struct {
		evidence string
		options  Options
		quick    string
		slow     string
	}{
		{"s_1!@2160h s_2 -s_3", withDurations, "s_2 s_1 | s_3 |", "s_1 s_2 | s_3 |"},
		{"s_1!@24h s_2 -s_3", withDurations, "s_1 s_2 | s_3 |", "s_2 s_1 | s_3 |"},
		{"s_4!@24h s_2 -s_3", withDurations, "s_4 s_2 | s_3 |", "s_2 | s_3 |"}, // through the course
		{"s_1!@2160h s_2 -s_3", Options{}, "s_1 s_2 | s_3 |", "s_1 s_2 | s_3 |"},
	} {
		p := newFemalePatient(t, r, test.evidence)
		for c, want := range []string{test.quick, test.slow} {
			x, ok := New().Explain(r, p, test.options, model.ConditionIndex(c))
			if got := formatExplanation(r, x); !ok || got != want {
				t.Errorf("%q, %+v, c_%d: %v, %q, want %q", test.evidence, test.options, c+1, ok, got, want)
			}
		}
	}
}

// TestRelevantEvidenceCount counts present evidence, and other evidence if it is
// related to the target c_1.
func TestRelevantEvidenceCount(t *testing.T) {
	t.Parallel()
	r := newExplanationRelease(t)
	for words, want := range map[string]int{
		"":                 0,
		"s_1 s_31 p_2":     3, // whether or not it is related
		"-s_31 ?s_41 -p_2": 0,
		"-s_21 ?s_22 -p_1": 3,
		"-s_1":             1, // its child is related to the target
		"-s_3 ?s_23":       1,
		"s_33 -s_33":       2, // also evidence that does not apply to a woman, as sent
	} {
		if got := RelevantEvidenceCount(r, parseEvidence(words), 0); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}

func TestExplainRejectsUnrankedCondition(t *testing.T) {
	t.Parallel()
	r, e := newExplanationRelease(t), New()
	for words, want := range map[string]string{
		"":                            "",
		"-s_1 -s_2 -s_21":             "",            // nothing is present
		"s_1":                         "c_1",         // one condition if there are fewer than three observations
		"s_1! -s_21 -s_22":            "c_1 c_2 c_3", // c_3 is likely, although unrelated
		"s_1! -s_21 -s_31 -s_41":      "c_1 c_2",
		"s_21! s_22! lt_1 -s_31 -s_1": "c_1 c_3",
	} {
		p := newFemalePatient(t, r, words)
		var ranked, accepted []string
		for _, entry := range e.Assess(r, p, Options{}).Conditions {
			ranked = append(ranked, r.ConditionID(entry.Condition))
		}
		for c := range r.Conditions {
			if x, ok := e.Explain(r, p, Options{}, model.ConditionIndex(c)); ok {
				accepted = append(accepted, r.ConditionID(model.ConditionIndex(c)))
			} else if x.Supporting != nil || x.Conflicting != nil || x.Unconfirmed != nil {
				t.Errorf("%q: c_%d is not in the ranking and yet explained by %+v", words, c+1, x)
			}
		}
		slices.Sort(ranked)
		if diff := cmp.Diff(ranked, accepted); diff != "" || strings.Join(accepted, " ") != want {
			t.Errorf("%q: accepted %v, ranked %v, want %q", words, accepted, ranked, want)
		}
	}
}

// withoutAnswer returns the answers without one answer and the parents that no other
// answer implies, computed from the reference model, not by the engine.
func (m *referenceModel) withoutAnswer(a answers, node int) answers {
	less := maps.Clone(a)
	if node >= len(m.nodes) { // a risk factor
		delete(less, node)
		return less
	}
	gone := map[int]bool{}
	for n := node; n != none; n = m.nodes[n].parent {
		if n != node && slices.ContainsFunc(m.descendants(n), func(k int) bool { return !gone[k] && a[k] == Present && !m.isOverruledAtOrAbove(k, a) }) {
			break
		}
		gone[n] = true
		delete(less, n)
	}
	return less
}

// descendants returns the nodes below a node.
func (m *referenceModel) descendants(node int) (list []int) {
	for k := range m.nodes {
		for n := m.nodes[k].parent; n != none; n = m.nodes[n].parent {
			if n == node {
				list = append(list, k)
			}
		}
	}
	return list
}

// isOwnFinding reports whether an answer is an independent finding: present, implied
// by no other, and not overruled.
func (m *referenceModel) isOwnFinding(a answers, node int) bool {
	return a[node] == Present && !m.isOverruledAtOrAbove(node, a) && !slices.ContainsFunc(m.descendants(node), func(k int) bool { return a[k] == Present })
}

// TestSupportMatchesEnumeration compares explanations of random models with the
// posterior by enumeration: the supporting observations are exactly the present
// findings of the condition without which it is less likely.
func TestSupportMatchesEnumeration(t *testing.T) {
	t.Parallel()
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "world"), 7))
		w := newReferenceModel(t, random)
		a := w.drawAnswers(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "answers"), 8)))
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		before, without := w.posterior(a), w.posteriorsWithout(a)
		for _, ranked := range e.Assess(w.release, p, Options{}).Conditions {
			c := int(ranked.Condition)
			x, ok := e.Explain(w.release, p, Options{}, ranked.Condition)
			if !ok {
				t.Fatalf("c_%d is in the ranking, and not explained", c+1)
			}
			for o := range w.release.Observations {
				fall, related := 0.0, without[o] != nil && w.isLinkedAtOrBelow(c, o)
				if related {
					fall = before[c] - without[o][c]
				}
				supports := slices.Contains(x.Supporting, model.ObservationIndex(o))
				if supports && (!related || fall <= 0) || !supports && related && fall > 1e-9 {
					t.Fatalf("c_%d: %s supports: %v; related: %v, without it the condition loses %v\nanswers %v\nworld %+v",
						c+1, w.release.ObservationID(model.ObservationIndex(o)), supports, related, fall, a, w)
				}
			}
		}
	})
}

// posteriorsWithout returns, by observation, the posteriors without the finding about
// it, or nil if there is no finding.
func (m *referenceModel) posteriorsWithout(a answers) [][]float64 {
	without := make([][]float64, len(m.release.Observations))
	for o := range without {
		if o < len(m.nodes) && m.isOwnFinding(a, o) || o >= len(m.nodes) && a[o] == Present {
			without[o] = m.posterior(m.withoutAnswer(a, o))
		}
	}
	return without
}

// isLinkedAtOrBelow reports whether a condition causes a node or one of its ancestors,
// or has the risk factor.
func (m *referenceModel) isLinkedAtOrBelow(condition, o int) bool {
	if o >= len(m.nodes) {
		return slices.ContainsFunc(m.factors, func(f referenceFactor) bool { return f.condition == condition && len(m.nodes)+f.risk == o })
	}
	for n := o; n != none; n = m.nodes[n].parent {
		if m.nodes[n].activation[condition] > 0 {
			return true
		}
	}
	return false
}

// checkExplanation checks that every entry was reported with the matching choice, is
// related to the condition, and is in one list only.
func checkExplanation(t *testing.T, r *model.Release, list []ReportedEvidence, c model.ConditionIndex, x Explanation) {
	t.Helper()
	linked := map[model.ObservationIndex]bool{}
	for _, link := range model.Slice(r.LinksByCondition, r.Conditions[c].Links) {
		linked[model.ObservationIndex(link.Other)] = true
	}
	for o := range r.Observations {
		for _, f := range model.Slice(r.Factors, r.Observations[o].Factors) {
			if f.Condition == c {
				linked[model.ObservationIndex(o)] = true
			}
		}
	}
	seen := map[model.ObservationIndex]bool{}
	for choice, entries := range map[Choice][]model.ObservationIndex{Present: x.Supporting, Absent: x.Conflicting, Unknown: x.Unconfirmed} {
		for _, o := range entries {
			if seen[o] {
				t.Errorf("%s is listed twice", r.ObservationID(o))
			}
			seen[o] = true
			if !slices.ContainsFunc(list, func(e ReportedEvidence) bool { return e.ID == r.ObservationID(o) && e.Choice == choice }) {
				t.Errorf("%s was not reported with choice %d: %+v", r.ObservationID(o), choice, list)
			}
			related := false
			for other := range linked {
				related = related || other == o || choice == Present && isDescendant(r, o, other) || choice != Present && isDescendant(r, other, o)
			}
			if !related {
				t.Errorf("%s is not related to %s", r.ObservationID(o), r.ConditionID(c))
			}
		}
	}
}

// maxNearlyExactFindings is the maximum number of present findings for which removing
// one reliably shows its effect: with more, the error of the ranking may exceed the
// effect.
const maxNearlyExactFindings = 12

// countPresentFindings returns the number of present findings.
func countPresentFindings(list []ReportedEvidence) int {
	count := 0
	for _, e := range list {
		if e.Choice == Present {
			count++
		}
	}
	return count
}

// isImpliedByOthers reports whether present evidence implies an observation, other
// than the excluded observation and its descendants.
func isImpliedByOthers(r *model.Release, list []ReportedEvidence, o, excluded model.ObservationIndex) bool {
	return slices.ContainsFunc(list, func(e ReportedEvidence) bool {
		reported, _ := r.ObservationByID(e.ID)
		return e.Choice == Present && reported != excluded && !isDescendant(r, excluded, reported) && isDescendant(r, reported, o)
	})
}

// after returns a simulated patient once some evidence is known.
func (p *simulatedPatient) after(t testing.TB, list []ReportedEvidence) Patient {
	t.Helper()
	patient, err := NewPatient(p.r, p.sex, p.ageMonths, list)
	if err != nil {
		t.Fatal(err)
	}
	return patient
}

// TestParentOfPresentChildDoesNotChangeExplanation covers all children of the content.
func TestParentOfPresentChildDoesNotChangeExplanation(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(43, 43))
	for i := range r.Observations {
		parent := r.Observations[i].Parent
		if parent == model.None || r.Observations[parent].Group != model.None || i%8 != 0 {
			continue // as an item of a group, it would be an answer to the group
		}
		list := []ReportedEvidence{{ID: r.ObservationID(model.ObservationIndex(i)), Choice: Present}}
		for _, other := range drawAnyEvidence(r, random) {
			if other.ID != list[0].ID && other.ID != r.ObservationID(parent) {
				list = append(list, other)
			}
		}
		with := append(slices.Clone(list), ReportedEvidence{ID: r.ObservationID(parent), Choice: Choice(i % 3)})
		answer := func(list []ReportedEvidence) (all []Explanation) {
			p, err := NewPatient(r, model.Female, 480, list)
			if err != nil {
				t.Fatal(err)
			}
			for _, ranked := range e.Assess(r, p, Options{}).Conditions {
				x, _ := e.Explain(r, p, Options{}, ranked.Condition)
				all = append(all, x)
			}
			return all
		}
		if diff := cmp.Diff(answer(list), answer(with)); diff != "" {
			t.Errorf("%+v: %s", with, diff)
		}
	}
}

// drawEvidence draws evidence about a condition, with the given number of present
// observations.
func drawEvidence(r *model.Release, c model.ConditionIndex, present int, random *rand.Rand) []ReportedEvidence {
	var list []ReportedEvidence
	reported := map[model.ObservationIndex]bool{}
	links := model.Slice(r.LinksByCondition, r.Conditions[c].Links)
	for _, i := range random.Perm(len(links)) {
		reported[model.ObservationIndex(links[i].Other)] = len(list) < MaxExplainedEvidence
		if len(list) < MaxExplainedEvidence {
			list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(links[i].Other)), Choice: Present})
		}
	}
	for len(list) < MaxExplainedEvidence {
		if o := model.ObservationIndex(random.IntN(len(r.Observations))); !reported[o] {
			reported[o] = true
			list = append(list, ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
		}
	}
	for i := present; i < len(list); i++ {
		list[i].Choice = Absent
	}
	return list
}

// BenchmarkExplain explains the leading condition for patients with the maximum amount
// of evidence, on the synthetic model of the size of a full catalog.
func BenchmarkExplain(b *testing.B) {
	r, e := syntheticRelease(b), New()
	for _, present := range []int{8, 12, MaxExplainedEvidence} {
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) {
			random := rand.New(rand.NewPCG(uint64(present), 44))
			patients, targets := make([]Patient, 20), make([]model.ConditionIndex, 20)
			for i := range patients {
				p, err := NewPatient(r, model.Female, 480, drawEvidence(r, model.ConditionIndex(random.IntN(len(r.Conditions))), present, random))
				if err != nil {
					b.Fatal(err)
				}
				patients[i], targets[i] = p, e.Assess(r, p, Options{}).Conditions[0].Condition
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, ok := e.Explain(r, patients[i%20], Options{}, targets[i%20]); !ok {
					b.Fatal("the leading condition is not in the ranking")
				}
			}
		})
	}
}
