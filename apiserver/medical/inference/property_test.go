// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/google/go-cmp/cmp"
)

// drawAnyEvidence draws up to twelve pieces of evidence with every allowed
// contradiction, and durations even where they have no effect.
func drawAnyEvidence(r *model.Release, random *rand.Rand) []ReportedEvidence {
	list := make([]ReportedEvidence, 0, 12)
	drawn := random.Perm(len(r.Observations))
	for _, o := range drawn[:min(1+random.IntN(12), len(drawn))] {
		e := ReportedEvidence{
			ID:     r.ObservationID(model.ObservationIndex(o)),
			Choice: Choice(random.IntN(3)),
			Source: []Source{SourceUnspecified, SourceUnspecified, SourceInitial, SourceSuggest, SourcePredefined, SourceRedFlags}[random.IntN(6)],
		}
		switch random.IntN(4) {
		case 0:
			e.Duration = time.Duration(math.Exp(15*random.Float64()) * float64(time.Minute))
		case 1:
			e.DurationUnknown = true
		}
		list = append(list, e)
	}
	return list
}

// mustAssess returns the assessment of evidence, and its encoding for clients.
func mustAssess(t testing.TB, e *Engine, r *model.Release, sex model.Sex, age int, list []ReportedEvidence, o Options) (Assessment, string) {
	t.Helper()
	p, err := NewPatient(r, sex, age, list)
	if err != nil {
		t.Fatal(err)
	}
	answer := e.Assess(r, p, o)
	bytes, err := json.Marshal([]any{answer, e.Triage(r, p, o)})
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(bytes)
}

// TestEvidenceOrderAndRepetitionDoNotMatter runs ten thousand assessments, repeats
// each with the evidence in another order and some of it duplicated, and compares the
// results byte by byte.
func TestEvidenceOrderAndRepetitionDoNotMatter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 11))
	releases := []*model.Release{contentRelease(t)}
	for range 40 {
		releases = append(releases, drawVariedRelease(t, random))
	}
	e := New()
	for i := range 10_000 {
		r := releases[0]
		if i%10 > 0 {
			r = releases[1+i%(len(releases)-1)]
		}
		list, sex, age, o := drawAnyEvidence(r, random), model.Sex(random.IntN(2)), random.IntN(1200), drawOptions(random)
		want, wantBytes := mustAssess(t, e, r, sex, age, list, o)
		again := append(slices.Clone(list), list[:random.IntN(len(list)+1)]...)
		random.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		got, gotBytes := mustAssess(t, e, r, sex, age, again, o)
		if gotBytes != wantBytes || !reflect.DeepEqual(got, want) {
			t.Fatalf("evidence %+v\nonce more %+v: %s\nfirst: %s", list, again, gotBytes, wantBytes)
		}
	}
}

// TestParentOfPresentChildDoesNotMatter generalizes the examples to any child of the
// content and of small models of every kind, any answer about the parent, and any
// other evidence. Without a source, the parent counts as an answer to its group, so
// that it is sent without one only if it is in no group.
func TestParentOfPresentChildDoesNotMatter(t *testing.T) {
	t.Parallel()
	e, random := New(), rand.New(rand.NewPCG(12, 12))
	releases := []*model.Release{contentRelease(t)}
	for range 60 {
		releases = append(releases, drawVariedRelease(t, random))
	}
	for _, r := range releases {
		for i := range r.Observations {
			p := &Patient{sex: model.Sex(random.IntN(2)), ageMonths: random.IntN(1200)}
			child, parent := model.ObservationIndex(i), r.Observations[i].Parent
			if parent == model.None || !p.isApplicable(&r.Observations[child]) || !p.isApplicable(&r.Observations[parent]) {
				continue
			}
			list := []ReportedEvidence{{ID: r.ObservationID(child), Choice: Present, Source: Source(random.IntN(5))}}
			above := ReportedEvidence{ID: r.ObservationID(parent), Choice: Choice(random.IntN(3)), Source: list[0].Source}
			if grouped := r.Observations[parent].Group != model.None; grouped && above.Source == SourceUnspecified {
				continue
			} else if !grouped && random.IntN(2) == 0 {
				above.Source = SourceUnspecified
			}
			for _, other := range drawAnyEvidence(r, random) {
				if other.ID != list[0].ID && other.ID != above.ID {
					list = append(list, other)
				}
			}
			o := drawOptions(random)
			_, want := mustAssess(t, e, r, p.sex, p.ageMonths, list, o)
			if _, got := mustAssess(t, e, r, p.sex, p.ageMonths, append(list, above), o); got != want {
				t.Errorf("%+v added to %+v with %+v: %s\nwithout: %s", above, list, o, got, want)
			}
		}
	}
}

// TestScratchKeepsNoState compares an engine that has served many other patients with
// a new one.
func TestScratchKeepsNoState(t *testing.T) {
	t.Parallel()
	large, small, used := contentRelease(t), newQuestionRelease(t), New()
	random := rand.New(rand.NewPCG(13, 13))
	for range 500 {
		p, err := NewPatient(large, model.Sex(random.IntN(2)), random.IntN(1200), drawAnyEvidence(large, random))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(New().Assess(large, p, Options{}), used.Assess(large, p, Options{})); diff != "" {
			t.Fatal(diff)
		}
		q := newFemalePatient(t, small, "s_1! -s_2 s_5")
		if diff := cmp.Diff(New().Assess(small, q, Options{}), used.Assess(small, q, Options{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestProbabilitiesAreInRange covers arbitrary evidence.
func TestProbabilitiesAreInRange(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(14, 14))
	for range 2000 {
		list := drawAnyEvidence(r, random)
		p, err := NewPatient(r, model.Sex(random.IntN(2)), random.IntN(1200), list)
		if err != nil {
			t.Fatal(err)
		}
		for c, probability := range infer(e, r, p) {
			if !(probability >= 0 && probability <= 1) {
				t.Fatalf("%s has probability %v for %+v", r.ConditionID(model.ConditionIndex(c)), probability, list)
			}
		}
	}
}

// TestManyFindingsYieldFiniteProbabilities reports every observation as present.
func TestManyFindingsYieldFiniteProbabilities(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	var list []ReportedEvidence
	for i := range r.Observations {
		list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(i)), Choice: Present})
	}
	for sex := range model.Sex(2) {
		p, err := resolvePatient(r, sex, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		for c, probability := range infer(e, r, p) {
			if !(probability >= 0 && probability <= 1) {
				t.Errorf("%v: %s has probability %v", sex, r.ConditionID(model.ConditionIndex(c)), probability)
			}
		}
		if answer := e.Triage(r, p, Options{}); answer.Level != model.EmergencyAmbulance {
			t.Errorf("%v: with every red flag the level is %v", sex, answer.Level)
		}
	}
}

// TestConcurrentCalls runs under the race detector.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(15, 15))
	patients := make([]Patient, 200)
	want := make([]Assessment, len(patients))
	for i := range patients {
		p, err := NewPatient(r, model.Sex(random.IntN(2)), random.IntN(1200), drawAnyEvidence(r, random))
		if err != nil {
			t.Fatal(err)
		}
		patients[i], want[i] = p, New().Assess(r, p, Options{})
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i, p := range patients {
				if diff := cmp.Diff(want[i], e.Assess(r, p, Options{})); diff != "" {
					t.Errorf("patient %d: %s", i, diff)
				}
			}
		})
	}
	workers.Wait()
}
