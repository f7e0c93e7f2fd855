// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

const (
	hour = 60 // minutes, like all units below
	day  = 24 * hour
	year = 365 * day
)

// defaultCourses are the courses of conditions without a course in the sources.
var defaultCourses = [...]model.Course{
	model.Acute:                    model.NewCourse(6*hour, 14*day),
	model.AcutePotentiallyChronic:  model.NewCourse(1*day, 60*day),
	model.ChronicWithExacerbations: model.NewCourse(1*day, 2*year),
	model.Chronic:                  model.NewCourse(14*day, 5*year),
}

// parseDuration parses a scalar with source.ParseDuration and reports errors as problems.
func parseDuration(p reporter, w source.Scalar) (minutes uint32, ok bool) {
	minutes, err := source.ParseDuration(w.Text)
	if err != nil {
		p.atLine(w.Line).errorf("%v", err)
	}
	return minutes, err == nil
}

// parseCourse parses the middle 80 % of a course. If the range is unset or invalid, it
// returns defaultCourse.
func parseCourse(p reporter, r source.Range, defaultCourse model.Course) model.Course {
	if r.Line() == 0 {
		return defaultCourse
	}
	if r.From.Line == 0 || r.To.Line == 0 {
		p.atLine(r.Line()).errorf("incomplete course: expected both times, such as {from: 2d, to: 14d}")
		return defaultCourse
	}
	from, okFrom := parseDuration(p, r.From)
	to, okTo := parseDuration(p, r.To)
	if !okFrom || !okTo {
		return defaultCourse
	}
	if from == 0 || from >= to {
		p.atLine(r.Line()).errorf("invalid course from %s to %s: expected a time above 0 and a longer time", r.From.Text, r.To.Text)
		return defaultCourse
	}
	return model.NewCourse(float64(from), float64(to))
}

// parseDurationRange parses the range of the duration of an observation's parent: at
// least from, which defaults to 0, and less than to, which defaults to no limit.
func parseDurationRange(p reporter, s *source.Observation) (from, to uint32) {
	if s.Duration.Line() == 0 {
		return 0, 0
	}
	if s.Relation.Text != model.DurationRelation.String() {
		p.atLine(s.Duration.Line()).errorf("%s sets a duration, but does not have the relation duration", s.Slug.Text)
	}
	okFrom, okTo := true, true
	if s.Duration.From.Line != 0 {
		from, okFrom = parseDuration(p, s.Duration.From)
	}
	to = model.NoUpperBound
	if s.Duration.To.Line != 0 {
		to, okTo = parseDuration(p, s.Duration.To)
	}
	if okFrom && okTo && from >= to {
		p.atLine(s.Duration.Line()).errorf("duration range of %s from %s to less than %s is empty", s.Slug.Text, s.Duration.From.Text, s.Duration.To.Text)
	}
	return from, to
}
