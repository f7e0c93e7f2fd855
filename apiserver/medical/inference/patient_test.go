// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// newFamilyRelease has a complaint with a child and a grandchild, an ordered and an
// unordered exclusive group, a symptom for women only and a symptom for children only.
func newFamilyRelease(t testing.TB) *model.Release {
	return modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.01).
		Symptom("s_1", 0.1).
		Child("s_2", "s_1", model.LocationRelation, 0.05).
		Child("s_3", "s_2", model.CharacterRelation, 0.01).
		Child("s_11", "s_1", model.SeverityRelation, 0.02).
		Child("s_12", "s_1", model.SeverityRelation, 0.02).
		Child("s_13", "s_1", model.SeverityRelation, 0.02).
		OrderedGroup("s_11", "s_12", "s_13").
		Child("s_21", "s_1", model.CharacterRelation, 0.02).
		Child("s_22", "s_1", model.CharacterRelation, 0.02).
		Group(model.GroupSingle, "s_21", "s_22").
		Symptom("s_31", 0.05, func(o *model.DraftObservation) { o.Sex = model.FemaleOnly }).
		Symptom("s_32", 0.05, func(o *model.DraftObservation) { o.AgeTo = 24 }).
		RiskFactor("p_1", 0.3).
		Alias("p_8", "p_1").Alias("s_98", "s_1").
		Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.5).Link("c_1", "s_3", 0.2).
		Link("c_1", "s_11", 0.1).Link("c_1", "s_12", 0.2).Link("c_1", "s_13", 0.4).
		Link("c_1", "s_21", 0.3).Link("c_1", "s_22", 0.3).
		Link("c_2", "s_1", 0.6).Link("c_2", "s_31", 0.6).Link("c_2", "s_32", 0.6).
		Factor("c_2", "p_1", 2, 0.6).
		Build(t)
}

// parseEvidence parses evidence in short form: "s_1" is present, "-s_1" absent and
// "?s_1" unknown; "s_1!" is initial, "s_1+" has another source; "s_1!@36h" has lasted
// for 36 hours, and the patient does not know the duration of "s_1!@?".
func parseEvidence(words string) []ReportedEvidence {
	var list []ReportedEvidence
	for word := range strings.FieldsSeq(words) {
		e := ReportedEvidence{Choice: Present}
		word, lasting, dated := strings.Cut(word, "@")
		if e.DurationUnknown = lasting == "?"; dated && !e.DurationUnknown {
			e.Duration = parseDuration(lasting)
		}
		if rest, ok := strings.CutPrefix(word, "-"); ok {
			e.Choice, word = Absent, rest
		} else if rest, ok := strings.CutPrefix(word, "?"); ok {
			e.Choice, word = Unknown, rest
		}
		if rest, ok := strings.CutSuffix(word, "!"); ok {
			e.Source, word = SourceInitial, rest
		} else if rest, ok := strings.CutSuffix(word, "+"); ok {
			e.Source, word = SourcePredefined, rest
		}
		e.ID = word
		list = append(list, e)
	}
	return list
}

// parseDuration parses a number and a unit: a day is written 24h.
func parseDuration(words string) time.Duration {
	d, err := time.ParseDuration(words)
	if err != nil {
		panic(err)
	}
	return d
}

// newFemalePatient returns a 40-year-old woman with evidence in short form.
func newFemalePatient(t testing.TB, r *model.Release, words string) Patient {
	t.Helper()
	p, err := NewPatient(r, model.Female, 480, parseEvidence(words))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewPatientRejectsInvalidEvidence(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	for name, test := range map[string]struct {
		evidence string
		want     EvidenceError
	}{
		"an unknown symptom":                     {"s_1 s_99", EvidenceError{Index: 1, ID: "s_99"}},
		"a condition":                            {"c_1", EvidenceError{Index: 0, ID: "c_1"}},
		"no id":                                  {"s_1 -", EvidenceError{Index: 1, ID: ""}},
		"present and absent":                     {"s_1 s_2 -s_1", EvidenceError{Index: 2, ID: "s_1"}},
		"absent and unknown":                     {"-s_1 ?s_1", EvidenceError{Index: 1, ID: "s_1"}},
		"a contradiction of what does not apply": {"s_32 -s_32", EvidenceError{Index: 1, ID: "s_32"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewPatient(r, model.Female, 480, parseEvidence(test.evidence))
			var got *EvidenceError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want an EvidenceError", err)
			}
			if got.Index != test.want.Index || got.ID != test.want.ID {
				t.Errorf("position %d, id %q; want %d, %q", got.Index, got.ID, test.want.Index, test.want.ID)
			}
			if message := got.Error(); got.Problem == "" || !strings.Contains(message, got.Problem) || !strings.Contains(message, got.ID) {
				t.Errorf("message %q lacks the problem or the id", message)
			}
		})
	}
}

// TestEquivalentEvidence expects equivalent evidence to yield bit-identical results.
func TestEquivalentEvidence(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	for name, test := range map[string]struct{ one, other string }{
		"sent twice":             {"s_1! -s_21", "s_1! -s_21 s_1! -s_21"},
		"by another id":          {"s_1! p_1+", "s_98! p_8+"},
		"by both ids":            {"s_1! -p_1+", "s_98! s_1! -p_8+ -p_1+"},
		"a parent and its child": {"s_2!", "s_2! s_1"},
		"an initial parent and its initial child":    {"s_2!", "s_2! s_1!"},
		"both parents and a grandchild":              {"s_3!", "s_3! s_1! s_2"},
		"a denied parent of a present child":         {"s_2!", "s_2! -s_1"},
		"an unknown parent of a present child":       {"s_2!", "s_2! ?s_1"},
		"a symptom of children":                      {"s_1!", "s_1! s_32"},
		"a child denied below a denied parent":       {"s_31! -s_1", "s_31! -s_1 -s_2"},
		"another order":                              {"s_1! -s_21 s_31 p_1+", "p_1+ s_31 s_1! -s_21"},
		"the other items denied":                     {"s_1! s_12", "s_1! s_12 -s_11 -s_13"},
		"a milder item of an ordered group":          {"s_1! s_13", "s_1! s_13 s_11"},
		"every level denied of what is there":        {"s_1! ?s_11 ?s_12 ?s_13", "s_1! -s_11 -s_12 -s_13"},
		"every level denied of what a child implies": {"s_2! ?s_11 ?s_12 ?s_13", "s_2! -s_1 -s_11 -s_12 -s_13"},
		"an earlier item of an exclusive group":      {"s_1! s_22", "s_1! s_22 s_21"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New()
			one, other := newFemalePatient(t, r, test.one), newFemalePatient(t, r, test.other)
			if diff := cmp.Diff(e.Assess(r, one, Options{}), e.Assess(r, other, Options{})); diff != "" {
				t.Errorf("%q and %q differ: %s", test.one, test.other, diff)
			}
			if diff := cmp.Diff(infer(e, r, one), infer(e, r, other)); diff != "" {
				t.Errorf("the unrounded probabilities differ: %s", diff)
			}
		})
	}
}

// TestInapplicableEvidenceIsIgnored adds a symptom of women, and one of small
// children, to the evidence of a 40-year-old man.
func TestInapplicableEvidenceIsIgnored(t *testing.T) {
	t.Parallel()
	r, e := newFamilyRelease(t), New()
	assess := func(words string) Assessment {
		p, err := NewPatient(r, model.Male, 480, parseEvidence(words))
		if err != nil {
			t.Fatal(err)
		}
		return e.Assess(r, p, Options{})
	}
	for _, words := range []string{"s_1!", "s_1", "s_1 -s_21", "s_1+", ""} {
		want := assess(words)
		for _, outside := range []string{" s_31 -s_32", " s_31! s_32!", " ?s_31+", " -s_32!"} {
			if diff := cmp.Diff(want, assess(words+outside)); diff != "" {
				t.Errorf("%q added to %q: %s", outside, words, diff)
			}
		}
	}
}

func TestObservationCount(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	for evidence, want := range map[string]int{
		"":                     0,
		"?s_1":                 0,
		"s_1":                  1,
		"s_2":                  1,
		"s_1 s_2":              1,
		"-s_1 s_2":             1,
		"s_1 s_2 s_3":          1,
		"-s_1 -s_2":            1,
		"s_1 -s_2":             2,
		"s_1 -s_21 -s_22":      3,
		"s_31 p_1 -s_1 s_32":   3,
		"s_31 -p_1 ?s_1":       2,
		"s_1 s_12 -s_11 -s_13": 1,
		"s_1 -s_11 -s_13":      3,
	} {
		p := newFemalePatient(t, r, evidence)
		if got := p.ObservationCount(); got != want {
			t.Errorf("%q: %d observations, want %d", evidence, got, want)
		}
	}
}

func TestComplaints(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	for evidence, want := range map[string]struct {
		openers string
		initial bool
	}{
		"s_1 s_31":        {"s_1 s_31", false}, // no evidence carries a source
		"s_1! s_31":       {"s_1", true},
		"s_1+ s_31":       {"", false},
		"-s_1! s_31":      {"", false},
		"?s_1! s_31":      {"", false},
		"s_1! s_2":        {"s_2", true}, // the child represents its parent
		"s_1! -s_31 s_3":  {"s_3", true},
		"p_1! s_1":        {"", false}, // no symptom is initial
		"p_1":             {"", false},
		"s_1! s_11! s_12": {"s_12", true},
		"s_21! s_22":      {"s_22", true}, // the later item represents the earlier one
		"s_2! s_21":       {"s_2", true},
		"s_1! s_2 s_21":   {"s_2 s_21", true}, // both represent their parent
		"s_1! s_2! s_21":  {"s_2", true},      // unless one of them is initial
		"s_32! s_1":       {"s_1", false},     // inapplicable evidence has no effect, nor does its source
		"s_32+ s_1! s_31": {"s_1", true},
	} {
		p := newFemalePatient(t, r, evidence)
		var got []string
		for _, o := range p.complaints {
			got = append(got, r.ObservationID(o))
		}
		if joined := strings.Join(got, " "); joined != want.openers || p.hasInitial != want.initial {
			t.Errorf("%q: openers %q, initial %v; want %q, %v", evidence, joined, p.hasInitial, want.openers, want.initial)
		}
	}
}
