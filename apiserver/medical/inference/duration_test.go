// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
	year = 365 * day
)

var withDurations = Options{SymptomDuration: true}

// newDurationRelease has a complaint that is divided by duration, with a location that
// is not; a complaint of which only the longest duration has a name; one whose
// duration children apply to children only; and one that is not divided.
func newDurationRelease(t testing.TB) *model.Release {
	forChildren := func(o *model.DraftObservation) { o.AgeTo = 24 }
	b := modeltest.New().
		Condition("c_1", 0.02).Course("c_1", 6*time.Hour, 7*day).
		Condition("c_2", 0.02).Course("c_2", 30*day, 5*year).
		Symptom("s_1", 0.05).
		Child("s_11", "s_1", model.DurationRelation, 0.02, modeltest.WithDurationRange(0, 3*week)).
		Child("s_12", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(3*week, 8*week)).
		Child("s_13", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(8*week, 0)).
		OrderedGroup("s_11", "s_12", "s_13").
		Child("s_14", "s_1", model.LocationRelation, 0.02).
		Symptom("s_2", 0.05).
		Child("s_21", "s_2", model.DurationRelation, 0.01, modeltest.WithDurationRange(8*week, 0)).
		Symptom("s_3", 0.05).
		Child("s_31", "s_3", model.DurationRelation, 0.01, modeltest.WithDurationRange(0, week), forChildren).
		Child("s_32", "s_3", model.DurationRelation, 0.01). // the length of an attack, not how long there have been attacks
		Symptom("s_4", 0.05).
		Child("s_41", "s_4", model.CharacterRelation, 0.01).
		Symptom("s_5", 0.05, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		RiskFactor("p_1", 0.2).
		Factor("c_1", "p_1", 2, 0.75)
	for condition, shares := range map[string][]float64{
		"c_1": {0.7, 0.5, 0.1, 0.05, 0.3, 0.7, 0.05, 0.7, 0.3, 0.3, 0.7, 0.3, 0.5},
		"c_2": {0.7, 0.1, 0.2, 0.35, 0.4, 0.7, 0.5, 0.7, 0.3, 0.3, 0.7, 0.3, 0.5},
	} {
		for i, id := range []string{"s_1", "s_11", "s_12", "s_13", "s_14", "s_2", "s_21", "s_3", "s_31", "s_32", "s_4", "s_41", "s_5"} {
			b.Link(condition, id, shares[i])
		}
	}
	return b.Build(t)
}

// TestDurationSelectsChild compares durations with the equivalent evidence, to the
// last bit.
func TestDurationSelectsChild(t *testing.T) {
	t.Parallel()
	r, e := newDurationRelease(t), New()
	for name, test := range map[string]struct{ timed, plain string }{
		"a short one":                   {"s_1!@48h", "s_1! s_11!"},
		"the shortest":                  {"s_1!@1ns", "s_1! s_11!"},
		"just too short":                {"s_1!@503h59m", "s_1! s_11!"},
		"the first of the next":         {"s_1!@504h", "s_1! s_12!"},
		"the last of it":                {"s_1!@1343h59m59s", "s_1! s_12!"},
		"a long one":                    {"s_1!@1344h", "s_1! s_13!"},
		"the longest":                   {"s_1!@2000000h", "s_1! s_13!"},
		"none of those with a name":     {"s_2!@48h", "s_2! -s_21"},
		"the only one with a name":      {"s_2!@1400h", "s_2! s_21!"},
		"no source at all":              {"s_1@48h", "s_1 s_11"},
		"of the place":                  {"s_14!@48h", "s_14! s_11!"},
		"of both, the longer counts":    {"s_1!@48h s_14!@600h", "s_1! s_14! s_12!"},
		"of both, the other way round":  {"s_1!@600h s_14!@48h", "s_1! s_14! s_12!"},
		"sent twice, the longer counts": {"s_1!@48h s_1!@600h", "s_1! s_12!"},
		"known and unknown":             {"s_1!@? s_1!@600h", "s_1! s_12!"},
		"a kind was reported":           {"s_1!@600h s_13", "s_1! s_13"},
		"a kind was denied":             {"s_1!@600h -s_12", "s_1! -s_11 -s_12 -s_13"},
		"the patient did not know":      {"s_1!@600h ?s_12", "s_1! -s_11 ?s_12 -s_13"},
		"another kind was denied":       {"s_1!@600h -s_11", "s_1! s_12!"},
		"with the symptom denied":       {"-s_1 s_14!@600h", "s_14! s_12!"},
	} {
		t.Run(name, func(t *testing.T) {
			timed, plain := newFemalePatient(t, r, test.timed), newFemalePatient(t, r, test.plain)
			if diff := cmp.Diff(inferWithOptions(e, r, plain, withDurations), inferWithOptions(e, r, timed, withDurations)); diff != "" {
				t.Errorf("%q and %q differ: %s", test.plain, test.timed, diff)
			}
		})
	}
}

// TestRefinedDurationChildOverridesDuration expects a reported detail of "for less
// than a week" to determine the duration, as the duration child does.
func TestRefinedDurationChildOverridesDuration(t *testing.T) {
	t.Parallel()
	b := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.02).
		Symptom("s_1", 0.05).
		Child("s_11", "s_1", model.DurationRelation, 0.02, modeltest.WithDurationRange(0, week)).
		Child("s_12", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(week, 0)).
		Child("s_111", "s_11", model.CharacterRelation, 0.01)
	for condition, shares := range map[string][]float64{"c_1": {0.7, 0.5, 0.1, 0.3}, "c_2": {0.7, 0.1, 0.5, 0.05}} {
		for i, id := range []string{"s_1", "s_11", "s_12", "s_111"} {
			b.Link(condition, id, shares[i])
		}
	}
	r, e := b.Build(t), New()
	with, alone := newFemalePatient(t, r, "s_1!@600h s_111! s_11!"), newFemalePatient(t, r, "s_1!@600h s_111!")
	if diff := cmp.Diff(inferWithOptions(e, r, with, withDurations), inferWithOptions(e, r, alone, withDurations)); diff != "" {
		t.Error(diff)
	}
}

// TestDurationsDoNotCountAsObservations expects a ranking of more than one condition
// to require three observations still.
func TestDurationsDoNotCountAsObservations(t *testing.T) {
	t.Parallel()
	r := newDurationRelease(t)
	for words, want := range map[string]int{"s_1!@48h": 1, "s_2!@48h": 1, "s_1!@48h s_4!@48h": 2, "s_1!@48h -s_4 -s_2": 3} {
		p := newFemalePatient(t, r, words)
		if got := p.forOptions(withDurations).ObservationCount(); got != want || p.ObservationCount() != want {
			t.Errorf("%q: %d observations, %d without durations, want %d", words, got, p.ObservationCount(), want)
		}
	}
}

// TestIgnoredDurations compares evidence with the same evidence without durations.
func TestIgnoredDurations(t *testing.T) {
	t.Parallel()
	r, e := newDurationRelease(t), New()
	for name, test := range map[string]struct {
		evidence string
		options  Options
	}{
		"the option is off":              {"s_1!@600h s_4!@600h", Options{}},
		"the option is off, no source":   {"s_1@600h s_4@600h", Options{}},
		"the symptom is denied":          {"s_2! -s_1!@600h -s_4!@600h", withDurations},
		"the symptom is unknown":         {"s_2! ?s_1!@600h ?s_4!@600h", withDurations},
		"an answer of the interview":     {"s_2! s_1@600h s_4@600h", withDurations},
		"another source":                 {"s_2! s_1+@600h s_4+@600h", withDurations},
		"a risk factor":                  {"s_2! p_1!@600h", withDurations},
		"it does not apply":              {"s_2! s_5!@600h", withDurations},
		"no time at all":                 {"s_1!@0h s_4!@0h", withDurations},
		"less than no time":              {"s_1!@-600h s_4!@-600h", withDurations},
		"the patient does not know":      {"s_1!@? s_4!@?", withDurations},
		"another item of the group says": {"s_4! s_12!@600h s_13!", withDurations},
	} {
		t.Run(name, func(t *testing.T) {
			var plain []string
			for word := range strings.FieldsSeq(test.evidence) {
				word, _, _ = strings.Cut(word, "@")
				plain = append(plain, word)
			}
			with, without := newFemalePatient(t, r, test.evidence), newFemalePatient(t, r, strings.Join(plain, " "))
			if diff := cmp.Diff(inferWithOptions(e, r, without, test.options), inferWithOptions(e, r, with, test.options)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(e.Triage(r, without, test.options), e.Triage(r, with, test.options)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(e.Assess(r, without, Options{}), e.Assess(r, with, Options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCoursesWeightDurations checks a value that can be computed by hand: one
// condition, one symptom.
func TestCoursesWeightDurations(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.1).Course("c_1", 30*day, 5*year).
		Symptom("s_1", 0.2).Link("c_1", "s_1", 0.8).Build(t)
	lambda, leak := answerSensitivity*(0.8-0.2)/0.8, 0.2
	for _, hours := range []int{1, 24, 240, 2400, 24000} {
		p := newFemalePatient(t, r, fmt.Sprintf("s_1!@%dh", hours))
		minutes := math.Log(float64(60 * hours))
		link, background := lambda*courseLikelihood(r.Conditions[0].Course, minutes), leak*courseLikelihood(r.Meta.LeakCourse, minutes)
		with := 0.1 * (1 - (1-link)*(1-background))
		want := with / (with + 0.9*background)
		if got := inferWithOptions(New(), r, p, withDurations)[0]; math.Abs(got-want) > 1e-15 {
			t.Errorf("%d hours: %.17g, want %.17g", hours, got, want)
		}
	}
}

// TestCourseLikelihoodMatchesWindow integrates the density of the course from half the
// duration to twice the duration.
func TestCourseLikelihoodMatchesWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := model.Course{
			Mean:   rapid.Float64Range(0, 15).Draw(t, "mean"),
			StdDev: rapid.Float64Range(0.2, 4).Draw(t, "deviation"),
		}
		at := rapid.Float64Range(-5, 20).Draw(t, "at")
		window, steps := 0.0, 2000
		for i := range steps {
			x := at - math.Ln2 + 2*math.Ln2*(float64(i)+0.5)/float64(steps)
			z := (x - c.Mean) / c.StdDev
			window += 2 * math.Ln2 / float64(steps) * math.Exp(-z*z/2) / (c.StdDev * math.Sqrt(2*math.Pi))
		}
		want := window + 0.006*(1-window)
		got := courseLikelihood(c, at)
		if math.Abs(got-want) > 1e-5 {
			t.Fatalf("%v, by integration %v", got, want)
		}
		if got < offCourseProbability || got > 1 {
			t.Fatalf("%v is not between %v and 1", got, offCourseProbability)
		}
		if step := math.Abs(courseLikelihood(c, at+1e-9) - got); step > 1e-8 {
			t.Fatalf("jumps by %v", step)
		}
	})
}

// TestCourseLikelihoodAtExtremes uses the extremes that a release and a client may
// send.
func TestCourseLikelihoodAtExtremes(t *testing.T) {
	t.Parallel()
	for _, c := range []model.Course{{Mean: 0, StdDev: math.SmallestNonzeroFloat64}, {Mean: math.MaxFloat64, StdDev: math.MaxFloat64}, {Mean: -math.MaxFloat64, StdDev: 1e-300}} {
		for _, d := range []time.Duration{1, time.Minute, math.MaxInt64} {
			if got := courseLikelihood(c, math.Log(d.Minutes())); !(got >= offCourseProbability && got <= 1) {
				t.Errorf("%+v after %v: %v", c, d, got)
			}
		}
	}
}

// TestDurationsShiftRankingTowardMatchingCourse expects that, of two conditions that
// differ only in their courses, the one with a usual duration closer to the reported
// one is more likely.
func TestDurationsShiftRankingTowardMatchingCourse(t *testing.T) {
	t.Parallel()
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		spread := rapid.Float64Range(0.3, 3).Draw(t, "deviation")
		courses := [2]model.Course{
			{Mean: rapid.Float64Range(3, 13).Draw(t, "first"), StdDev: spread},
			{Mean: rapid.Float64Range(3, 13).Draw(t, "second"), StdDev: spread},
		}
		course := func(i int) func(*model.DraftCondition) {
			return func(c *model.DraftCondition) { c.Course = courses[i] }
		}
		r := modeltest.New().
			Condition("c_1", 0.02, course(0)).Condition("c_2", 0.02, course(1)).
			Symptom("s_1", 0.03).Symptom("s_2", 0.03).
			Link("c_1", "s_1", 0.6).Link("c_2", "s_1", 0.6).Link("c_1", "s_2", 0.3).Link("c_2", "s_2", 0.3).
			Build(t)
		minutes := math.Exp(rapid.Float64Range(0, 15).Draw(t, "logarithm of minutes"))
		list := parseEvidence("s_1! s_2")
		list[0].Duration = time.Duration(minutes * float64(time.Minute))
		p, err := NewPatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		got := inferWithOptions(e, r, p, withDurations)
		first, second := math.Abs(math.Log(minutes)-courses[0].Mean), math.Abs(math.Log(minutes)-courses[1].Mean)
		if first < second && got[0] < got[1]-1e-12 || second < first && got[1] < got[0]-1e-12 {
			t.Fatalf("after %v minutes %v, courses %+v", minutes, got, courses)
		}
	})
}

// TestUnusualDurationSupportsItsCause checks the assessment as clients see it.
func TestUnusualDurationSupportsItsCause(t *testing.T) {
	t.Parallel()
	r, e := newDurationRelease(t), New()
	for words, want := range map[string]string{
		"s_4!@12h":    "c_1",
		"s_4!@72h":    "c_1",
		"s_4!@2400h":  "c_2",
		"s_4!@17520h": "c_2",
		"s_41!@72h":   "c_1", // the duration of a location applies to the symptom
		"s_41!@2400h": "c_2",
		"s_3!@2400h":  "c_2", // its children are for children or measure attacks
		"s_3!@12h":    "c_1",
	} {
		a := e.Assess(r, newFemalePatient(t, r, words), withDurations)
		if got := r.ConditionID(a.Conditions[0].Condition); got != want {
			t.Errorf("%q: top condition is %s, want %s", words, got, want)
		}
	}
}

// TestDurationCountsOncePerFamily expects a complaint and its refinement with the same
// duration to count as the refinement alone.
func TestDurationCountsOncePerFamily(t *testing.T) {
	t.Parallel()
	r, e := newDurationRelease(t), New()
	want := inferWithOptions(e, r, newFemalePatient(t, r, "s_4! s_41!@2400h"), withDurations)
	got := inferWithOptions(e, r, newFemalePatient(t, r, "s_4!@2400h s_41!@2400h"), withDurations)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// durationsAsked answers every question with no, and duration questions with answer,
// and returns the symptoms whose duration was asked.
func durationsAsked(t testing.TB, r *model.Release, words string, o Options, answer string) []string {
	t.Helper()
	var asked []string
	list, e := parseEvidence(words), New()
	for range 60 {
		p, err := NewPatient(r, model.Female, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		q := e.Assess(r, p, o).Question
		if q == nil {
			return asked
		}
		if q.Type == Duration {
			asked = append(asked, r.ObservationID(q.Symptom))
			list = withAnswer(list, r.ObservationID(q.Symptom), answer)
		}
		for _, item := range q.Items {
			list = append(list, ReportedEvidence{ID: r.ObservationID(item), Choice: Absent})
		}
	}
	t.Fatalf("%q: no end, asked %v", words, asked)
	return nil
}

// withAnswer returns the evidence with the duration of one symptom added: "?" if the
// patient does not know it.
func withAnswer(list []ReportedEvidence, id, answer string) []ReportedEvidence {
	list = slices.Clone(list)
	i := slices.IndexFunc(list, func(e ReportedEvidence) bool { return e.ID == id })
	if list[i].DurationUnknown = answer == "?"; answer != "?" {
		list[i].Duration = parseDuration(answer)
	}
	return list
}

func TestDurationQuestionsCoverComplaints(t *testing.T) {
	t.Parallel()
	r := newDurationRelease(t)
	for name, test := range map[string]struct {
		evidence string
		want     []string
	}{
		"a complaint":                    {"s_4!", []string{"s_4"}},
		"two, by id":                     {"s_4! s_1!", []string{"s_1", "s_4"}},
		"at most three":                  {"s_4! s_3! s_2! s_1!", []string{"s_1", "s_2", "s_3"}},
		"at most three answers":          {"s_4!@24h s_3!@? s_2! s_1!", []string{"s_1"}},
		"it is known":                    {"s_4!@24h", nil},
		"the patient does not know":      {"s_4!@?", nil},
		"an answer of the interview":     {"s_1!@24h s_4", nil},
		"another source":                 {"s_1!@24h s_4+", nil},
		"denied":                         {"s_1!@24h -s_4!", nil},
		"unknown":                        {"s_1!@24h ?s_4!", nil},
		"a risk factor":                  {"s_1!@24h p_1!", nil},
		"it does not apply":              {"s_1!@24h s_5!", nil},
		"no source at all":               {"s_4 s_1", []string{"s_1", "s_4"}},
		"nothing initial":                {"s_4 s_1+", nil},
		"no evidence":                    {"", nil},
		"a child says how long":          {"s_1! s_12", nil},
		"an initial child says how long": {"s_1! s_12!", nil},
		"an attack is not how long":      {"s_3! s_32", []string{"s_3"}},
		"what refines it is known":       {"s_4! s_41!@24h", nil},
		"what refines it is unknown":     {"s_4! s_41!@?", nil},
		"what it refines is known":       {"s_4!@24h s_41!", nil},
		"a family is asked once":         {"s_4! s_41!", []string{"s_41"}},
		"a child alone":                  {"s_41!", []string{"s_41"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, answer := range []string{"24h", "2400h", "?"} {
				if got := durationsAsked(t, r, test.evidence, withDurations, answer); !slices.Equal(got, test.want) {
					t.Errorf("answered with %s: asked %v, want %v", answer, got, test.want)
				}
			}
			if got := durationsAsked(t, r, test.evidence, Options{}, "?"); got != nil {
				t.Errorf("asked %v without the option", got)
			}
		})
	}
}

func TestDurationQuestionNamesSymptom(t *testing.T) {
	t.Parallel()
	r := newDurationRelease(t)
	s4, _ := r.ObservationByID("s_4")
	want := &Question{
		Type: Duration, Group: model.None, Symptom: s4,
		Text: "How long have you had this: s_4?", TextThirdPerson: "How long have they had this: s_4?",
	}
	a := New().Assess(r, newFemalePatient(t, r, "s_4!"), withDurations)
	if diff := cmp.Diff(want, a.Question); diff != "" {
		t.Error(diff)
	}
	if a.ShouldStop || !a.ShouldStopKnown {
		t.Errorf("stop %v, known %v; want to go on", a.ShouldStop, a.ShouldStopKnown)
	}
	if q := firstQuestion(t, r, "s_4!@24h", withDurations); q == nil || q.Symptom != model.None {
		t.Errorf("once it is known: %+v, want a question of another type", q)
	}
}

// TestUrgentRedFlagsPrecedeDurations expects all other questions to follow the
// duration questions.
func TestUrgentRedFlagsPrecedeDurations(t *testing.T) {
	t.Parallel()
	r := newDangerRelease(t, 0.005)
	for words, want := range map[string]QuestionType{"s_1!": Single, "s_1! -s_3": Duration, "s_1!@24h -s_3": Single} {
		if q := firstQuestion(t, r, words, withDurations); q == nil || q.Type != want {
			t.Errorf("%q: %+v, want type %d", words, q, want)
		}
	}
}

// TestMissingDurationDelaysStop although everything else is known, unless the
// interview is for the level only and the level is settled.
func TestMissingDurationDelaysStop(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.05).Symptom("s_1", 0.02).Symptom("s_2", 0.02, func(o *model.DraftObservation) {
		o.Seriousness = model.SeriousnessEmergencyAmbulance
	}).Link("c_1", "s_1", 0.9).Build(t)
	for _, test := range []struct {
		evidence       string
		mode           Mode
		question, stop bool
	}{
		{"s_1!", DefaultMode, true, false},
		{"s_1!", TriageMode, true, false},
		{"s_1!@24h", DefaultMode, false, true},
		{"s_1! s_2", DefaultMode, true, false},
		{"s_1! s_2", ShortTriageMode, true, true},
	} {
		a := New().Assess(r, newFemalePatient(t, r, test.evidence), Options{SymptomDuration: true, Mode: test.mode})
		if asked := a.Question != nil; asked != test.question || a.ShouldStop != test.stop {
			t.Errorf("%q in mode %d: question %v, stop %v; want %v, %v", test.evidence, test.mode, asked, a.ShouldStop, test.question, test.stop)
		}
	}
}

// TestChildImpliedByDurationIsNotAsked covers its children and, in a group, the group.
func TestChildImpliedByDurationIsNotAsked(t *testing.T) {
	t.Parallel()
	r := newDurationRelease(t)
	for words, divisions := range map[string]string{"s_1!@24h": "s_11 s_12 s_13", "s_14!@2400h": "s_11 s_12 s_13", "s_2!@24h": "s_21", "s_2!@2400h": "s_21"} {
		for _, choice := range []Choice{Present, Absent, Unknown} {
			for _, groups := range []bool{true, false} {
				asked := askedQuestions(t, r, model.Female, words, Options{SymptomDuration: true, DisableGroups: !groups}, choice)
				for id := range strings.FieldsSeq(divisions) {
					if slices.ContainsFunc(asked, func(q string) bool { return slices.Contains(strings.Fields(strings.Trim(q, "[]")), id) }) {
						t.Errorf("%q: %s is asked: %v", words, id, asked)
					}
				}
			}
		}
	}
}

// TestDurationChildAsRedFlag expects an observation implied by a duration to count for
// triage as if it had been reported.
func TestDurationChildAsRedFlag(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.05).Symptom("s_1", 0.02).
		Child("s_2", "s_1", model.DurationRelation, 0.001, redFlag, modeltest.WithDurationRange(5*time.Minute, 0)).
		Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.1).Build(t)
	for words, want := range map[string]bool{"s_1!@4m": false, "s_1!@5m": true} {
		if a := New().Assess(r, newFemalePatient(t, r, words), withDurations); a.HasEmergencyEvidence != want {
			t.Errorf("%q: emergency evidence %v, want %v", words, a.HasEmergencyEvidence, want)
		}
		if level := New().Triage(r, newFemalePatient(t, r, words), withDurations).Level; (level >= model.Emergency) != want {
			t.Errorf("%q: level %v", words, level)
		}
	}
}

// TestAllCallsUseDurations compares a duration with the equivalent evidence, in all
// results except the ones listing the evidence.
func TestAllCallsUseDurations(t *testing.T) {
	t.Parallel()
	r, e := newDurationRelease(t), New()
	answers := func(words string) []any {
		p := newFemalePatient(t, r, words)
		reason, asked := e.Rationale(r, p, withDurations)
		specialist, known := e.Recommend(r, p, withDurations, nil)
		return []any{
			e.Assess(r, p, withDurations), e.Triage(r, p, withDurations), reason, asked, specialist, known,
			e.Suggest(r, p, withDurations, SuggestSymptoms, 20), e.Suggest(r, p, withDurations, SuggestRiskFactors, 20), e.Suggest(r, p, withDurations, SuggestRedFlags, 20),
		}
	}
	for timed, plain := range map[string]string{"s_1!@24h -s_2": "s_1! s_11! -s_2", "s_1!@2400h -s_2": "s_1! s_13! -s_2"} {
		if diff := cmp.Diff(answers(plain), answers(timed)); diff != "" {
			t.Errorf("%q and %q differ: %s", plain, timed, diff)
		}
	}
}

// TestDurationsOfOneEpisodeAreAveraged expects three complaints that began together to
// carry little more information about the course than one duration, and not three times
// as much.
func TestDurationsOfOneEpisodeAreAveraged(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.01).Course("c_1", 30*day, 5*year)
	for _, id := range []string{"s_1", "s_2", "s_3"} {
		b.Symptom(id, 0.05).Link("c_1", id, 0.6)
	}
	r, e := b.Build(t), New()
	shift := func(plain, timed string) float64 {
		before, after := inferWithOptions(e, r, newFemalePatient(t, r, plain), withDurations)[0], inferWithOptions(e, r, newFemalePatient(t, r, timed), withDurations)[0]
		return math.Log(after/(1-after)) - math.Log(before/(1-before))
	}
	one := shift("s_1! s_2! s_3!", "s_1!@24h s_2! s_3!")
	three := shift("s_1! s_2! s_3!", "s_1!@24h s_2!@24h s_3!@24h")
	if one > -1 || math.Abs(three-one) > math.Abs(one)/2 {
		t.Errorf("one duration moves the log odds by %v, three by %v", one, three)
	}
}
