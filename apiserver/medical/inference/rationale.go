// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// RationaleType is the reason for asking a question.
type RationaleType uint8

// The types of rationales, in the order of their codes r0 to r6.
const (
	// ReducedByNo means that a no makes conditions less likely.
	ReducedByNo RationaleType = iota
	// MayBeRelated means that the items might be related to conditions under
	// consideration.
	MayBeRelated
	// ReducedByNone means that a no to every item of a group makes conditions less likely.
	ReducedByNone
	// RuledInOrOut means that the answer rules conditions in or out.
	RuledInOrOut
	// MayBeCause means that the items might be the cause of the symptoms.
	MayBeCause
	// RecentInjury means that the question is about a recent injury.
	RecentInjury
	// MoreDetail means that the question is about details of a present observation.
	MoreDetail
)

var rationaleCodes = [...]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}

// String returns the API code of the type, r0 to r6.
func (t RationaleType) String() string { return rationaleCodes[t] }

// A Rationale is the reason for asking a question. The type determines which of the
// lists apply; the others are empty.
type Rationale struct {
	Type         RationaleType
	Observations []model.ObservationIndex
	Conditions   []model.ConditionIndex
}

const (
	// maxRationaleConditions is the maximum number of conditions in a rationale. A longer
	// list would not explain the question.
	maxRationaleConditions = 3
	// minOddsRatio is the factor by which an answer must change the odds of a condition to
	// count as the reason for the question. Any answer changes all conditions related to
	// the finding. This factor corresponds to a weak clinical sign, with a likelihood
	// ratio of 1.5 (Jaeschke et al. 1994 call ratios up to 2 rarely important). A smaller
	// factor would explain nothing to a patient.
	minOddsRatio = 1.5
)

// Rationale returns the reason for the question that Assess returns for the same
// patient and options. It returns false if there is no question.
//
// The rationale is derived from the chosen candidate. The first matching row applies:
//
//	code  the question                                          lists
//	r5    is about a recent injury                              nothing
//	r3    has most value for its danger, or for the triage      conditions that a yes makes
//	      level, rather than for the condition                  more likely: for danger, those
//	                                                            linked to an item that raises
//	                                                            the level, emergencies if any
//	r4    is about a risk factor                                the items
//	r6    is about children of a present observation            the parent
//	r6    is how long a symptom has lasted                      the symptom
//	r0    is about one observation, and a no is evidence        conditions that the no makes
//	      against conditions                                    less likely
//	r2    is about a group, and a no to all items is evidence   conditions that the no makes
//	      against conditions                                    less likely
//	r1    is any other, where the yes is informative            the items
//
// To find the effect of an answer, Rationale adds the answer and ranks again. It lists
// the conditions with the largest change of probability, and breaks ties by ID.
func (e *Engine) Rationale(r *model.Release, p Patient, o Options) (Rationale, bool) {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return s.questionRationale(o)
}

func (s *scratch) questionRationale(o Options) (Rationale, bool) {
	s.infer()
	next, ask, _ := s.nextQuestion(o)
	if !ask {
		return Rationale{}, false
	}
	return s.candidateRationale(next), true
}

// candidateRationale returns the reason why a candidate was chosen. It overwrites the
// patient in the scratch memory.
func (s *scratch) candidateRationale(c candidate) Rationale {
	if c.asksDuration {
		return Rationale{Type: MoreDetail, Observations: []model.ObservationIndex{c.observation}}
	}
	items := s.buildQuestion(c).Items
	first := &s.r.Observations[items[0]]
	if !slices.ContainsFunc(items, func(item model.ObservationIndex) bool { return s.r.Observations[item].Topic != model.Injury }) {
		return Rationale{Type: RecentInjury}
	}
	trial := s.newTrial(2*max(len(items), first.Children.Len()) + 1)
	if conditions := trial.ruledInOrOut(c, items); len(conditions) > 0 {
		return Rationale{Type: RuledInOrOut, Conditions: conditions}
	}
	switch {
	case first.Kind == model.RiskFactor:
		return Rationale{Type: MayBeCause, Observations: items}
	case first.Parent != model.None:
		return Rationale{Type: MoreDetail, Observations: []model.ObservationIndex{first.Parent}}
	}
	conditions := trial.reducedConditions(items)
	switch {
	case len(conditions) == 0:
		return Rationale{Type: MayBeRelated, Observations: items}
	case len(items) == 1:
		return Rationale{Type: ReducedByNo, Conditions: conditions}
	default:
		return Rationale{Type: ReducedByNone, Conditions: conditions}
	}
}

// ruledInOrOut returns the conditions that a candidate rules in or out, if it was
// chosen for its danger or for the triage level.
func (t *trial) ruledInOrOut(c candidate, items []model.ObservationIndex) []model.ConditionIndex {
	danger, level := dangerWeight*(c.danger+c.childDanger), levelWeight*c.levelGain
	if c.urgent || danger > max(level, c.value-danger-level) {
		items = t.s.dangerousItems(c, items)
		if emergencies := t.raisedConditions(items, model.Emergency, dangerousFloor); len(emergencies) > 0 {
			return emergencies
		}
	}
	if c.urgent || level > c.value-danger-level {
		return t.raisedConditions(items, model.NoTriageLevel, suspectFloor)
	}
	return nil
}

// dangerousItems returns the observations that make a question dangerous: the items
// that raise the level or, if the danger is in their children, the children that do.
func (s *scratch) dangerousItems(c candidate, items []model.ObservationIndex) []model.ObservationIndex {
	if c.childDanger > c.danger {
		items = model.Slice(s.r.ChildRefs, s.r.Observations[c.observation].Children)
	}
	return slices.DeleteFunc(slices.Clone(items), func(item model.ObservationIndex) bool {
		return s.state[item] != stateUnknown || !s.raisesLevel(item)
	})
}

// A trial determines the effect of answers on the conditions. Its scratch memory holds
// the patient with the most recently tried answer.
type trial struct {
	s       *scratch
	patient *Patient
	before  []float64 // by condition: the probability without an answer
	work    int       // work limit for the scenarios of a ranking
}

// maxRationaleWork is the total work limit for all rankings of a rationale. Work
// outside scenarios is not counted.
const maxRationaleWork = maxRankingWork

// newTrial prepares a trial of the given number of answers for the current patient. It
// ranks the patient again if the first ranking exceeded the work limit of one answer,
// so that the approximation for many findings has the same precision with and without
// an answer.
func (s *scratch) newTrial(answers int) trial {
	t := trial{s: s, patient: s.p, work: maxRationaleWork / answers}
	if s.network.work > t.work {
		t.rank(s.p)
	}
	s.before = append(s.before[:0], s.posterior...)
	t.before = s.before
	return t
}

// rank ranks the conditions for a patient with the work limit of one answer.
func (t *trial) rank(p *Patient) {
	t.s.rankWithBudget(t.work, p)
}

// posteriorAfter ranks the conditions for the patient with an additional answer, and
// returns their probabilities.
func (t *trial) posteriorAfter(choice Choice, items ...model.ObservationIndex) []float64 {
	answered := t.patient.withAnswer(t.s.r, choice, items)
	t.rank(&answered)
	return t.s.posterior
}

// raisedConditions returns the conditions of the given triage level or above that
// cause one of the items and that a yes to this item makes more likely, to at least the
// probability floor.
func (t *trial) raisedConditions(items []model.ObservationIndex, level model.TriageLevel, floor float64) []model.ConditionIndex {
	t.s.maxAfter = append(t.s.maxAfter[:0], t.before...)
	for _, item := range items {
		for c, p := range t.posteriorAfter(Present, item) {
			if isLinkedAtOrAbove(t.s.r, item, model.ConditionIndex(c)) {
				t.s.maxAfter[c] = max(t.s.maxAfter[c], p)
			}
		}
	}
	var shifts []shift
	for c, p := range t.s.maxAfter {
		if t.s.r.Conditions[c].Triage >= level && p >= floor && isNotableShift(t.before[c], p) {
			shifts = append(shifts, shift{model.ConditionIndex(c), p - t.before[c]})
		}
	}
	return largestShifts(shifts)
}

// reducedConditions returns the conditions, likely enough to be in the ranking, that
// cause one of the items and that a no to all items makes less likely.
func (t *trial) reducedConditions(items []model.ObservationIndex) []model.ConditionIndex {
	var shifts []shift
	for i, p := range t.posteriorAfter(Absent, items...) {
		c, before := model.ConditionIndex(i), t.before[i]
		isCause := func(item model.ObservationIndex) bool { return isLinkedAtOrBelow(t.s.r, item, c) }
		if before >= rankingFloor && isNotableShift(p, before) && slices.ContainsFunc(items, isCause) {
			shifts = append(shifts, shift{c, before - p})
		}
	}
	return largestShifts(shifts)
}

// isNotableShift reports whether the odds of the higher probability are at least
// minOddsRatio times the odds of the lower one.
func isNotableShift(lower, higher float64) bool {
	return higher*(1-lower) >= minOddsRatio*lower*(1-higher) && higher > lower
}

// A shift is how much an answer changes the probability of a condition.
type shift struct {
	condition model.ConditionIndex
	delta     float64
}

// largestShifts returns the conditions with the largest shifts.
func largestShifts(shifts []shift) []model.ConditionIndex {
	slices.SortFunc(shifts, func(a, b shift) int {
		return cmp.Or(cmp.Compare(b.delta, a.delta), cmp.Compare(a.condition, b.condition))
	})
	conditions := make([]model.ConditionIndex, min(len(shifts), maxRationaleConditions))
	for i := range conditions {
		conditions[i] = shifts[i].condition
	}
	return conditions
}

// withAnswer returns the patient with an additional answer about observations that
// were unknown. The result is valid for ranking only.
func (p *Patient) withAnswer(r *model.Release, choice Choice, items []model.ObservationIndex) Patient {
	answered := *p
	answered.findings, answered.present = slices.Clone(p.findings), nil
	for _, item := range items {
		f := answered.findOrInsert(item)
		f.choice, f.reportedChoice, f.reported = choice, choice, true
	}
	answered.applyHierarchy(r)
	return answered
}
