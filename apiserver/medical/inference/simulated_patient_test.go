// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// contentRelease is the release of the content in the tree, which the test fails
// without.
func contentRelease(t testing.TB) *model.Release {
	t.Helper()
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatalf("the content does not compile: %v", err)
	}
	return r
}

// A simulatedPatient is a patient drawn from a release: the conditions, and the
// observations that these and the leak produced.
type simulatedPatient struct {
	r          *model.Release
	sex        model.Sex
	ageMonths  int
	conditions []model.ConditionIndex
	holds      map[model.ObservationIndex]bool
	// answersRandomly makes the patient answer at random.
	answersRandomly bool
}

// simulate draws the observations of a patient with some conditions, following the
// semantics of links, leaks, factors and groups in package model.
func simulate(r *model.Release, sex model.Sex, ageMonths int, conditions []model.ConditionIndex, random *rand.Rand) *simulatedPatient {
	p := &simulatedPatient{r: r, sex: sex, ageMonths: ageMonths, conditions: conditions, holds: map[model.ObservationIndex]bool{}}
	for i := range r.Observations {
		o := model.ObservationIndex(i)
		if r.Observations[i].Kind == model.RiskFactor {
			p.holds[o] = random.Float64() < p.riskFactorProbability(o)
		}
	}
	p.applyCause(func(o model.ObservationIndex) (lambda, share float64) {
		return r.Observations[o].Leak, r.Observations[o].Leak
	}, random)
	for _, c := range conditions {
		p.applyCause(func(o model.ObservationIndex) (lambda, share float64) {
			for _, link := range model.Slice(r.LinksByCondition, r.Conditions[c].Links) {
				if link.Other == int32(o) {
					return link.Lambda, link.Probability
				}
			}
			return 0, r.Observations[o].Leak
		}, random)
	}
	p.settleGroups()
	for o := range p.holds {
		if !(&Patient{sex: sex, ageMonths: ageMonths}).isApplicable(&r.Observations[o]) {
			delete(p.holds, o)
		}
	}
	return p
}

// riskFactorProbability returns the probability that the patient has a risk factor.
func (p *simulatedPatient) riskFactorProbability(o model.ObservationIndex) float64 {
	of := p.r.Observations[o].Leak
	for _, f := range model.Slice(p.r.Factors, p.r.Observations[o].Factors) {
		for _, c := range p.conditions {
			if f.Condition == c {
				of = of * f.Present / (of*f.Present + (1-of)*f.Absent)
			}
		}
	}
	return of
}

// applyCause draws the observations that one cause produces, from the roots down.
func (p *simulatedPatient) applyCause(cause func(model.ObservationIndex) (lambda, share float64), random *rand.Rand) {
	groups := map[model.GroupIndex]bool{}
	var below func(candidates []model.ObservationIndex, above float64)
	below = func(candidates []model.ObservationIndex, above float64) {
		for _, o := range candidates {
			observation := &p.r.Observations[o]
			lambda, _ := cause(o)
			if g := observation.Group; g != model.None && p.r.Groups[g].Type == model.GroupSingle {
				if groups[g] {
					continue
				}
				groups[g] = true
				lambda, o = p.pickItem(g, above, cause, random)
				if o == model.None {
					continue
				}
				p.holds[o] = true
				below(model.Slice(p.r.ChildRefs, p.r.Observations[o].Children), lambda)
				continue
			}
			if lambda > 0 && random.Float64() < lambda/above {
				p.holds[o] = true
				below(model.Slice(p.r.ChildRefs, observation.Children), lambda)
			}
		}
	}
	var roots []model.ObservationIndex
	for i := range p.r.Observations {
		if o := &p.r.Observations[i]; o.Parent == model.None && o.Kind != model.RiskFactor {
			roots = append(roots, model.ObservationIndex(i))
		}
	}
	below(roots, 1)
}

// pickItem draws the item of an exclusive group that a cause produces, or none.
func (p *simulatedPatient) pickItem(g model.GroupIndex, above float64, cause func(model.ObservationIndex) (lambda, share float64), random *rand.Rand) (float64, model.ObservationIndex) {
	group := &p.r.Groups[g]
	items := model.Slice(p.r.GroupItems, group.Items)
	lambdas := make([]float64, len(items))
	share, leak, worse := 0.0, 0.0, 0.0
	for i := len(items) - 1; i >= 0; i-- {
		lambda, s := cause(items[i])
		lambdas[i] = lambda
		if group.Ordered {
			share, leak = share+s, leak+p.r.Observations[items[i]].Leak
			orWorse := s + worse // the leak produces its own share
			if s != p.r.Observations[items[i]].Leak || lambda != s {
				orWorse = model.Lambda(share, leak)
			}
			lambdas[i] = max(orWorse-worse, 0)
			worse = max(orWorse, worse)
		}
	}
	draw := random.Float64() * above
	for i, lambda := range lambdas {
		if draw < lambda {
			return lambda, items[i]
		}
		draw -= lambda
	}
	return 0, model.None
}

// settleGroups keeps one item of each exclusive group: the last, which in an ordered
// group is the worst.
func (p *simulatedPatient) settleGroups() {
	for g := range p.r.Groups {
		if p.r.Groups[g].Type != model.GroupSingle {
			continue
		}
		chosen := false
		items := model.Slice(p.r.GroupItems, p.r.Groups[g].Items)
		for i := len(items) - 1; i >= 0; i-- {
			p.holds[items[i]] = p.holds[items[i]] && !chosen
			chosen = chosen || p.holds[items[i]]
		}
	}
}

// complaint draws the complaint from the patient's symptoms, weighted by how typical
// they are of the condition.
func (p *simulatedPatient) complaint(random *rand.Rand) (model.ObservationIndex, bool) {
	var symptoms []model.ObservationIndex
	var weights []float64
	total := 0.0
	for _, c := range p.conditions {
		for _, link := range model.Slice(p.r.LinksByCondition, p.r.Conditions[c].Links) {
			o := &p.r.Observations[link.Other]
			if p.holds[model.ObservationIndex(link.Other)] && o.Parent == model.None && o.Kind == model.Symptom && o.Question.Length > 0 {
				symptoms = append(symptoms, model.ObservationIndex(link.Other))
				weights = append(weights, link.Lambda*link.Lambda*link.Lambda)
				total += link.Lambda * link.Lambda * link.Lambda
			}
		}
	}
	draw := random.Float64() * total
	for i, w := range weights {
		if draw -= w; draw <= 0 {
			return symptoms[i], true
		}
	}
	return model.None, false
}

// An interview is a conversation with a simulated patient.
type interview struct {
	evidence  []ReportedEvidence
	questions []*Question
	known     [][]ReportedEvidence // by question: the evidence when it was asked
	last      Assessment
	stopped   bool // by should_stop
}

// interviewAbout interviews a patient about a complaint until the engine stops or has
// no more questions.
func (p *simulatedPatient) interviewAbout(t testing.TB, e *Engine, complaint model.ObservationIndex, o Options, untilEnd bool, random *rand.Rand) *interview {
	t.Helper()
	initial := []ReportedEvidence{{ID: p.r.ObservationID(complaint), Choice: Present, Source: SourceInitial}}
	return p.runInterview(t, e, initial, o, untilEnd, random)
}

// runInterview interviews a patient who starts with some evidence.
func (p *simulatedPatient) runInterview(t modeltest.TB, e *Engine, initial []ReportedEvidence, o Options, untilEnd bool, random *rand.Rand) *interview {
	t.Helper()
	v := &interview{evidence: initial}
	for {
		patient, err := NewPatient(p.r, p.sex, p.ageMonths, v.evidence)
		if err != nil {
			t.Fatalf("%v", err)
		}
		v.last = e.Assess(p.r, patient, o)
		if v.last.Question == nil || v.last.ShouldStop && !untilEnd {
			v.stopped = v.last.ShouldStop
			return v
		}
		v.questions = append(v.questions, v.last.Question)
		v.known = append(v.known, v.evidence)
		v.evidence = p.reply(v.evidence, v.last.Question, random)
		if len(v.questions) > 100 {
			t.Fatalf("no end after %d questions", len(v.questions))
		}
	}
}

// reply returns the evidence with the answer to a question: true, or random.
func (p *simulatedPatient) reply(known []ReportedEvidence, q *Question, random *rand.Rand) []ReportedEvidence {
	known = slices.Clone(known)
	if q.Type == Duration {
		return p.replyDuration(known, q.Symptom, random)
	}
	var list []ReportedEvidence
	for _, item := range q.Items {
		choice := Absent
		if p.holds[item] {
			choice = Present
		}
		if p.answersRandomly {
			choice = []Choice{Present, Absent, Absent, Absent, Unknown, Unknown}[random.IntN(6)]
		}
		list = append(list, ReportedEvidence{ID: p.r.ObservationID(item), Choice: choice})
	}
	switch q.Type {
	case GroupSingle:
		list = replySingle(list, random)
	case GroupMultiple:
		list = replyMultiple(list, random)
	}
	return append(known, list...)
}

// replySingle sends the answer to the items of an exclusive group in one of the ways
// that clients do: the chosen item alone or with the others as absent and, if no item
// is present, all as absent or all as unknown.
func replySingle(list []ReportedEvidence, random *rand.Rand) []ReportedEvidence {
	chosen := slices.IndexFunc(list, func(e ReportedEvidence) bool { return e.Choice == Present })
	if chosen >= 0 && random.IntN(2) == 0 {
		return list[chosen : chosen+1]
	}
	others := Absent
	if chosen < 0 && list[0].Choice == Unknown {
		others = Unknown
	}
	for i := range list {
		if i != chosen {
			list[i].Choice = others
		}
	}
	return list
}

// replyMultiple omits some of the items that are not present, as some clients do, but
// never all of them.
func replyMultiple(list []ReportedEvidence, random *rand.Rand) []ReportedEvidence {
	if random.IntN(2) == 0 {
		return list
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(e ReportedEvidence) bool {
		return e.Choice == Unknown || e.Choice == Absent && random.IntN(2) == 0
	})
	if len(kept) == 0 {
		return list[:1]
	}
	return kept
}

// replyDuration adds how long the patient has had a symptom, or that they do not know.
func (p *simulatedPatient) replyDuration(known []ReportedEvidence, symptom model.ObservationIndex, random *rand.Rand) []ReportedEvidence {
	i := slices.IndexFunc(known, func(e ReportedEvidence) bool { return e.ID == p.r.ObservationID(symptom) })
	if known[i].DurationUnknown = p.answersRandomly && random.IntN(3) == 0; !known[i].DurationUnknown {
		minutes := min(p.drawMinutes(symptom, random), float64(100*year/time.Minute))
		known[i].Duration = max(1, time.Duration(minutes*float64(time.Minute)))
	}
	return known
}

// drawMinutes draws how long the patient has had a symptom: within the range of the
// present duration child if there is one, and otherwise by the course of their first
// condition.
func (p *simulatedPatient) drawMinutes(symptom model.ObservationIndex, random *rand.Rand) float64 {
	patient := &Patient{sex: p.sex, ageMonths: p.ageMonths}
	if whole := patient.durationParent(p.r, symptom); whole != model.None {
		for _, child := range children(p.r, whole) {
			if p.holds[child] && patient.isDurationChild(p.r, child) {
				from, to := float64(p.r.Observations[child].DurationFrom), float64(p.r.Observations[child].DurationTo)
				return min(max(from, 1)*math.Exp(random.Float64()*5), max(to-1, from))
			}
		}
	}
	course := p.r.Meta.LeakCourse
	if len(p.conditions) > 0 {
		course = p.r.Conditions[p.conditions[0]].Course
	}
	return math.Exp(course.Mean + course.StdDev*random.NormFloat64())
}
