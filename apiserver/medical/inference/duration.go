// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// The duration of a symptom serves as evidence in one of two ways.
//
// If the model divides a symptom by duration, such as a cough into at most and more
// than eight weeks, the duration determines which child observation is present.
//
// Otherwise, the duration supports the causes with a matching course. The observation
// is then the symptom at about this duration, so that a cause that causes the symptom
// with probability q explains it with q times the probability that its course puts the
// duration near the reported one. Complaints in one episode mostly began together, so
// several durations carry little more information than one. Therefore the likelihoods
// of n durations enter as their geometric mean: the n-th root of each is taken.

const (
	// durationTolerance is the factor by which a duration may differ from the reported one
	// and still match: people who say a week also mean half a week or two weeks.
	durationTolerance = 2.0
	// offCourseProbability is the minimum probability that a cause puts a duration near
	// the reported one: one patient in twenty follows no course, and their durations are
	// spread evenly from an hour to ten years.
	offCourseProbability = 0.006
	// maxDurationQuestions is the maximum number of duration questions in an interview.
	maxDurationQuestions = 3
)

// A symptomDuration is how long a patient has had a symptom.
type symptomDuration struct {
	symptom  model.ObservationIndex
	duration time.Duration
}

// forOptions returns the patient to use with the options, with or without symptom
// durations.
func (p *Patient) forOptions(o Options) *Patient {
	if o.SymptomDuration && p.durationAware != nil {
		return p.durationAware
	}
	return p
}

// withDurations returns the patient with the durations of the complaints applied, or
// nil if none was reported. The findings must be as reported, before derive.
func (p *Patient) withDurations(r *model.Release) *Patient {
	var divided, undivided []symptomDuration
	for i := range p.findings {
		f := &p.findings[i]
		if f.duration <= 0 || !p.isComplaint(r, f) {
			continue
		}
		if symptom := p.durationParent(r, f.observation); symptom != model.None {
			divided = mergeDuration(divided, symptomDuration{symptom, f.duration})
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
		timed.applyDuration(r, d)
	}
	timed.derive(r)
	timed.durations = keepMostSpecific(r, slices.DeleteFunc(undivided, func(d symptomDuration) bool {
		return timed.find(d.symptom).choice != Present
	}))
	return &timed
}

// keepMostSpecific returns the durations whose symptoms are not refined by another
// symptom in the list.
func keepMostSpecific(r *model.Release, list []symptomDuration) []symptomDuration {
	return slices.DeleteFunc(slices.Clone(list), func(d symptomDuration) bool {
		return slices.ContainsFunc(list, func(below symptomDuration) bool { return isDescendant(r, below.symptom, d.symptom) })
	})
}

// mergeDuration adds a duration to a list. If the symptom already has a duration,
// mergeDuration keeps the longer one, because a symptom has lasted at least as long as
// the symptoms that refine it.
func mergeDuration(list []symptomDuration, d symptomDuration) []symptomDuration {
	for i := range list {
		if list[i].symptom == d.symptom {
			list[i].duration = max(list[i].duration, d.duration)
			return list
		}
	}
	return append(list, d)
}

// isComplaint reports whether a finding was reported as a symptom for which the patient
// seeks care.
func (p *Patient) isComplaint(r *model.Release, f *finding) bool {
	return f.reported && f.reportedChoice == Present && r.Observations[f.observation].Kind == model.Symptom &&
		(f.source == SourceInitial || !p.hasSources)
}

// hasComplaintBelow reports whether a complaint refines a finding.
func (p *Patient) hasComplaintBelow(r *model.Release, f *finding) bool {
	return f.refined && slices.ContainsFunc(p.findings, func(below finding) bool {
		return p.isComplaint(r, &below) && isDescendant(r, below.observation, f.observation)
	})
}

// durationParent returns the first of a symptom and its ancestors that the model
// divides by duration, or model.None. A symptom implies its ancestors, and its duration
// applies to them too.
func (p *Patient) durationParent(r *model.Release, symptom model.ObservationIndex) model.ObservationIndex {
	for ; symptom != model.None; symptom = r.Observations[symptom].Parent {
		if slices.ContainsFunc(children(r, symptom), func(child model.ObservationIndex) bool { return p.isDurationChild(r, child) }) {
			return symptom
		}
	}
	return model.None
}

func children(r *model.Release, o model.ObservationIndex) []model.ObservationIndex {
	return model.Slice(r.ChildRefs, r.Observations[o].Children)
}

// isDurationChild reports whether an observation divides its parent by duration and
// can apply to the patient.
func (p *Patient) isDurationChild(r *model.Release, o model.ObservationIndex) bool {
	return r.Observations[o].DurationTo > 0 && p.isApplicable(&r.Observations[o])
}

// applyDuration derives findings about the children that divide a symptom by duration,
// as if the matching child had been reported. Reported findings about the children
// take precedence, and nothing is derived if one of them, or an observation that
// refines one, is present.
func (p *Patient) applyDuration(r *model.Release, d symptomDuration) {
	isReported := func(child model.ObservationIndex) bool {
		return p.isDurationChild(r, child) && slices.ContainsFunc(p.findings, func(f finding) bool {
			return f.choice == Present && (f.observation == child || isDescendant(r, f.observation, child))
		})
	}
	if slices.ContainsFunc(children(r, d.symptom), isReported) {
		return
	}
	for _, child := range children(r, d.symptom) {
		if !p.isDurationChild(r, child) || p.find(child) != nil {
			continue
		}
		if f := p.findOrInsert(child); durationInRange(&r.Observations[child], d.duration) {
			f.choice, f.reportedChoice, f.reported = Present, Present, true
			f.source, f.initial = SourceInitial, p.hasSources
		} else {
			f.choice = Absent
		}
	}
}

// durationInRange reports whether a duration is in the range of an observation.
func durationInRange(o *model.Observation, d time.Duration) bool {
	minutes := d.Minutes()
	return minutes >= float64(o.DurationFrom) && (minutes < float64(o.DurationTo) || o.DurationTo == model.NoUpperBound)
}

// scaleByDurations scales each row, and the leak, by the probability that the cause
// puts the durations near the reported ones.
func (s *scratch) scaleByDurations() {
	exponent := 1 / float64(len(s.p.durations))
	for _, d := range s.p.durations {
		node := slices.IndexFunc(s.plan.nodes, func(n node) bool { return n.observation == d.symptom })
		if node < 0 {
			continue
		}
		logMinutes := math.Log(d.duration.Minutes())
		s.leaks[node] *= math.Pow(courseLikelihood(s.r.Meta.LeakCourse, logMinutes), exponent)
		for row, c := range s.linkedConditions {
			if q := &s.row(int32(row))[node]; *q > 0 {
				*q *= math.Pow(courseLikelihood(s.r.Conditions[c].Course, logMinutes), exponent)
			}
		}
	}
}

// courseLikelihood returns the probability that a course puts a duration near the given
// one, which is the logarithm of a number of minutes. The result is never zero, so no
// duration rules out a cause.
func courseLikelihood(c model.Course, logMinutes float64) float64 {
	from, to := logMinutes-math.Log(durationTolerance), logMinutes+math.Log(durationTolerance)
	window := normalCDF((to-c.Mean)/c.StdDev) - normalCDF((from-c.Mean)/c.StdDev)
	return window + offCourseProbability*(1-window)
}

// normalCDF returns the cumulative distribution function of the standard normal
// distribution at x.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// nextDurationSymptom returns the symptom whose duration to ask about next, or
// model.None. It chooses complaints in their most specific form.
func (s *scratch) nextDurationSymptom(o Options) model.ObservationIndex {
	if !o.SymptomDuration || s.answeredDurationCount() >= maxDurationQuestions {
		return model.None
	}
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice == Present && s.p.isComplaint(s.r, f) && !s.p.hasComplaintBelow(s.r, f) && !s.isDurationKnown(f.observation) {
			return f.observation
		}
	}
	return model.None
}

// answeredDurationCount returns the number of complaints for which the patient answered
// the duration question.
func (s *scratch) answeredDurationCount() (count int) {
	for i := range s.p.findings {
		if f := &s.p.findings[i]; f.hasDurationAnswer() && s.p.isComplaint(s.r, f) {
			count++
		}
	}
	return count
}

// hasDurationAnswer reports whether the patient answered the question about the
// duration of the finding.
func (f *finding) hasDurationAnswer() bool { return f.duration > 0 || f.durationUnknown }

// isDurationKnown reports whether the duration of a symptom, or of an observation in
// the same lineage, has been answered: directly, or by a child that divides it by
// duration.
func (s *scratch) isDurationKnown(symptom model.ObservationIndex) bool {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		measured := f.choice == Present && s.p.isDurationChild(s.r, f.observation)
		if f.hasDurationAnswer() && sameLineage(s.r, symptom, f.observation) || measured && sameLineage(s.r, symptom, s.r.Observations[f.observation].Parent) {
			return true
		}
	}
	return false
}

// sameLineage reports whether a and b are equal or one is a descendant of the other.
func sameLineage(r *model.Release, a, b model.ObservationIndex) bool {
	return a == b || isDescendant(r, a, b) || isDescendant(r, b, a)
}

// durationQuestion returns the question about how long the patient has had a symptom.
func (s *scratch) durationQuestion(symptom model.ObservationIndex) *Question {
	name := s.r.Text(s.r.Observations[symptom].CommonName)
	return &Question{
		Type: Duration, Group: model.None, Symptom: symptom,
		Text:            strings.Replace(s.r.Meta.DurationQuestion, model.SymptomPlaceholder, name, 1),
		TextThirdPerson: strings.Replace(s.r.Meta.DurationQuestionThirdPerson, model.SymptomPlaceholder, name, 1),
	}
}
