// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

func TestCompileCourses(t *testing.T) {
	t.Parallel()
	const (
		hour = 60.0
		day  = 24 * hour
		year = 365 * day
	)
	usual := map[string]model.Course{
		"acute":                      model.CourseBetween(6*hour, 14*day),
		"acute_potentially_chronic":  model.CourseBetween(day, 60*day),
		"chronic_with_exacerbations": model.CourseBetween(day, 2*year),
		"chronic":                    model.CourseBetween(14*day, 5*year),
	}
	for acuteness, want := range usual {
		r := compiled(t, edit{neurology, "acuteness: acute\n", "acuteness: " + acuteness + "\n"})
		if got := condition(t, r, "c_2").Course; got != want {
			t.Errorf("%s: the course is %v, want %v", acuteness, got, want)
		}
	}
	for text, want := range map[string]model.Course{
		"{from: 90min, to: 3h}":      model.CourseBetween(90, 180),
		"{from: 1d, to: 2w}":         model.CourseBetween(day, 14*day),
		"{from: 2mo, to: 3y}":        model.CourseBetween(60*day, 3*year),
		"{to: 1000000min, from: 1d}": model.CourseBetween(day, 1e6),
	} {
		r := compiled(t, edit{neurology, "acuteness: acute\n", "acuteness: acute\n    course: " + text + "\n"})
		if got := condition(t, r, "c_2").Course; got != want {
			t.Errorf("%s: the course is %v, want %v", text, got, want)
		}
	}
	if got, want := compiled(t, edit{release, "{from: 6h, to: 1y}", "{from: 1h, to: 1w}"}).Meta.LeakCourse, model.CourseBetween(hour, 7*day); got != want {
		t.Errorf("the course of what no condition brings is %v, want %v", got, want)
	}
}

// lasting turns the first child of the headache into one by duration, with
// what it says of time.
func lasting(lasts string) []edit {
	return []edit{
		{head, "    parent: headache\n    relation: severity\n", "    parent: headache\n    relation: duration\n" + lasts},
	}
}

func TestCompileLastsAndTopic(t *testing.T) {
	t.Parallel()
	for lasts, want := range map[string][2]uint32{
		"":                                  {0, 0},
		"    lasts: {from: 3w, to: 8w}\n":   {3 * 7 * 24 * 60, 8 * 7 * 24 * 60},
		"    lasts: {from: 3w}\n":           {3 * 7 * 24 * 60, model.NoEnd},
		"    lasts: {to: 90min}\n":          {0, 90},
		"    lasts: {from: 0min, to: 1h}\n": {0, 60},
	} {
		o := observation(t, compiled(t, lasting(lasts)...), "s_2")
		if got := [2]uint32{o.LastsFrom, o.LastsTo}; got != want {
			t.Errorf("%q: it lasts %v minutes, want %v", lasts, got, want)
		}
	}
	r := compiled(t, edit{head, "background: 0.03\n", "background: 0.03\n    topic: injury\n"})
	if got := observation(t, r, "s_6").Topic; got != model.Injury {
		t.Errorf("the topic is %v", got)
	}
	if got := observation(t, r, "s_1").Topic; got != model.NoTopic {
		t.Errorf("an observation about nothing is about %v", got)
	}
}

func TestCompileRefusesDurations(t *testing.T) {
	t.Parallel()
	course := func(text string) []edit {
		return []edit{{neurology, "    acuteness: acute\n", "    acuteness: acute\n    course: " + text + "\n"}}
	}
	const form = "expected a whole number and one of min, h, d, w, mo, y, as in 6h or 2w"
	both := append(lasting("    lasts: {from: 2d, to: 9d}\n"),
		edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {from: 1w, to: 3w}\n    background: 0.004"})
	refuses(t, "en", []refusal{
		{"a course of another unit", course("{from: 1d, to: 2q}"), []want{{neurology, "course:", `time "2q": ` + form}}},
		{"a course of no unit", course("{from: 1, to: 2d}"), []want{{neurology, "course:", `time "1": ` + form}}},
		{"a course of half a day", course("{from: 0.5d, to: 2d}"), []want{{neurology, "course:", `time "0.5d": ` + form}}},
		{"a course of no number", course("{from: d, to: 2d}"), []want{{neurology, "course:", `time "d": ` + form}}},
		{"a course longer than can be said", course("{from: 1d, to: 9000y}"), []want{{neurology, "course:", `time "9000y": ` + form}}},
		{"a course without a beginning", course("{to: 2d}"), []want{{neurology, "course:", "half a course: expected both of its times"}}},
		{"a course without an end", course("{from: 2d}"), []want{{neurology, "course:", "half a course"}}},
		{"a course that runs backwards", course("{from: 3d, to: 2d}"), []want{{neurology, "course:", "course from 3d to 2d"}}},
		{"a course of one time", course("{from: 2d, to: 48h}"), []want{{neurology, "course:", "course from 2d to 48h"}}},
		{"a course from the first minute", course("{from: 0min, to: 48h}"), []want{{neurology, "course:", "course from 0min to 48h"}}},
		{"a course that is a word", course("long"), []want{{neurology, "course:", "expected keys with values"}}},
		{"a course of no condition that runs backwards", []edit{{release, "{from: 6h, to: 1y}", "{from: 6h, to: 1h}"}}, []want{{release, "course", "course from 6h to 1h"}}},

		{"a time of a severity", []edit{{head, "    relation: severity\n    background: 0.02", "    relation: severity\n    lasts: {from: 1d}\n    background: 0.02"}}, []want{
			{head, "lasts", "headache_mild says how long its parent lasts: only children by relation duration do"},
		}},
		{"a time of no unit", lasting("    lasts: {from: 3, to: x}\n"), []want{{head, "lasts", `time "3": ` + form}, {head, "lasts", `time "x": ` + form}}},
		{"a time that is none", lasting("    lasts: {from: 3d, to: 3d}\n"), []want{{head, "lasts", "headache_mild lasts from 3d to less than 3d, which is never"}}},
		{"times that overlap", both, []want{{head, "lasts: {from: 1w", "headache_severe begins before headache_mild ends, and group headache_severity names it first"}}},
		{"times out of order", append(lasting("    lasts: {from: 3w}\n"),
			edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {to: 3w}\n    background: 0.004"}),
			[]want{{head, "lasts: {to: 3w}", "headache_severe begins before headache_mild ends"}}},
		{"an unknown topic", []edit{{head, "background: 0.03\n", "background: 0.03\n    topic: accident\n"}}, []want{{head, "topic", `unknown topic "accident", expected one of none, injury`}}},
	})
}

func TestCompileTimesSideBySide(t *testing.T) {
	t.Parallel()
	compiled(t, append(lasting("    lasts: {to: 3w}\n"),
		edit{head, "    relation: severity\n    background: 0.004", "    relation: duration\n    lasts: {from: 3w}\n    background: 0.004"})...)
}
