// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"pgregory.net/rapid"
)

// drawSimulatedPatient draws a patient who has a condition, of a sex and age at which
// it occurs, and their complaint.
func drawSimulatedPatient(r *model.Release, c model.ConditionIndex, random *rand.Rand) (*simulatedPatient, model.ObservationIndex, bool) {
	condition := &r.Conditions[c]
	from, to := int(condition.AgeFrom), min(int(condition.AgeTo), 1079)
	for range 200 {
		sex, age := model.Sex(random.IntN(2)), from+random.IntN(to-from+1)
		prior := condition.Prior[sex][model.AgeBand(age)]
		if prior == 0 || !condition.Sex.Includes(sex) {
			continue
		}
		p := simulate(r, sex, age, []model.ConditionIndex{c}, random)
		if complaint, ok := p.complaint(random); ok {
			return p, complaint, true
		}
	}
	return nil, model.None, false
}

// someConditions returns one condition in eight, starting with the given one, so that
// the duration of content tests stays the same as the content grows.
func someConditions(r *model.Release, from int) iter.Seq[model.ConditionIndex] {
	return func(yield func(model.ConditionIndex) bool) {
		for c := from; c < len(r.Conditions); c += 8 {
			if !yield(model.ConditionIndex(c)) {
				return
			}
		}
	}
}

// TestRandomModelInterviews plays interviews that start with evidence of every kind,
// on small models with everything that a question may be about.
func TestRandomModelInterviews(t *testing.T) {
	t.Parallel()
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "model"), 33))
		r := drawVariedRelease(t, random)
		random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "interviews"), 34))
		for range 5 {
			p := &simulatedPatient{r: r, sex: model.Sex(random.IntN(2)), ageMonths: random.IntN(1200), answersRandomly: true}
			o := drawOptions(random)
			v := p.runInterview(t, e, drawComplaintEvidence(r, random), o, true, random)
			checkInterview(t, p, v, o)
		}
	})
}

// drawComplaintEvidence draws arbitrary evidence that includes a complaint.
func drawComplaintEvidence(r *model.Release, random *rand.Rand) []ReportedEvidence {
	from, to := r.ObservationsOfKind(model.Symptom)
	id := r.ObservationID(from + model.ObservationIndex(random.IntN(int(to-from))))
	list := slices.DeleteFunc(drawAnyEvidence(r, random), func(e ReportedEvidence) bool { return e.ID == id })
	return append(list[:random.IntN(len(list)+1)], ReportedEvidence{ID: id, Choice: Present, Source: SourceInitial})
}

// TestFullCatalogInterviews plays some interviews on the synthetic model used for
// measurements.
func TestFullCatalogInterviews(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 35))
		p := &simulatedPatient{r: r, sex: model.Sex(random.IntN(2)), ageMonths: random.IntN(1200), answersRandomly: true}
		o := drawOptions(random)
		v := p.runInterview(t, e, drawComplaintEvidence(r, random), o, true, random)
		checkInterview(t, p, v, o)
	}
}

func drawOptions(random *rand.Rand) Options {
	return Options{
		DisableGroups: random.IntN(2) == 0, Mode: Mode(random.IntN(3)),
		ThreeLevels: random.IntN(2) == 0, SymptomDuration: random.IntN(2) == 0,
	}
}

// drawVariedRelease draws a small random release with everything that a question may
// and may not be about: complaints with single children and groups of every kind, some
// of which divide their parent by duration; observations limited to one sex or an age
// range, or without a question text; laboratory results.
func drawVariedRelease(t modeltest.TB, random *rand.Rand) *model.Release {
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
		b.RiskFactor(fmt.Sprintf("p_%d", risk+5), 0.2, randomizeObservation(random)) // two of which clients provide
		b.Factor(conditions[random.IntN(len(conditions))], fmt.Sprintf("p_%d", risk+5), 3, 0.5)
	}
	for result := range 2 {
		b.LabResult(fmt.Sprintf("lt_%d", result+1), 0.05)
		b.Link(conditions[random.IntN(len(conditions))], fmt.Sprintf("lt_%d", result+1), 0.5)
	}
	return b.Build(t)
}

// addComplaint adds a symptom with one or two sets of children, numbered from the
// symptom's number.
func addComplaint(b *modeltest.Builder, number int, conditions []string, random *rand.Rand) {
	root := fmt.Sprintf("s_%d", number)
	b.Symptom(root, 0.05, randomizeObservation(random))
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
			relation, edit := model.CharacterRelation, randomizeObservation(random)
			if divides {
				from := time.Duration(i) * week
				relation, edit = model.DurationRelation, modeltest.WithDurationRange(from, from+week)
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
		b.Child(below, items[0], model.CharacterRelation, 0.001, randomizeObservation(random))
	}
}

// randomizeObservation makes some observations inapplicable to some patients, never
// asked, or red flags.
func randomizeObservation(random *rand.Rand) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) {
		switch random.IntN(12) {
		case 0:
			o.Sex = model.SexFilter(1 + random.IntN(2))
		case 1:
			o.AgeTo = 600
		case 2:
			withoutQuestion(o)
		case 3:
			o.Seriousness = model.Serious + model.Seriousness(random.IntN(3))
		}
	}
}

// checkInterview checks that an interview ended and that every question was allowed,
// given the evidence at that time.
func checkInterview(t modeltest.TB, p *simulatedPatient, v *interview, o Options) {
	t.Helper()
	if v.last.ShouldStopKnown && !v.last.ShouldStop {
		t.Fatalf("no question is left, but the interview should not stop")
	}
	asked, durations, patients := map[model.ObservationIndex]bool{}, map[model.ObservationIndex]bool{}, 0
	for i, q := range v.questions {
		c := conversation{p, v.known[i]}
		if problem := c.questionProblem(q, o); problem != "" {
			t.Fatalf("question %d, %+v: %s; known: %+v", i, q, problem, v.known[i])
		}
		for _, item := range q.Items {
			if asked[item] {
				t.Fatalf("question %d: %s is asked for the second time", i, p.r.ObservationID(item))
			}
			asked[item] = true
		}
		if q.Type != Duration {
			patients++
			continue
		}
		if durations[q.Symptom] {
			t.Fatalf("question %d: the duration of %s is asked for the second time", i, p.r.ObservationID(q.Symptom))
		}
		durations[q.Symptom] = true
	}
	if patients > maxQuestions || len(durations) > 3 {
		t.Fatalf("%d questions and %d for durations", patients, len(durations))
	}
}

// A conversation is the evidence that a patient has reported so far.
type conversation struct {
	*simulatedPatient
	known []ReportedEvidence
}

// questionProblem returns the reason why a question must not be asked, or "" if it may
// be asked.
func (c conversation) questionProblem(q *Question, o Options) string {
	if q.Text == "" || q.TextThirdPerson == "" {
		return "it has no words"
	}
	switch q.Type {
	case Duration:
		return c.durationProblem(q, o)
	case Single:
		if len(q.Items) != 1 || q.Group != model.None || q.Symptom != model.None {
			return "a single question is about one observation"
		}
	default:
		if len(q.Items) == 0 || q.Group == model.None || q.Symptom != model.None || o.DisableGroups {
			return "a group has items, and is not asked when groups are off"
		}
	}
	for _, item := range q.Items {
		if problem := c.itemProblem(item); problem != "" {
			return c.r.ObservationID(item) + ": " + problem
		}
		if q.Group != model.None && c.r.Observations[item].Group != q.Group {
			return c.r.ObservationID(item) + ": it is of another group"
		}
	}
	return ""
}

// itemProblem returns the reason why an observation must not be asked.
func (c conversation) itemProblem(item model.ObservationIndex) string {
	o := &c.r.Observations[item]
	switch {
	case c.findEvidence(item) != nil:
		return "it was answered before"
	case c.isPresent(item):
		return "it is implied by what is present"
	case o.Question.Length == 0:
		return "patients are not asked about it"
	case o.Kind == model.LabResult:
		return "patients do not know laboratory results"
	case !o.Sex.Includes(c.sex) || c.ageMonths < int(o.AgeFrom) || c.ageMonths > int(o.AgeTo):
		return "it does not apply to the patient"
	case isClientProvided(o):
		return "clients give it"
	case o.Parent != model.None && !c.isPresent(o.Parent):
		return "its parent is not present"
	case c.isExcluded(item):
		return "another item of an exclusive group is present"
	}
	return ""
}

// durationProblem returns the reason why the duration of a symptom must not be asked.
func (c conversation) durationProblem(q *Question, o Options) string {
	e := c.findEvidence(q.Symptom)
	switch {
	case !o.SymptomDuration:
		return "durations are off"
	case len(q.Items) > 0 || q.Group != model.None:
		return "a duration has no items"
	case e == nil || e.Choice != Present || c.r.Observations[q.Symptom].Kind != model.Symptom:
		return "the patient did not report it"
	case e.Source != SourceInitial && slices.ContainsFunc(c.known, c.hasSource):
		return "it is not initial"
	case e.Duration > 0 || e.DurationUnknown:
		return "it was answered before"
	}
	return ""
}

// applies reports whether evidence can apply to the patient.
func (c conversation) applies(e ReportedEvidence) bool {
	reported, _ := c.r.ObservationByID(e.ID)
	o := &c.r.Observations[reported]
	return o.Sex.Includes(c.sex) && int(o.AgeFrom) <= c.ageMonths && c.ageMonths <= int(o.AgeTo)
}

// hasSource reports whether evidence that applies has a source.
func (c conversation) hasSource(e ReportedEvidence) bool {
	return e.Source != SourceUnspecified && c.applies(e)
}

// findEvidence returns the evidence about an observation, or nil.
func (c conversation) findEvidence(o model.ObservationIndex) *ReportedEvidence {
	for i := range c.known {
		if c.known[i].ID == c.r.ObservationID(o) {
			return &c.known[i]
		}
	}
	return nil
}

// isPresent reports whether the evidence that applies to the patient includes or
// implies a present observation.
func (c conversation) isPresent(o model.ObservationIndex) bool {
	return isPresentIn(c.r, slices.DeleteFunc(slices.Clone(c.known), func(e ReportedEvidence) bool { return !c.applies(e) }), o)
}

// isPresentIn reports whether evidence includes or implies a present observation.
func isPresentIn(r *model.Release, list []ReportedEvidence, o model.ObservationIndex) bool {
	return slices.ContainsFunc(list, func(e ReportedEvidence) bool {
		reported, _ := r.ObservationByID(e.ID)
		return e.Choice == Present && (reported == o || isDescendant(r, reported, o))
	})
}

// isExcluded reports whether the chosen item of an exclusive group excludes an
// observation or one of its ancestors.
func (c conversation) isExcluded(o model.ObservationIndex) bool {
	for ; o != model.None; o = c.r.Observations[o].Parent {
		group := exclusiveGroup(c.r, o)
		if group == model.None {
			continue
		}
		for _, other := range model.Slice(c.r.GroupItems, c.r.Groups[group].Items) {
			if other != o && c.isPresent(other) && (other > o || !c.isPresent(o)) {
				return true
			}
		}
	}
	return false
}
