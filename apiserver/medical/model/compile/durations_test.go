// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func TestCompileCourses(t *testing.T) {
	t.Parallel()
	const (
		hour = 60.0
		day  = 24 * hour
		year = 365 * day
	)
	usual := map[string]model.Course{
		"acute":                      model.NewCourse(6*hour, 14*day),
		"acute_potentially_chronic":  model.NewCourse(day, 60*day),
		"chronic_with_exacerbations": model.NewCourse(day, 2*year),
		"chronic":                    model.NewCourse(14*day, 5*year),
	}
	for acuteness, want := range usual {
		r := mustCompile(t, edit{neurology, "acuteness: acute\n", "acuteness: " + acuteness + "\n"})
		if got := condition(t, r, "c_2").Course; got != want {
			t.Errorf("%s: the course is %v, want %v", acuteness, got, want)
		}
	}
	for text, want := range map[string]model.Course{
		"{from: 90min, to: 3h}":      model.NewCourse(90, 180),
		"{from: 1d, to: 2w}":         model.NewCourse(day, 14*day),
		"{from: 2mo, to: 3y}":        model.NewCourse(60*day, 3*year),
		"{to: 1000000min, from: 1d}": model.NewCourse(day, 1e6),
	} {
		r := mustCompile(t, edit{neurology, "acuteness: acute\n", "acuteness: acute\n    course: " + text + "\n"})
		if got := condition(t, r, "c_2").Course; got != want {
			t.Errorf("%s: the course is %v, want %v", text, got, want)
		}
	}
	if got, want := mustCompile(t, edit{release, "{from: 6h, to: 1y}", "{from: 1h, to: 1w}"}).Meta.LeakCourse, model.NewCourse(hour, 7*day); got != want {
		t.Errorf("leak course is %v, want %v", got, want)
	}
}

// withDurationRange returns edits that turn the first child of headache into a child by
// duration with the given range.
func withDurationRange(lasts string) []edit {
	return []edit{
		{head, "    parent: headache\n    relation: severity\n", "    parent: headache\n    relation: duration\n" + lasts},
	}
}

func TestCompileDurationsAndTopics(t *testing.T) {
	t.Parallel()
	for lasts, want := range map[string][2]uint32{
		"":                                  {0, 0},
		"    lasts: {from: 3w, to: 8w}\n":   {3 * 7 * 24 * 60, 8 * 7 * 24 * 60},
		"    lasts: {from: 3w}\n":           {3 * 7 * 24 * 60, model.NoUpperBound},
		"    lasts: {to: 90min}\n":          {0, 90},
		"    lasts: {from: 0min, to: 1h}\n": {0, 60},
	} {
		o := observation(t, mustCompile(t, withDurationRange(lasts)...), "s_2")
		if got := [2]uint32{o.DurationFrom, o.DurationTo}; got != want {
			t.Errorf("%q: it lasts %v minutes, want %v", lasts, got, want)
		}
	}
	r := mustCompile(t, edit{head, "background: 0.03\n", "background: 0.03\n    topic: injury\n"})
	if got := observation(t, r, "s_6").Topic; got != model.Injury {
		t.Errorf("the topic is %v", got)
	}
	if got := observation(t, r, "s_1").Topic; got != model.NoTopic {
		t.Errorf("topic of an observation without a topic is %v", got)
	}
}

func TestCompileRejectsInvalidDurations(t *testing.T) {
	t.Parallel()
	course := func(text string) []edit {
		return []edit{{neurology, "    acuteness: acute\n", "    acuteness: acute\n    course: " + text + "\n"}}
	}
	const form = "expected a whole number and one of min, h, d, w, mo, y, such as 6h or 2w"
	both := append(withDurationRange("    lasts: {from: 2d, to: 9d}\n"),
		edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {from: 1w, to: 3w}\n    background: 0.004"})
	runRejectionTests(t, "en", []rejectionTest{
		{"a course of another unit", course("{from: 1d, to: 2q}"), []wantProblem{{neurology, "course:", `invalid duration "2q": ` + form}}},
		{"a course of no unit", course("{from: 1, to: 2d}"), []wantProblem{{neurology, "course:", `invalid duration "1": ` + form}}},
		{"a course of half a day", course("{from: 0.5d, to: 2d}"), []wantProblem{{neurology, "course:", `invalid duration "0.5d": ` + form}}},
		{"a course of no number", course("{from: d, to: 2d}"), []wantProblem{{neurology, "course:", `invalid duration "d": ` + form}}},
		{"a course longer than can be said", course("{from: 1d, to: 9000y}"), []wantProblem{{neurology, "course:", `invalid duration "9000y": ` + form}}},
		{"a course without a beginning", course("{to: 2d}"), []wantProblem{{neurology, "course:", "incomplete course: expected both times"}}},
		{"a course without an end", course("{from: 2d}"), []wantProblem{{neurology, "course:", "incomplete course"}}},
		{"a course that runs backwards", course("{from: 3d, to: 2d}"), []wantProblem{{neurology, "course:", "course from 3d to 2d"}}},
		{"a course of one time", course("{from: 2d, to: 48h}"), []wantProblem{{neurology, "course:", "course from 2d to 48h"}}},
		{"a course from the first minute", course("{from: 0min, to: 48h}"), []wantProblem{{neurology, "course:", "course from 0min to 48h"}}},
		{"a course that is a word", course("long"), []wantProblem{{neurology, "course:", "expected keys with values"}}},
		{"a course of no condition that runs backwards", []edit{{release, "{from: 6h, to: 1y}", "{from: 6h, to: 1h}"}}, []wantProblem{{release, "course", "course from 6h to 1h"}}},

		{"a time of a severity", []edit{{head, "    relation: severity\n    background: 0.02", "    relation: severity\n    lasts: {from: 1d}\n    background: 0.02"}}, []wantProblem{
			{head, "lasts", "headache_mild sets a duration, but does not have the relation duration"},
		}},
		{"a time of no unit", withDurationRange("    lasts: {from: 3, to: x}\n"), []wantProblem{{head, "lasts", `invalid duration "3": ` + form}, {head, "lasts", `invalid duration "x": ` + form}}},
		{"a time that is none", withDurationRange("    lasts: {from: 3d, to: 3d}\n"), []wantProblem{{head, "lasts", "duration range of headache_mild from 3d to less than 3d is empty"}}},
		{"times that overlap", both, []wantProblem{{head, "lasts: {from: 1w", "duration of headache_severe overlaps with headache_mild, the previous item of group headache_severity: list shorter durations first, without overlap"}}},
		{"times out of order", append(withDurationRange("    lasts: {from: 3w}\n"),
			edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {to: 3w}\n    background: 0.004"}),
			[]wantProblem{{head, "lasts: {to: 3w}", "duration of headache_severe overlaps with headache_mild, the previous item of group headache_severity: list shorter durations first, without overlap"}}},
		{"an unknown topic", []edit{{head, "background: 0.03\n", "background: 0.03\n    topic: accident\n"}}, []wantProblem{{head, "topic", `unknown topic "accident": expected one of none, injury`}}},
	})
}

func TestCompileAdjacentDurations(t *testing.T) {
	t.Parallel()
	mustCompile(t, append(withDurationRange("    lasts: {to: 3w}\n"),
		edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {from: 3w}\n    background: 0.004"})...)
}
