// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

const (
	hour = 60 // in minutes, as all that follows
	day  = 24 * hour
	year = 365 * day
)

// usualCourse is that of conditions whose sources name none.
var usualCourse = [...]model.Course{
	model.Acute:                    model.CourseBetween(6*hour, 14*day),
	model.AcutePotentiallyChronic:  model.CourseBetween(1*day, 60*day),
	model.ChronicWithExacerbations: model.CourseBetween(1*day, 2*year),
	model.Chronic:                  model.CourseBetween(14*day, 5*year),
}

// duration is source.ParseDuration of a word, whose problem it tells.
func duration(p place, w source.Word) (minutes uint32, ok bool) {
	minutes, err := source.ParseDuration(w.Text)
	if err != nil {
		p.line(w.Line).add("%v", err)
	}
	return minutes, err == nil
}

// course reads the middle 80 % of a course.
func course(p place, r source.Range, leftOut model.Course) model.Course {
	if r.Line() == 0 {
		return leftOut
	}
	if r.From.Line == 0 || r.To.Line == 0 {
		p.line(r.Line()).add("half a course: expected both of its times, as in {from: 2d, to: 14d}")
		return leftOut
	}
	from, okFrom := duration(p, r.From)
	to, okTo := duration(p, r.To)
	if !okFrom || !okTo {
		return leftOut
	}
	if from == 0 || from >= to {
		p.line(r.Line()).add("course from %s to %s: expected a time over 0, and a longer one", r.From.Text, r.To.Text)
		return leftOut
	}
	return model.CourseBetween(float64(from), float64(to))
}

// lasts reads how long the parent of an observation has lasted: from the first
// time on, 0 when left out, and less than the second, without end when left
// out.
func lasts(p place, s *source.Observation) (from, to uint32) {
	if s.Lasts.Line() == 0 {
		return 0, 0
	}
	if s.Relation.Text != model.Duration.String() {
		p.line(s.Lasts.Line()).add("%s says how long its parent lasts: only children by relation duration do", s.Slug.Text)
	}
	okFrom, okTo := true, true
	if s.Lasts.From.Line != 0 {
		from, okFrom = duration(p, s.Lasts.From)
	}
	to = model.NoEnd
	if s.Lasts.To.Line != 0 {
		to, okTo = duration(p, s.Lasts.To)
	}
	if okFrom && okTo && from >= to {
		p.line(s.Lasts.Line()).add("%s lasts from %s to less than %s, which is never", s.Slug.Text, s.Lasts.From.Text, s.Lasts.To.Text)
	}
	return from, to
}
