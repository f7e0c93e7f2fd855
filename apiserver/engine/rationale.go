// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// RationaleType says why a question is asked.
type RationaleType uint8

// The types of rationales, in the order of their codes r0 to r6.
const (
	// ReducedByNo: a no makes conditions less likely.
	ReducedByNo RationaleType = iota
	// MayBeRelated: what is asked might be related to conditions that are
	// considered.
	MayBeRelated
	// ReducedByNone: a no to each item of a group makes conditions less likely.
	ReducedByNone
	// RuledInOrOut: the answer rules conditions in or out.
	RuledInOrOut
	// MayBeCause: what is asked might be the cause of the symptoms.
	MayBeCause
	// RecentInjury: the question is about a recent injury.
	RecentInjury
	// MoreDetail: the question is about details of what is present.
	MoreDetail
)

var rationaleCodes = [...]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}

// String is the code of the specification, r0 to r6.
func (t RationaleType) String() string { return rationaleCodes[t] }

// A Rationale is why a question is asked. The type says which of the lists
// count; the others are empty.
type Rationale struct {
	Type         RationaleType
	Observations []model.ObservationIndex
	Conditions   []model.ConditionIndex
}

const (
	// mostNamed is the most conditions that a rationale names: more than three
	// are no longer a reason but a list.
	mostNamed = 3
	// telling is the factor by which an answer must move the odds of a
	// condition for that to be why the question is asked. Any answer moves all
	// that have to do with the finding; this much is what a weak clinical sign
	// does, with a likelihood ratio of 1.5 (Jaeschke et al. 1994 call up to 2
	// rarely important), and less explains nothing to a patient.
	telling = 1.5
)

// Rationale says why the question is asked that Assess gives for the same
// patient and options. It reports false when there is no question.
//
// It is computed from the candidate that was chosen. The first row counts that
// fits:
//
//	code  the question                                          names
//	r5    is about a recent injury                              nothing
//	r3    is worth most for its danger, or for the triage       conditions that a yes makes
//	      level, and not for what it tells about the condition  likelier: for danger one to an item
//	                                                            that raises the level, emergencies
//	                                                            if there are any
//	r4    is about a risk factor                                the items
//	r6    is about children of a present observation            the parent
//	r6    is how long a symptom has lasted                      the symptom
//	r0    is about one observation, to which a no tells         conditions that the no makes
//	      against conditions                                    less likely
//	r2    is about a group, to which a no throughout tells      conditions that the no makes
//	      against conditions                                    less likely
//	r1    is another one: it is the yes that would tell         the items
//
// What an answer does is found by giving it and ranking again. The conditions
// whose probability it moves most are named, then by id.
func (e *Engine) Rationale(r *model.Release, p Patient, o Options) (Rationale, bool) {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	return s.reason(o)
}

func (s *scratch) reason(o Options) (Rationale, bool) {
	s.infer()
	next, ask, _ := s.next(o)
	if !ask {
		return Rationale{}, false
	}
	return s.rationale(next), true
}

// rationale is why a candidate was chosen. It leaves the scratch memory with
// other patients.
func (s *scratch) rationale(c candidate) Rationale {
	if c.duration {
		return Rationale{Type: MoreDetail, Observations: []model.ObservationIndex{c.observation}}
	}
	items := s.question(c).Items
	first := &s.r.Observations[items[0]]
	if !slices.ContainsFunc(items, func(item model.ObservationIndex) bool { return s.r.Observations[item].Topic != model.Injury }) {
		return Rationale{Type: RecentInjury}
	}
	trial := s.try(2*max(len(items), first.Children.Len()) + 1)
	if conditions := trial.ruledInOrOut(c, items); len(conditions) > 0 {
		return Rationale{Type: RuledInOrOut, Conditions: conditions}
	}
	switch {
	case first.Kind == model.RiskFactor:
		return Rationale{Type: MayBeCause, Observations: items}
	case first.Parent != model.None:
		return Rationale{Type: MoreDetail, Observations: []model.ObservationIndex{first.Parent}}
	}
	conditions := trial.reduced(items)
	switch {
	case len(conditions) == 0:
		return Rationale{Type: MayBeRelated, Observations: items}
	case len(items) == 1:
		return Rationale{Type: ReducedByNo, Conditions: conditions}
	default:
		return Rationale{Type: ReducedByNone, Conditions: conditions}
	}
}

// ruledInOrOut are the conditions for whose sake a candidate was chosen, when
// it was chosen for danger or for the triage level.
func (t *trial) ruledInOrOut(c candidate, items []model.ObservationIndex) []model.ConditionIndex {
	danger, level := dangerWeight*(c.danger+c.lead), levelWeight*c.levelGain
	if c.urgent || danger > max(level, c.value-danger-level) {
		items = t.s.alarms(c, items)
		if emergencies := t.raised(items, model.Emergency, dangerousFloor); len(emergencies) > 0 {
			return emergencies
		}
	}
	if c.urgent || level > c.value-danger-level {
		return t.raised(items, model.NoTriageLevel, suspectFloor)
	}
	return nil
}

// alarms are the observations that make a question one of danger: the items
// that raise the level or, when it leads to these, the children that do.
func (s *scratch) alarms(c candidate, items []model.ObservationIndex) []model.ObservationIndex {
	if c.lead > c.danger {
		items = model.Part(s.r.ChildRefs, s.r.Observations[c.observation].Children)
	}
	return slices.DeleteFunc(slices.Clone(items), func(item model.ObservationIndex) bool {
		return s.known[item] != nothingKnown || !s.raisesLevel(item)
	})
}

// A trial finds out what answers do to the conditions. Its scratch memory holds
// the patient of the answer tried last.
type trial struct {
	s       *scratch
	patient *Patient
	before  []float64 // by condition: the probability without an answer
	work    int       // on scenarios that a ranking may take at most
}

// rationaleWork is the work that the rankings of a rationale share. What each
// does without scenarios comes on top.
const rationaleWork = rankingWork

// try prepares a trial of so many answers for the patient at hand, who is ranked
// once more if that took more work than each of them may: what many findings
// leave inexact is to be so without an answer and with one.
func (s *scratch) try(answers int) trial {
	t := trial{s: s, patient: s.p, work: rationaleWork / answers}
	if s.network.work > t.work {
		t.rank(s.p)
	}
	s.before = append(s.before[:0], s.posterior...)
	t.before = s.before
	return t
}

// rank ranks the conditions for a patient with the work of one answer.
func (t *trial) rank(p *Patient) {
	t.s.rankWithin(t.work, p)
}

// answer ranks the conditions for the patient with a further answer.
func (t *trial) answer(choice Choice, items ...model.ObservationIndex) []float64 {
	answered := t.patient.answering(t.s.r, choice, items)
	t.rank(&answered)
	return t.s.posterior
}

// raised are the conditions of a triage level or above that bring one of the
// items and that a yes to it makes likelier, and at least so likely.
func (t *trial) raised(items []model.ObservationIndex, level model.TriageLevel, floor float64) []model.ConditionIndex {
	t.s.most = append(t.s.most[:0], t.before...)
	for _, item := range items {
		for c, p := range t.answer(Present, item) {
			if implies(t.s.r, item, model.ConditionIndex(c)) {
				t.s.most[c] = max(t.s.most[c], p)
			}
		}
	}
	var shifts []shift
	for c, p := range t.s.most {
		if t.s.r.Conditions[c].Triage >= level && p >= floor && tells(t.before[c], p) {
			shifts = append(shifts, shift{model.ConditionIndex(c), p - t.before[c]})
		}
	}
	return greatest(shifts)
}

// reduced are the conditions, likely enough to be in the ranking, that bring
// one of the items and that a no to all makes less likely.
func (t *trial) reduced(items []model.ObservationIndex) []model.ConditionIndex {
	var shifts []shift
	for i, p := range t.answer(Absent, items...) {
		c, before := model.ConditionIndex(i), t.before[i]
		brings := func(item model.ObservationIndex) bool { return concerns(t.s.r, item, c) }
		if before >= rankingFloor && tells(p, before) && slices.ContainsFunc(items, brings) {
			shifts = append(shifts, shift{c, before - p})
		}
	}
	return greatest(shifts)
}

// tells reports whether the odds of the higher probability are telling times
// those of the lower one, or more.
func tells(lower, higher float64) bool {
	return higher*(1-lower) >= telling*lower*(1-higher) && higher > lower
}

// A shift is how much an answer moves the probability of a condition.
type shift struct {
	condition model.ConditionIndex
	by        float64
}

// greatest are the conditions that are moved most.
func greatest(shifts []shift) []model.ConditionIndex {
	slices.SortFunc(shifts, func(a, b shift) int {
		return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.condition, b.condition))
	})
	conditions := make([]model.ConditionIndex, min(len(shifts), mostNamed))
	for i := range conditions {
		conditions[i] = shifts[i].condition
	}
	return conditions
}

// answering is the patient who has also given one answer about some
// observations that were not known. It is good for ranking only.
func (p *Patient) answering(r *model.Release, choice Choice, items []model.ObservationIndex) Patient {
	more := *p
	more.findings, more.present = slices.Clone(p.findings), nil
	for _, item := range items {
		f := more.know(item)
		f.choice, f.sent, f.reported = choice, choice, true
	}
	more.collapse(r)
	return more
}
