// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func withTriageLevel(level model.TriageLevel) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.Triage = level }
}

// isSettled reports whether the interview for the level only stops.
func isSettled(t testing.TB, r *model.Release, words string, o Options) bool {
	t.Helper()
	o.Mode = ShortTriageMode
	return New().Assess(r, newFemalePatient(t, r, words), o).ShouldStop
}

// TestLevelIsSettledUnlessAnswerCanChangeIt covers a second condition that is, or is
// not, likely enough to determine the level once s_3 supports it.
func TestLevelIsSettledUnlessAnswerCanChangeIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		level model.TriageLevel
		prior float64
		three bool
		want  bool
	}{
		"another level, likely":              {model.Consultation24, 0.01, false, false},
		"the same level, likely":             {model.Consultation, 0.01, false, true},
		"another level, too rare for it":     {model.Consultation24, 0.00002, false, true},
		"another of five levels, not of two": {model.Consultation24, 0.01, true, true},
		"another of three levels":            {model.Emergency, 0.003, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := modeltest.New().Condition("c_1", 0.05).Condition("c_2", test.prior, withTriageLevel(test.level)).
				Symptom("s_1", 0.001).Symptom("s_2", 0.02).Symptom("s_3", 0.02).
				Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).
				Link("c_1", "s_2", 0.8).Link("c_2", "s_3", 0.8).Build(t)
			if got := isSettled(t, r, "s_1!", Options{ThreeLevels: test.three}); got != test.want {
				t.Errorf("settled %v, want %v", got, test.want)
			}
		})
	}
}

// TestDenialCanChangeLevel has an emergency that is suspected until a finding of
// nearly all its patients is denied.
func TestDenialCanChangeLevel(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.004, withTriageLevel(model.Emergency)).
		Symptom("s_1", 0.001).Symptom("s_2", 0.3).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_2", "s_2", 0.95).Build(t)
	for words, want := range map[string]bool{"s_1!": false, "s_1! -s_2": true} {
		if got := isSettled(t, r, words, Options{}); got != want {
			t.Errorf("%q: settled %v, want %v", words, got, want)
		}
	}
}

// TestRedFlagOfHarmlessConditionKeepsLevelUnsettled expects a present red flag to
// raise the level whatever its cause, as the last item of a tuple does, unless the
// evidence already requires that level.
func TestRedFlagOfHarmlessConditionKeepsLevelUnsettled(t *testing.T) {
	t.Parallel()
	build := func(tuple bool, edits ...func(*model.DraftObservation)) *model.Release {
		b := modeltest.New().Condition("c_1", 0.05).
			Symptom("s_1", 0.001).Symptom("s_2", 0.02, edits...).Symptom("s_3", 0.02, redFlag).
			Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.2)
		if tuple {
			b.Tuple(model.Emergency, "s_1", "s_2")
		}
		return b.Build(t)
	}
	for name, test := range map[string]struct {
		release  *model.Release
		evidence string
		want     bool
	}{
		"no change of level":       {build(false), "s_1!", true},
		"serious":                  {build(false, serious), "s_1!", false},
		"the last of a tuple":      {build(true), "s_1!", false},
		"serious, in an emergency": {build(false, serious), "s_1! s_3", true},
	} {
		if got := isSettled(t, test.release, test.evidence, Options{}); got != test.want {
			t.Errorf("%s: settled %v, want %v", name, got, test.want)
		}
	}
}

// TestGroupKeepsLevelUnsettled expects a group to keep the level open if one of its
// items does.
func TestGroupKeepsLevelUnsettled(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.GroupType{model.GroupSingle, model.GroupMultiple} {
		build := func(level model.TriageLevel) *model.Release {
			return modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.01, withTriageLevel(level)).
				Symptom("s_1", 0.001).
				Child("s_2", "s_1", model.CharacterRelation, 0.0001).Child("s_3", "s_1", model.CharacterRelation, 0.0001).Group(kind, "s_2", "s_3").
				Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).
				Link("c_1", "s_2", 0.5).Link("c_2", "s_3", 0.5).Build(t)
		}
		for level, want := range map[model.TriageLevel]bool{model.Consultation: true, model.Consultation24: false} {
			if got := isSettled(t, build(level), "s_1!", Options{}); got != want {
				t.Errorf("group of type %d, level %v: settled %v, want %v", kind, level, got, want)
			}
		}
	}
}

// TestLevelChangeThresholdGrowsWithQuestions expects a longer interview to require a
// more likely change.
func TestLevelChangeThresholdGrowsWithQuestions(t *testing.T) {
	t.Parallel()
	r := newEndlessRelease(t)
	p, e := newFemalePatient(t, r, "s_1!"), New()
	s := e.getScratch(r, &p)
	defer e.putScratch(s)
	s.infer()
	s.chooseQuestion(Options{Mode: ShortTriageMode})
	if s.isLevelSettled(0, Options{}) || !s.isLevelSettled(2, Options{}) {
		t.Error("the level is settled for probability 0, or not settled above probability 1")
	}
}
