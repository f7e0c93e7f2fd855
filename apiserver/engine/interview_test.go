// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// drawSimulated draws a patient who has a condition, of a sex and age at which
// it occurs, and the complaint that brings them here.
func drawSimulated(r *model.Release, c model.ConditionIndex, random *rand.Rand) (*simulated, model.ObservationIndex, bool) {
	condition := &r.Conditions[c]
	for range 200 {
		sex, age := model.Sex(random.IntN(2)), random.IntN(1080)
		prior := condition.Prior[sex][model.AgeBand(age)]
		if prior == 0 || !condition.Sex.Admits(sex) || age < int(condition.AgeFrom) || age > int(condition.AgeTo) {
			continue
		}
		p := simulate(r, sex, age, []model.ConditionIndex{c}, random)
		if complaint, ok := p.complaint(random); ok {
			return p, complaint, true
		}
	}
	return nil, model.None, false
}

// TestInterviewsWithPatientsOfEveryCondition plays interviews to their very
// end, past the advice to stop, and checks every question on the way.
func TestInterviewsWithPatientsOfEveryCondition(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	for c := range r.Conditions {
		random := rand.New(rand.NewPCG(uint64(c), 31))
		p, complaint, ok := drawSimulated(r, model.ConditionIndex(c), random)
		if !ok {
			t.Fatalf("%s brings nothing that a patient would come for", r.ConditionID(model.ConditionIndex(c)))
		}
		p.whimsical = random.IntN(2) == 0
		o := Options{DisableGroups: random.IntN(2) == 0, Mode: Mode(random.IntN(3))}
		v := p.converse(t, e, complaint, o, true, random)
		if len(v.questions) > maxQuestions {
			t.Errorf("%s: %d questions", r.ConditionID(model.ConditionIndex(c)), len(v.questions))
		}
		checkQuestions(t, r, p, v, o)
	}
}

// checkQuestions checks that nothing was asked that must not be, given what
// was known at that time.
func checkQuestions(t *testing.T, r *model.Release, p *simulated, v *interview, o Options) {
	t.Helper()
	for i, q := range v.questions {
		known := v.evidence[:v.before[i]]
		choice := func(o model.ObservationIndex) (Choice, bool) {
			for _, e := range known {
				if e.ID == r.ObservationID(o) {
					return e.Choice, true
				}
			}
			return Unknown, false
		}
		if len(q.Items) == 0 || (q.Type == Single) != (len(q.Items) == 1 && q.Group == model.None) {
			t.Fatalf("question of type %d with items %v", q.Type, q.Items)
		}
		if o.DisableGroups && q.Type != Single {
			t.Errorf("a group is asked: %v", q.Items)
		}
		for _, item := range q.Items {
			id, observation := r.ObservationID(item), &r.Observations[item]
			if _, answered := choice(item); answered {
				t.Errorf("%s was answered before", id)
			}
			if observation.Question.Length == 0 || q.Text == "" || q.TextThirdPerson == "" {
				t.Errorf("%s is asked without words", id)
			}
			if !observation.Sex.Admits(p.sex) || p.ageMonths < int(observation.AgeFrom) || p.ageMonths > int(observation.AgeTo) {
				t.Errorf("%s does not apply to %v of %d months", id, p.sex, p.ageMonths)
			}
			if givenOutside(observation) {
				t.Errorf("%s is given by clients, not asked", id)
			}
			if parent := observation.Parent; parent != model.None && !present(r, known, parent) {
				t.Errorf("%s is asked, its parent is not present", id)
			}
			if g := exclusiveGroup(r, item); g != model.None {
				for _, other := range model.Part(r.GroupItems, r.Groups[g].Items) {
					if c, _ := choice(other); c == Present {
						t.Errorf("%s is asked, %s of its group holds", id, r.ObservationID(other))
					}
				}
			}
		}
	}
}

// present reports whether evidence says or implies that an observation holds.
func present(r *model.Release, list []ReportedEvidence, o model.ObservationIndex) bool {
	return slices.ContainsFunc(list, func(e ReportedEvidence) bool {
		said, _ := r.ObservationByID(e.ID)
		return e.Choice == Present && (said == o || descends(r, said, o))
	})
}

// TestInterviewsAreShortAndFindTheCondition plays interviews as a client does
// and holds the figures that the stop rule was tuned to, with some room for
// changes of the content.
func TestInterviewsAreShortAndFindTheCondition(t *testing.T) {
	t.Parallel()
	const each = 3
	r, e := real(t), New()
	var lengths []int
	first, three, missed, emergencies := 0, 0, 0, 0
	for c := range r.Conditions {
		random := rand.New(rand.NewPCG(uint64(c), 32))
		for range each {
			p, complaint, ok := drawSimulated(r, model.ConditionIndex(c), random)
			if !ok {
				t.Fatalf("%s brings nothing that a patient would come for", r.ConditionID(model.ConditionIndex(c)))
			}
			v := p.converse(t, e, complaint, Options{}, false, random)
			lengths = append(lengths, len(v.questions))
			rank := slices.IndexFunc(v.last.Conditions, func(ranked Ranked) bool { return int(ranked.Condition) == c })
			if rank == 0 {
				first++
			}
			if rank >= 0 && rank < 3 {
				three++
			}
			if r.Conditions[c].Triage < model.Emergency {
				continue
			}
			emergencies++
			patient, err := NewPatient(r, p.sex, p.ageMonths, v.evidence)
			if err != nil {
				t.Fatal(err)
			}
			if e.Triage(r, patient, Options{}).Level < model.Consultation24 {
				missed++
			}
		}
	}
	slices.Sort(lengths)
	n := len(lengths)
	median := lengths[n/2]
	share := func(count, of int) float64 { return float64(count) / float64(of) }
	t.Logf("%d interviews: median %d questions, nine in ten at most %d; right condition first %.3f, first three %.3f; emergencies not seen within a day %.3f",
		n, median, lengths[n*9/10], share(first, n), share(three, n), share(missed, emergencies))
	if median > 18 {
		t.Errorf("median of %d questions", median)
	}
	if share(first, n) < 0.8 || share(three, n) < 0.88 {
		t.Errorf("right condition first in %.3f, in the first three in %.3f", share(first, n), share(three, n))
	}
	if share(missed, emergencies) > 0.06 {
		t.Errorf("%.3f of the emergencies are not to be seen within a day", share(missed, emergencies))
	}
}
