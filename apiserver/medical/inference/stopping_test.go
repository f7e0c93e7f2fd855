// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func TestShouldStopRequiresInitialEvidence(t *testing.T) {
	t.Parallel()
	r := newQuestionRelease(t)
	for words, want := range map[string]bool{
		"":           false,
		"s_1":        false,
		"s_1+":       false,
		"-s_1!":      false,
		"p_1! s_1":   false,
		"s_1!":       true,
		"s_1! -s_2":  true,
		"s_1+ s_2!":  true,
		"s_1! s_13!": true,
	} {
		a := New().Assess(r, newFemalePatient(t, r, words), Options{})
		if a.ShouldStopKnown != want {
			t.Errorf("%q: known %v, want %v", words, a.ShouldStopKnown, want)
		}
		if a.ShouldStop && !a.ShouldStopKnown {
			t.Errorf("%q: stop without being known", words)
		}
	}
}

// newEndlessRelease returns a release with more questions than a patient should answer.
func newEndlessRelease(t testing.TB) *model.Release {
	b := modeltest.New().Symptom("s_1", 0.02)
	for c := 1; c <= 60; c++ {
		id, finding := fmt.Sprintf("c_%d", c), fmt.Sprintf("s_%d", c+1)
		b.Symptom(finding, 0.02).Condition(id, 0.01).Link(id, "s_1", 0.5).Link(id, finding, 0.5)
	}
	return b.Build(t)
}

func TestInterviewEndsAfterMaxQuestions(t *testing.T) {
	t.Parallel()
	r := newEndlessRelease(t)
	for _, words := range []string{"s_1!", "s_1"} {
		list, asked, e := parseEvidence(words), 0, New()
		for {
			p, err := NewPatient(r, model.Female, 480, list)
			if err != nil {
				t.Fatal(err)
			}
			a := e.Assess(r, p, Options{})
			if a.Question == nil {
				if a.ShouldStopKnown != a.ShouldStop {
					t.Errorf("%q: no question, known %v, but stop %v", words, a.ShouldStopKnown, a.ShouldStop)
				}
				break
			}
			asked++
			list = append(list, ReportedEvidence{ID: r.ObservationID(a.Question.Items[0]), Choice: Absent})
		}
		// Without any source, the complaint counts as a question.
		if want := maxQuestions - strings.Count(words, "s_1") + strings.Count(words, "!"); asked != want {
			t.Errorf("%q: %d questions, want %d", words, asked, want)
		}
	}
}

func TestAnsweredQuestionCount(t *testing.T) {
	t.Parallel()
	r := newQuestionRelease(t)
	for _, test := range []struct {
		evidence string
		options  Options
		want     int
	}{
		{"s_1!", Options{}, 0},
		{"s_1! -s_2+ p_1+", Options{}, 0},
		{"s_1! -s_2 ?p_1", Options{}, 2},
		{"s_1! -s_5 -s_6", Options{}, 1},
		{"s_1! -s_5 -s_6", Options{DisableGroups: true}, 2},
		{"s_1! s_7", Options{}, 1},
		{"s_1! s_7", Options{DisableGroups: true}, 1},
		{"s_1! s_4", Options{}, 1},
		{"s_1! s_2 s_3", Options{}, 2},
		{"s_1! s_3", Options{}, 2}, // s_3 implies s_2
		{"s_1! s_3!", Options{}, 0},
		{"s_1! s_2 s_3!", Options{}, 0},
		{"s_1! s_2! s_3", Options{}, 1},
		{"s_1! -s_2 s_3", Options{}, 2},
	} {
		p, e := newFemalePatient(t, r, test.evidence), New()
		s := e.getScratch(r, &p)
		if got := s.answeredQuestionCount(test.options); got != test.want {
			t.Errorf("%q, %+v: %d, want %d", test.evidence, test.options, got, test.want)
		}
		e.putScratch(s)
	}
}

// TestAnsweredQuestionCountIgnoresIntermediateParents expects a parent sent without a
// source in addition to its child not to count.
func TestAnsweredQuestionCountIgnoresIntermediateParents(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.02).
		Symptom("s_1", 0.05).
		Child("s_2", "s_1", model.CharacterRelation, 0.02).
		Child("s_3", "s_2", model.CharacterRelation, 0.01).
		Link("c_1", "s_1", 0.8).Link("c_1", "s_2", 0.5).Link("c_1", "s_3", 0.3).
		Build(t)
	for _, words := range []string{"s_3+", "s_3+ s_2", "s_3+ s_2 s_1", "s_3+ -s_2"} {
		p, e := newFemalePatient(t, r, words), New()
		s := e.getScratch(r, &p)
		if got := s.answeredQuestionCount(Options{}); got != 0 {
			t.Errorf("%q: %d, want 0", words, got)
		}
		e.putScratch(s)
	}
}

// TestInterviewStopsWhenConditionIsCertain and continues while two conditions compete.
func TestInterviewStopsWhenConditionIsCertain(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.02).Condition("c_2", 0.02)
	for i := 1; i <= 9; i++ {
		b.Symptom(fmt.Sprintf("s_%d", i), 0.02)
	}
	for i := 1; i <= 6; i++ {
		b.Link("c_1", fmt.Sprintf("s_%d", i), 0.8)
	}
	b.Link("c_2", "s_1", 0.8).Link("c_2", "s_7", 0.8).Link("c_2", "s_8", 0.5).Link("c_2", "s_9", 0.5)
	r := b.Build(t)
	for words, want := range map[string]bool{
		"s_1!":                                         false,
		"s_1! s_2 ?s_3 ?s_4":                           false, // fewer than four questions
		"s_1! s_2 s_3 s_4 -s_7":                        true,
		"s_1! s_2 -s_3 -s_4 s_7":                       false, // two competing conditions
		"s_1! s_2 s_3 s_4 s_5 s_6 -s_7":                true,
		"s_1! -s_2 -s_3 -s_4 -s_7 ?s_8":                false,
		"s_1! ?s_2 ?s_3 ?s_4 ?s_5 ?s_6":                false,
		"s_1! -s_2 -s_3 -s_4 -s_5 -s_6 -s_7 -s_8 -s_9": true, // nothing left to ask
	} {
		if a := New().Assess(r, newFemalePatient(t, r, words), Options{}); a.ShouldStop != want {
			t.Errorf("%q: stop %v, want %v; %+v", words, a.ShouldStop, want, a.Conditions)
		}
	}
}

// TestShortTriageStopsWhenLevelIsSettled, even if two conditions of the same level
// compete.
func TestShortTriageStopsWhenLevelIsSettled(t *testing.T) {
	t.Parallel()
	build := func(second model.TriageLevel) *model.Release {
		return modeltest.New().
			Condition("c_1", 0.05).
			Condition("c_2", 0.05, func(c *model.DraftCondition) { c.Triage = second }).
			Symptom("s_1", 0.001).Symptom("s_2", 0.02).Symptom("s_3", 0.02).
			Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).
			Link("c_1", "s_2", 0.8).Link("c_2", "s_3", 0.8).
			Build(t)
	}
	for second, want := range map[model.TriageLevel]bool{model.Consultation: true, model.Emergency: false} {
		r := build(second)
		a := New().Assess(r, newFemalePatient(t, r, "s_1!"), Options{Mode: ShortTriageMode})
		if a.ShouldStop != want {
			t.Errorf("with a condition of level %v: stop %v, want %v", second, a.ShouldStop, want)
		}
		if New().Assess(r, newFemalePatient(t, r, "s_1!"), Options{}).ShouldStop {
			t.Errorf("with a condition of level %v the interview for the condition stops too", second)
		}
	}
}

// TestUninformativeRedFlagIsStillAsked expects that, with one condition almost
// certain, the interview does not stop before a red flag is answered, although it does
// not help to distinguish conditions.
func TestUninformativeRedFlagIsStillAsked(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.99).
		Symptom("s_1", 0.00001).Symptom("s_2", 0.001, redFlag).
		Link("c_1", "s_1", 0.99).Link("c_1", "s_2", 0.1).Build(t)
	for _, mode := range []Mode{DefaultMode, TriageMode, ShortTriageMode} {
		o := Options{Mode: mode}
		if a := New().Assess(r, newFemalePatient(t, r, "s_1!"), o); a.Question == nil || a.ShouldStop {
			t.Errorf("mode %d: question %+v, stop %v; want to be asked about s_2", mode, a.Question, a.ShouldStop)
		}
		if a := New().Assess(r, newFemalePatient(t, r, "s_1! -s_2"), o); a.Question != nil || !a.ShouldStop {
			t.Errorf("mode %d: question %+v, stop %v after all was asked", mode, a.Question, a.ShouldStop)
		}
	}
}
