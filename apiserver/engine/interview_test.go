// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"pgregory.net/rapid"
)

// drawSimulated draws a patient who has a condition, of a sex and age at which
// it occurs, and the complaint that brings them here.
func drawSimulated(r *model.Release, c model.ConditionIndex, random *rand.Rand) (*simulated, model.ObservationIndex, bool) {
	condition := &r.Conditions[c]
	from, to := int(condition.AgeFrom), min(int(condition.AgeTo), 1079)
	for range 200 {
		sex, age := model.Sex(random.IntN(2)), from+random.IntN(to-from+1)
		prior := condition.Prior[sex][model.AgeBand(age)]
		if prior == 0 || !condition.Sex.Admits(sex) {
			continue
		}
		p := simulate(r, sex, age, []model.ConditionIndex{c}, random)
		if complaint, ok := p.complaint(random); ok {
			return p, complaint, true
		}
	}
	return nil, model.None, false
}

// someConditions are one condition in eight, from the given one on, so that
// what tests play with patients of the content takes as long as it grows.
func someConditions(r *model.Release, from int) iter.Seq[model.ConditionIndex] {
	return func(yield func(model.ConditionIndex) bool) {
		for c := from; c < len(r.Conditions); c += 8 {
			if !yield(model.ConditionIndex(c)) {
				return
			}
		}
	}
}

// TestInterviewsOnRandomModels plays interviews that start with evidence of
// every kind, on small models with all that a question may be about.
func TestInterviewsOnRandomModels(t *testing.T) {
	t.Parallel()
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "model"), 33))
		r := variedRelease(t, random)
		random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "interviews"), 34))
		for range 5 {
			p := &simulated{r: r, sex: model.Sex(random.IntN(2)), ageMonths: random.IntN(1200), whimsical: true}
			o := drawOptions(random)
			v := p.interview(t, e, complaining(r, random), o, true, random)
			checkInterview(t, p, v, o)
		}
	})
}

// complaining is any evidence, and among it a symptom that the patient comes
// for.
func complaining(r *model.Release, random *rand.Rand) []ReportedEvidence {
	from, to := r.ObservationsOfKind(model.Symptom)
	id := r.ObservationID(from + model.ObservationIndex(random.IntN(int(to-from))))
	list := slices.DeleteFunc(anyEvidence(r, random), func(e ReportedEvidence) bool { return e.ID == id })
	return append(list[:random.IntN(len(list)+1)], ReportedEvidence{ID: id, Choice: Present, Source: SourceInitial})
}

// TestInterviewsOnAFullCatalogue plays some on the synthetic model that figures
// are measured on.
func TestInterviewsOnAFullCatalogue(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 35))
		p := &simulated{r: r, sex: model.Sex(random.IntN(2)), ageMonths: random.IntN(1200), whimsical: true}
		o := drawOptions(random)
		v := p.interview(t, e, complaining(r, random), o, true, random)
		checkInterview(t, p, v, o)
	}
}

func drawOptions(random *rand.Rand) Options {
	return Options{
		DisableGroups: random.IntN(2) == 0, Mode: Mode(random.IntN(3)),
		ThreeLevels: random.IntN(2) == 0, SymptomDuration: random.IntN(2) == 0,
	}
}

// variedRelease is a small random release with all that a question may be about
// and all that it must not be about: complaints with single children and groups
// of every kind, some dividing their parent by how long it has lasted;
// observations of one sex, of part of life, or without words; laboratory
// results.
func variedRelease(t modeltest.TB, random *rand.Rand) *model.Release {
	b := modeltest.New()
	var conditions []string
	for c := range 3 + random.IntN(6) {
		conditions = append(conditions, fmt.Sprintf("c_%d", c+1))
		b.Condition(conditions[c], 0.001+0.03*random.Float64(), func(d *model.DraftCondition) {
			d.Triage = model.SelfCare + model.TriageLevel(random.IntN(5))
		})
	}
	for complaint := range 1 + random.IntN(4) {
		addComplaint(b, 100*(complaint+1), conditions, random)
	}
	for risk := range 4 {
		b.RiskFactor(fmt.Sprintf("p_%d", risk+5), 0.2, vary(random)) // two of which clients give
		b.Factor(conditions[random.IntN(len(conditions))], fmt.Sprintf("p_%d", risk+5), 3, 0.5)
	}
	for result := range 2 {
		b.LabResult(fmt.Sprintf("lt_%d", result+1), 0.05)
		b.Link(conditions[random.IntN(len(conditions))], fmt.Sprintf("lt_%d", result+1), 0.5)
	}
	return b.Build(t)
}

// addComplaint adds a symptom with one or two sets of children, numbered from
// its own number on.
func addComplaint(b *modeltest.Builder, number int, conditions []string, random *rand.Rand) {
	root := fmt.Sprintf("s_%d", number)
	b.Symptom(root, 0.05, vary(random))
	shares := map[string]float64{}
	for _, c := range conditions {
		if random.IntN(3) > 0 {
			shares[c] = 0.4 + 0.5*random.Float64()
			b.Link(c, root, shares[c])
		}
	}
	for set := range 1 + random.IntN(2) {
		var items []string
		divides, kind := random.IntN(2) == 0, random.IntN(4)
		for i := range 2 + random.IntN(2) {
			items = append(items, fmt.Sprintf("s_%d", number+10*(set+1)+i))
			relation, edit := model.Character, vary(random)
			if divides {
				from := time.Duration(i) * week
				relation, edit = model.Duration, modeltest.Lasts(from, from+week)
			}
			b.Child(items[i], root, relation, 0.005, edit)
			for _, c := range slices.Sorted(maps.Keys(shares)) {
				b.Link(c, items[i], shares[c]*(0.02+0.28*random.Float64()))
			}
		}
		switch kind {
		case 0:
			b.Group(model.GroupSingle, items...)
		case 1:
			b.Group(model.GroupMultiple, items...)
		case 2:
			b.OrderedGroup(items...)
		}
		below := fmt.Sprintf("s_%d", number+10*(set+1)+5)
		b.Child(below, items[0], model.Character, 0.001, vary(random))
	}
}

// vary makes some observations such that they do not apply to everybody, are
// not asked, or are red flags.
func vary(random *rand.Rand) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) {
		switch random.IntN(12) {
		case 0:
			o.Sex = model.SexFilter(1 + random.IntN(2))
		case 1:
			o.AgeTo = 600
		case 2:
			withoutWords(o)
		case 3:
			o.Seriousness = model.Serious + model.Seriousness(random.IntN(3))
		}
	}
}

// checkInterview checks that an interview came to its end and that nothing was
// asked that must not be, given what was known at that time.
func checkInterview(t modeltest.TB, p *simulated, v *interview, o Options) {
	t.Helper()
	if v.last.ShouldStopKnown && !v.last.ShouldStop {
		t.Fatalf("there is nothing more to ask, yet the interview should not stop")
	}
	asked, durations, patients := map[model.ObservationIndex]bool{}, map[model.ObservationIndex]bool{}, 0
	for i, q := range v.questions {
		c := conversation{p, v.known[i]}
		if problem := c.objection(q, o); problem != "" {
			t.Fatalf("question %d, %+v: %s; known: %+v", i, q, problem, v.known[i])
		}
		for _, item := range q.Items {
			if asked[item] {
				t.Fatalf("question %d: %s is asked for the second time", i, p.r.ObservationID(item))
			}
			asked[item] = true
		}
		if q.Type != AskDuration {
			patients++
			continue
		}
		if durations[q.Evidence] {
			t.Fatalf("question %d: the duration of %s is asked for the second time", i, p.r.ObservationID(q.Evidence))
		}
		durations[q.Evidence] = true
	}
	if patients > maxQuestions || len(durations) > 3 {
		t.Fatalf("%d questions and %d for durations", patients, len(durations))
	}
}

// A conversation is what a patient has said so far.
type conversation struct {
	*simulated
	known []ReportedEvidence
}

// objection is why a question must not be asked, empty when it may be.
func (c conversation) objection(q *Question, o Options) string {
	if q.Text == "" || q.TextThirdPerson == "" {
		return "it has no words"
	}
	switch q.Type {
	case AskDuration:
		return c.objectionToDuration(q, o)
	case Single:
		if len(q.Items) != 1 || q.Group != model.None || q.Evidence != model.None {
			return "a single question is about one observation"
		}
	default:
		if len(q.Items) == 0 || q.Group == model.None || q.Evidence != model.None || o.DisableGroups {
			return "a group has items, and is not asked when groups are off"
		}
	}
	for _, item := range q.Items {
		if problem := c.objectionTo(item); problem != "" {
			return c.r.ObservationID(item) + ": " + problem
		}
		if q.Group != model.None && c.r.Observations[item].Group != q.Group {
			return c.r.ObservationID(item) + ": it is of another group"
		}
	}
	return ""
}

// objectionTo is why an observation must not be asked.
func (c conversation) objectionTo(item model.ObservationIndex) string {
	o := &c.r.Observations[item]
	switch {
	case c.said(item) != nil:
		return "it was answered before"
	case c.present(item):
		return "it is implied by what is present"
	case o.Question.Length == 0:
		return "patients are not asked about it"
	case o.Kind == model.LabResult:
		return "patients do not know laboratory results"
	case !o.Sex.Admits(c.sex) || c.ageMonths < int(o.AgeFrom) || c.ageMonths > int(o.AgeTo):
		return "it does not apply to the patient"
	case givenOutside(o):
		return "clients give it"
	case o.Parent != model.None && !c.present(o.Parent):
		return "its parent is not present"
	case c.excluded(item):
		return "another item of an exclusive group is present"
	}
	return ""
}

// objectionToDuration is why the duration of a symptom must not be asked.
func (c conversation) objectionToDuration(q *Question, o Options) string {
	e := c.said(q.Evidence)
	switch {
	case !o.SymptomDuration:
		return "durations are off"
	case len(q.Items) > 0 || q.Group != model.None:
		return "a duration has no items"
	case e == nil || e.Choice != Present || c.r.Observations[q.Evidence].Kind != model.Symptom:
		return "the patient did not report it"
	case e.Source != SourceInitial && slices.ContainsFunc(c.known, c.carriesSource):
		return "it is not initial"
	case e.Duration > 0 || e.DurationUnknown:
		return "it was answered before"
	}
	return ""
}

// applies reports whether evidence can apply to the patient.
func (c conversation) applies(e ReportedEvidence) bool {
	said, _ := c.r.ObservationByID(e.ID)
	o := &c.r.Observations[said]
	return o.Sex.Admits(c.sex) && int(o.AgeFrom) <= c.ageMonths && c.ageMonths <= int(o.AgeTo)
}

// carriesSource reports whether evidence that applies has a source.
func (c conversation) carriesSource(e ReportedEvidence) bool {
	return e.Source != SourceNone && c.applies(e)
}

// said is what was said about an observation, nil when nothing was.
func (c conversation) said(o model.ObservationIndex) *ReportedEvidence {
	for i := range c.known {
		if c.known[i].ID == c.r.ObservationID(o) {
			return &c.known[i]
		}
	}
	return nil
}

// present reports whether what was said, and applies to the patient, says or
// implies that an observation holds.
func (c conversation) present(o model.ObservationIndex) bool {
	return present(c.r, slices.DeleteFunc(slices.Clone(c.known), func(e ReportedEvidence) bool { return !c.applies(e) }), o)
}

// present reports whether evidence says or implies that an observation holds.
func present(r *model.Release, list []ReportedEvidence, o model.ObservationIndex) bool {
	return slices.ContainsFunc(list, func(e ReportedEvidence) bool {
		said, _ := r.ObservationByID(e.ID)
		return e.Choice == Present && (said == o || descends(r, said, o))
	})
}

// excluded reports whether an observation, or one above it, is beside the item
// of an exclusive group that holds.
func (c conversation) excluded(o model.ObservationIndex) bool {
	for ; o != model.None; o = c.r.Observations[o].Parent {
		group := exclusiveGroup(c.r, o)
		if group == model.None {
			continue
		}
		for _, other := range model.Part(c.r.GroupItems, c.r.Groups[group].Items) {
			if other != o && c.present(other) && (other > o || !c.present(o)) {
				return true
			}
		}
	}
	return false
}
