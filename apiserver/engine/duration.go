// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// How long a patient has had a symptom is evidence in one of two ways.
//
// Where the model divides a symptom by how long it has lasted, as a cough by
// whether it is one of more than eight weeks, the duration says which of these
// children holds.
//
// Elsewhere it speaks for the causes whose course it fits. What was observed is
// then the symptom at about this duration, so that a cause that brings the
// symptom with probability q explains it with q times the probability that its
// course puts the duration near the one reported. Complaints of one episode
// mostly began together, so that several durations say little more than one:
// of n of them each counts with the n-th root, and together they count as their
// geometric mean.

const (
	// about is how far, as a factor, a duration may be from the one reported
	// and still be about the same: people who say a week mean half of one or
	// two as well.
	about = 2.0
	// offCourse is the least probability that a cause puts a duration near the
	// one reported: one patient in twenty follows no course, and that evenly
	// over all durations from an hour to ten years.
	offCourse = 0.006
	// mostDurations is how many durations an interview may ask for.
	mostDurations = 3
)

// A symptomDuration is how long a patient has had a symptom.
type symptomDuration struct {
	symptom  model.ObservationIndex
	duration time.Duration
}

// under is the patient as the options want them seen: with the durations of
// symptoms, or as if none had been given.
func (p *Patient) under(o Options) *Patient {
	if o.SymptomDuration && p.timed != nil {
		return p.timed
	}
	return p
}

// inTime is the patient with the durations of what brought them here, nil when
// none was given. It takes the findings as they were sent.
func (p *Patient) inTime(r *model.Release) *Patient {
	var divided, undivided []symptomDuration
	for i := range p.findings {
		f := &p.findings[i]
		if f.duration <= 0 || !p.opens(r, f) {
			continue
		}
		if symptom := p.divided(r, f.observation); symptom != model.None {
			divided = addDuration(divided, symptomDuration{symptom, f.duration})
		} else {
			undivided = append(undivided, symptomDuration{f.observation, f.duration})
		}
	}
	if len(divided)+len(undivided) == 0 {
		return nil
	}
	timed := *p
	timed.findings = append(make([]finding, 0, cap(p.findings)), p.findings...)
	for _, d := range divided {
		timed.divide(r, d)
	}
	timed.complete(r)
	timed.durations = mostSpecific(r, slices.DeleteFunc(undivided, func(d symptomDuration) bool {
		return timed.find(d.symptom).choice != Present
	}))
	return &timed
}

// mostSpecific leaves of a list the durations of the symptoms that no other in
// it refines.
func mostSpecific(r *model.Release, list []symptomDuration) []symptomDuration {
	return slices.DeleteFunc(slices.Clone(list), func(d symptomDuration) bool {
		return slices.ContainsFunc(list, func(below symptomDuration) bool { return descends(r, below.symptom, d.symptom) })
	})
}

// addDuration adds a duration to a list. Of two durations of one symptom the
// longer counts: it has lasted no less than what refines it.
func addDuration(list []symptomDuration, d symptomDuration) []symptomDuration {
	for i := range list {
		if list[i].symptom == d.symptom {
			list[i].duration = max(list[i].duration, d.duration)
			return list
		}
	}
	return append(list, d)
}

// opens reports whether a finding was sent as a symptom that brought the
// patient here.
func (p *Patient) opens(r *model.Release, f *finding) bool {
	return f.reported && f.sent == Present && r.Observations[f.observation].Kind == model.Symptom &&
		(f.source == SourceInitial || !p.marked)
}

// opensBelow reports whether a symptom that brought the patient here refines a
// finding.
func (p *Patient) opensBelow(r *model.Release, f *finding) bool {
	return f.refined && slices.ContainsFunc(p.findings, func(below finding) bool {
		return p.opens(r, &below) && descends(r, below.observation, f.observation)
	})
}

// divided is the symptom, or else the nearest above it, that the model divides
// by how long it has lasted; None when there is none. A symptom stands for
// those above it, and so does its duration.
func (p *Patient) divided(r *model.Release, symptom model.ObservationIndex) model.ObservationIndex {
	for ; symptom != model.None; symptom = r.Observations[symptom].Parent {
		if slices.ContainsFunc(children(r, symptom), func(child model.ObservationIndex) bool { return p.measures(r, child) }) {
			return symptom
		}
	}
	return model.None
}

func children(r *model.Release, o model.ObservationIndex) []model.ObservationIndex {
	return model.Part(r.ChildRefs, r.Observations[o].Children)
}

// measures reports whether an observation says how long its parent has lasted,
// and can apply to the patient.
func (p *Patient) measures(r *model.Release, o model.ObservationIndex) bool {
	return r.Observations[o].LastsTo > 0 && p.admits(&r.Observations[o])
}

// divide adds what a duration says about the children that divide a symptom, as
// if the one that holds had been reported with it. What was reported about them
// is believed, and once one is present, or what refines one, it says all.
func (p *Patient) divide(r *model.Release, d symptomDuration) {
	said := func(child model.ObservationIndex) bool {
		return p.measures(r, child) && slices.ContainsFunc(p.findings, func(f finding) bool {
			return f.choice == Present && (f.observation == child || descends(r, f.observation, child))
		})
	}
	if slices.ContainsFunc(children(r, d.symptom), said) {
		return
	}
	for _, child := range children(r, d.symptom) {
		if !p.measures(r, child) || p.find(child) != nil {
			continue
		}
		if f := p.know(child); within(&r.Observations[child], d.duration) {
			f.choice, f.sent, f.reported = Present, Present, true
			f.source, f.initial = SourceInitial, p.marked
		} else {
			f.choice = Absent
		}
	}
}

// within reports whether a duration is one that an observation measures.
func within(o *model.Observation, d time.Duration) bool {
	minutes := d.Minutes()
	return minutes >= float64(o.LastsFrom) && (minutes < float64(o.LastsTo) || o.LastsTo == model.NoEnd)
}

// scaleByDurations leaves in each row what the condition may have brought at
// about the durations that the patient reports, and the same of the leak.
func (s *scratch) scaleByDurations() {
	part := 1 / float64(len(s.p.durations))
	for _, d := range s.p.durations {
		node := slices.IndexFunc(s.plan.nodes, func(n node) bool { return n.observation == d.symptom })
		if node < 0 {
			continue
		}
		at := math.Log(d.duration.Minutes())
		s.leaks[node] *= math.Pow(near(s.r.Meta.LeakCourse, at), part)
		for row, c := range s.touched {
			if q := &s.row(int32(row))[node]; *q > 0 {
				*q *= math.Pow(near(s.r.Conditions[c].Course, at), part)
			}
		}
	}
}

// near is the probability that a course puts a duration near the one whose
// logarithm in minutes is given. It is never zero, so that no duration rules a
// cause out.
func near(c model.Course, logMinutes float64) float64 {
	from, to := logMinutes-math.Log(about), logMinutes+math.Log(about)
	window := normal((to-c.Mean)/c.Deviation) - normal((from-c.Mean)/c.Deviation)
	return window + offCourse*(1-window)
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// undated is the symptom whose duration is asked next, None when there is
// none. What brought the patient here is asked in its most specific form.
func (s *scratch) undated(o Options) model.ObservationIndex {
	if !o.SymptomDuration || s.durationsKnown() >= mostDurations {
		return model.None
	}
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice == Present && s.p.opens(s.r, f) && !s.p.opensBelow(s.r, f) && !s.durationKnown(f.observation) {
			return f.observation
		}
	}
	return model.None
}

// durationsKnown is how many of the symptoms that brought the patient here
// carry an answer to how long they have lasted.
func (s *scratch) durationsKnown() (count int) {
	for i := range s.p.findings {
		if f := &s.p.findings[i]; f.dated() && s.p.opens(s.r, f) {
			count++
		}
	}
	return count
}

// dated reports whether there is an answer to how long the patient has had it.
func (f *finding) dated() bool { return f.duration > 0 || f.durationUnknown }

// durationKnown reports whether there is an answer to how long a symptom has
// lasted, or one of its line: about itself, or by a child that measures it.
func (s *scratch) durationKnown(symptom model.ObservationIndex) bool {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		measured := f.choice == Present && s.p.measures(s.r, f.observation)
		if f.dated() && inLine(s.r, symptom, f.observation) || measured && inLine(s.r, symptom, s.r.Observations[f.observation].Parent) {
			return true
		}
	}
	return false
}

// inLine reports whether of two observations one is the other or below it.
func inLine(r *model.Release, a, b model.ObservationIndex) bool {
	return a == b || descends(r, a, b) || descends(r, b, a)
}

// durationQuestion asks how long the patient has had a symptom.
func (s *scratch) durationQuestion(symptom model.ObservationIndex) *Question {
	name := s.r.Text(s.r.Observations[symptom].CommonName)
	return &Question{
		Type: AskDuration, Group: model.None, Evidence: symptom,
		Text:            strings.Replace(s.r.Meta.DurationQuestion, model.SymptomSlot, name, 1),
		TextThirdPerson: strings.Replace(s.r.Meta.DurationQuestionThirdPerson, model.SymptomSlot, name, 1),
	}
}
