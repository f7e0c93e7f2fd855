// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// askedQuestions answers every question in the same way until no question is left, and
// returns the questions: item IDs, with the items of a group in brackets, and the ID of
// a duration question after an @. The patient never knows a duration.
func askedQuestions(t testing.TB, r *model.Release, sex model.Sex, words string, o Options, choice Choice) []string {
	t.Helper()
	var asked []string
	list, e := parseEvidence(words), New()
	for range 2 * maxQuestions {
		p, err := NewPatient(r, sex, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		q := e.Assess(r, p, o).Question
		if q == nil {
			return asked
		}
		if q.Type == Duration {
			asked = append(asked, "@"+r.ObservationID(q.Symptom))
			list = withAnswer(list, r.ObservationID(q.Symptom), "?")
			continue
		}
		var ids []string
		for i, item := range q.Items {
			ids = append(ids, r.ObservationID(item))
			if q.Type != GroupSingle || i == 0 || choice != Present {
				list = append(list, ReportedEvidence{ID: r.ObservationID(item), Choice: choice})
			}
		}
		if q.Type == Single {
			asked = append(asked, ids[0])
		} else {
			asked = append(asked, "["+strings.Join(ids, " ")+"]")
		}
	}
	t.Fatalf("%q: no end, asked %v", words, asked)
	return nil
}

// firstQuestion returns the first question for the evidence.
func firstQuestion(t testing.TB, r *model.Release, words string, o Options) *Question {
	t.Helper()
	return New().Assess(r, newFemalePatient(t, r, words), o).Question
}

// withoutQuestion removes the question texts of an observation, so that it is never
// asked.
func withoutQuestion(o *model.DraftObservation) { o.Question, o.QuestionThirdPerson = "", "" }

func serious(o *model.DraftObservation) { o.Seriousness = model.Serious }

func redFlag(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergency }

func emergency(c *model.DraftCondition) { c.Triage = model.Emergency }

// newQuestionRelease has everything that a question may and may not be about.
func newQuestionRelease(t testing.TB) *model.Release {
	b := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.03).
		Symptom("s_1", 0.05).
		Symptom("s_2", 0.05).
		Child("s_3", "s_2", model.CharacterRelation, 0.01).
		Child("s_4", "s_1", model.CharacterRelation, 0.01).
		Child("s_5", "s_1", model.LocationRelation, 0.01).Child("s_6", "s_1", model.LocationRelation, 0.01).
		Group(model.GroupMultiple, "s_5", "s_6").
		Child("s_7", "s_1", model.SeverityRelation, 0.01).Child("s_8", "s_1", model.SeverityRelation, 0.01).
		OrderedGroup("s_7", "s_8").
		Symptom("s_11", 0.05, withoutQuestion).
		Symptom("s_12", 0.05, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Symptom("s_13", 0.05, func(o *model.DraftObservation) { o.AgeTo = 24 }).
		Symptom("s_14", 0.05). // linked to nothing
		RiskFactor("p_1", 0.3).
		RiskFactor("p_2", 0.3). // has no factor
		LabResult("lt_1", 0.05, withoutQuestion)
	for _, id := range []string{"p_6", "p_7", "p_13", "p_14", "p_15", "p_16", "p_17", "p_18", "p_19", "p_20", "p_21", "p_236"} {
		b.RiskFactor(id, 0.2).Factor("c_1", id, 3, 0.5)
	}
	for _, id := range []string{"s_2", "s_11", "s_12", "s_13", "lt_1"} {
		b.Link("c_1", id, 0.5)
	}
	for _, id := range []string{"s_3", "s_4", "s_5", "s_6", "s_7", "s_8"} {
		b.Link("c_1", id, 0.3)
	}
	return b.Link("c_1", "s_1", 0.8).Link("c_2", "s_1", 0.7).Factor("c_1", "p_1", 3, 0.2).Build(t)
}

func TestQuestionsCoverAskableObservations(t *testing.T) {
	t.Parallel()
	r := newQuestionRelease(t)
	for name, test := range map[string]struct {
		sex      model.Sex
		evidence string
		options  Options
		choice   Choice
		want     []string
	}{
		"yes to all":        {model.Female, "s_1!", Options{}, Present, []string{"[s_5 s_6]", "[s_7 s_8]", "p_1", "s_2", "s_3", "s_4"}},
		"no to all":         {model.Female, "s_1!", Options{}, Absent, []string{"[s_5 s_6]", "[s_7 s_8]", "p_1", "s_2", "s_4"}},
		"do not know":       {model.Female, "s_1!", Options{}, Unknown, []string{"[s_5 s_6]", "[s_7 s_8]", "p_1", "s_2", "s_4"}},
		"a man":             {model.Male, "s_1!", Options{}, Absent, []string{"[s_5 s_6]", "[s_7 s_8]", "p_1", "s_12", "s_2", "s_4"}},
		"without groups":    {model.Female, "s_1!", Options{DisableGroups: true}, Absent, []string{"p_1", "s_2", "s_4", "s_5", "s_6", "s_7", "s_8"}},
		"one side is yes":   {model.Female, "s_1! s_7 -s_2 -s_4 -p_1 -s_5 -s_6", Options{DisableGroups: true}, Absent, nil},
		"part of a group":   {model.Female, "s_1! s_5! -s_2 -s_4 -p_1 -s_7", Options{}, Absent, []string{"s_6"}},
		"a group was asked": {model.Female, "s_1! s_5 -s_2 -s_4 -p_1 -s_7", Options{}, Absent, nil},
		"nothing initial":   {model.Female, "s_1+ s_2", Options{}, Absent, nil},
		"no source at all":  {model.Female, "s_1 -s_4 -s_5 -s_7 -p_1", Options{}, Absent, []string{"s_2"}},
		"nothing present":   {model.Female, "-s_1 -s_2", Options{}, Absent, nil},
		"no evidence":       {model.Female, "", Options{}, Absent, nil},
		"risk factors only": {model.Female, "p_1 p_7", Options{}, Absent, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := askedQuestions(t, r, test.sex, test.evidence, test.options, test.choice)
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChildrenFollowParents(t *testing.T) {
	t.Parallel()
	asked := askedQuestions(t, newQuestionRelease(t), model.Female, "s_1!", Options{}, Present)
	if parent, child := slices.Index(asked, "s_2"), slices.Index(asked, "s_3"); parent < 0 || child < parent {
		t.Errorf("s_3 asked before s_2: %v", asked)
	}
}

func TestQuestionText(t *testing.T) {
	t.Parallel()
	r := newQuestionRelease(t)
	for words, want := range map[string]*Question{
		"s_1! -s_2 -s_4 -p_1 -s_7":      {Type: GroupMultiple, Text: "Which of s_5, s_6?", TextThirdPerson: "Third person: Which of s_5, s_6?"},
		"s_1! -s_2 -s_4 -p_1 -s_5":      {Type: GroupSingle, Text: "Which of s_7, s_8?", TextThirdPerson: "Third person: Which of s_7, s_8?"},
		"s_1! s_5+ -s_2 -s_4 -p_1 -s_7": {Type: Single, Text: "s_6?", TextThirdPerson: "Third person: s_6?"}, // the last open item of a group
		"s_1! -s_5 -s_4 -p_1 -s_7":      {Type: Single, Text: "s_2?", TextThirdPerson: "Third person: s_2?"},
	} {
		got := firstQuestion(t, r, words, Options{})
		if got == nil || got.Type != want.Type || got.Text != want.Text || got.TextThirdPerson != want.TextThirdPerson {
			t.Errorf("%q: %+v, want %+v", words, got, want)
		}
		if (got.Group == model.None) != (want.Type == Single) {
			t.Errorf("%q: group %d of a question of type %d", words, got.Group, got.Type)
		}
	}
}

// TestUninformativeItemsAreOmitted asks a group in which s_2 is most informative, s_3
// about as informative, and s_4 uninformative, alone or as a red flag.
func TestUninformativeItemsAreOmitted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last func(*modeltest.Builder)
		want []string
	}{
		"it tells little": {func(b *modeltest.Builder) { b.Symptom("s_4", 0.01).Link("c_3", "s_4", 0.02) }, []string{"s_2", "s_3"}},
		"it is a red flag": {func(b *modeltest.Builder) {
			b.Symptom("s_4", 0.001, redFlag).Link("c_3", "s_4", 0.1)
		}, []string{"s_2", "s_3", "s_4"}},
		"it is an emergency whatever brings it": {func(b *modeltest.Builder) {
			b.Symptom("s_4", 0.03, redFlag).Link("c_2", "s_4", 0.04)
		}, []string{"s_2", "s_3", "s_4"}},
	} {
		b := modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.01, emergency).
			Symptom("s_1", 0.02).Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
			Symptom("s_2", 0.02).Link("c_1", "s_2", 0.8).Symptom("s_3", 0.02).Link("c_2", "s_3", 0.7)
		test.last(b)
		r := b.Group(model.GroupMultiple, "s_2", "s_3", "s_4").Build(t)
		got := firstQuestion(t, r, "s_1!", Options{})
		if got == nil || got.Type != GroupMultiple {
			t.Fatalf("%s: %+v, want the group", name, got)
		}
		if diff := cmp.Diff(test.want, observationIDs(r, got.Items)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// newDangerRelease has a common harmless condition and a rare emergency that presents
// with a red flag.
func newDangerRelease(t testing.TB, prior float64) *model.Release {
	return modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", prior, emergency).
		Symptom("s_1", 0.02).Symptom("s_2", 0.05).Symptom("s_3", 0.001, redFlag).Symptom("s_4", 0.02).
		Child("s_5", "s_4", model.CharacterRelation, 0.001, redFlag).
		Symptom("s_6", 0.02, redFlag).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
		Link("c_1", "s_2", 0.9).Link("c_3", "s_3", 0.6).
		Link("c_3", "s_4", 0.5).Link("c_3", "s_5", 0.4).
		Link("c_2", "s_6", 0.3). // a red flag that no emergency causes
		Build(t)
}

func TestRedFlagsComeFirstWhileEmergencyIsPossible(t *testing.T) {
	t.Parallel()
	item := func(q *Question, r *model.Release) string { return r.ObservationID(q.Items[0]) }
	likely, unlikely := newDangerRelease(t, 0.005), newDangerRelease(t, 1e-6)
	if got := item(firstQuestion(t, likely, "s_1!", Options{}), likely); got != "s_3" {
		t.Errorf("with an emergency that is possible %s is asked first, want s_3", got)
	}
	if got := item(firstQuestion(t, unlikely, "s_1!", Options{}), unlikely); got != "s_2" {
		t.Errorf("with an emergency that is not possible %s is asked first, want s_2", got)
	}
	for _, mode := range []Mode{TriageMode, ShortTriageMode} {
		if got := item(firstQuestion(t, likely, "s_1!", Options{Mode: mode}), likely); got != "s_3" {
			t.Errorf("mode %d: %s is asked first, want s_3", mode, got)
		}
	}
}

// TestUnlikelyRedFlagsAreStillAsked expects them, and the questions that must precede
// them, after the more informative questions.
func TestUnlikelyRedFlagsAreStillAsked(t *testing.T) {
	t.Parallel()
	r := newDangerRelease(t, 0.0004)
	asked := askedQuestions(t, r, model.Female, "s_1! s_2", Options{}, Absent)
	if !slices.Contains(asked, "s_3") || !slices.Contains(asked, "s_4") {
		t.Errorf("s_3 or s_4 is missing: %v", asked)
	}
	stopped := New().Assess(r, newFemalePatient(t, r, "s_1! s_2 -s_6+ ?s_4+"), Options{})
	if stopped.ShouldStop {
		t.Error("the interview stops before the red flag s_3 is asked")
	}
}

// TestInherentEmergencyIsAskedBeforeStop has a harmless condition, almost certain,
// that may cause an emergency in its own right.
func TestInherentEmergencyIsAskedBeforeStop(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		share       float64
		seriousness model.Seriousness
		stops       bool
	}{
		"an emergency in one of four":      {0.25, model.SeriousnessEmergency, false},
		"an emergency in one of a hundred": {0.01, model.SeriousnessEmergency, true},
		"serious in one of four":           {0.25, model.Serious, true},
		"neither, in one of four":          {0.25, model.NotSerious, true},
		"an ambulance in one of four":      {0.25, model.SeriousnessEmergencyAmbulance, false},
	} {
		for _, child := range []bool{false, true} {
			b := modeltest.New().Condition("c_1", 0.1).Condition("c_2", 0.01)
			for _, id := range []string{"s_1", "s_2", "s_3", "s_4", "s_5"} {
				b.Symptom(id, 0.001).Link("c_1", id, 0.9)
			}
			flag := func(o *model.DraftObservation) { o.Seriousness = test.seriousness }
			if child {
				b.Child("s_6", "s_1", model.CharacterRelation, 0.0004, flag)
			} else {
				b.Symptom("s_6", 0.0004, flag)
			}
			r := b.Link("c_1", "s_6", test.share).Link("c_2", "s_1", 0.5).Build(t)
			assessment := New().Assess(r, newFemalePatient(t, r, "s_1! s_2 s_3 s_4 s_5"), Options{})
			if assessment.ShouldStop != test.stops {
				t.Errorf("%s, child %v: stops %v, want %v", name, child, assessment.ShouldStop, test.stops)
			}
			if q := assessment.Question; !test.stops && (q == nil || r.ObservationID(q.Items[0]) != "s_6") {
				t.Errorf("%s, child %v: s_6 is not asked", name, child)
			}
			if stopped := New().Assess(r, newFemalePatient(t, r, "s_1! s_2 s_3 s_4 s_5 -s_6"), Options{}); !stopped.ShouldStop {
				t.Errorf("%s, child %v: the interview continues after a no", name, child)
			}
		}
	}
}

// TestShortTriageDoesNotDelayRedFlags expects questions that delay the stop to precede
// more informative ones, once the minimum number of questions was asked.
func TestShortTriageDoesNotDelayRedFlags(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.05)
	for _, id := range []string{"s_1", "s_2", "s_3", "s_4", "s_5", "s_6", "s_7"} {
		b.Symptom(id, 0.01).Link("c_1", id, 0.6).Link("c_2", id, 0.1)
	}
	r := b.Symptom("s_8", 0.001, redFlag).Link("c_1", "s_8", 0.1).Link("c_2", "s_8", 0.1).Build(t)
	for mode, want := range map[Mode]int{ShortTriageMode: minQuestions, DefaultMode: 6} {
		asked := askedQuestions(t, r, model.Female, "s_1!", Options{Mode: mode}, Absent)
		if got := slices.Index(asked, "s_8"); got != want {
			t.Errorf("mode %d: the red flag is asked after %d questions, want %d: %v", mode, got, want, asked)
		}
	}
}

// TestLastTupleItemIsRedFlag expects the last missing item of a tuple to be asked.
func TestLastTupleItemIsRedFlag(t *testing.T) {
	t.Parallel()
	build := func(tuples ...string) *model.Release {
		b := modeltest.New().
			Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.01, emergency).
			Symptom("s_1", 0.02).Symptom("s_2", 0.05).Symptom("s_3", 0.05).
			Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
			Link("c_1", "s_2", 0.9).Link("c_3", "s_3", 0.3)
		if len(tuples) > 0 {
			b.Tuple(model.EmergencyAmbulance, tuples...)
		}
		return b.Build(t)
	}
	for want, r := range map[string]*model.Release{"s_2": build(), "s_3": build("s_1", "s_3")} {
		if q := firstQuestion(t, r, "s_1!", Options{}); r.ObservationID(q.Items[0]) != want {
			t.Errorf("%s is asked first, want %s", r.ObservationID(q.Items[0]), want)
		}
	}
}

// TestRedFlagsBelowCurrentLevelAreOrdinary expects no red flag to precede a more
// informative question once an ambulance is required.
func TestRedFlagsBelowCurrentLevelAreOrdinary(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.01, emergency).
		Symptom("s_1", 0.02).Symptom("s_2", 0.05).Symptom("s_3", 0.01, serious).Symptom("s_4", 0.02, redFlag).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
		Link("c_1", "s_2", 0.9).Link("c_3", "s_3", 0.4).
		Build(t)
	for words, want := range map[string]string{"s_1!": "s_3", "s_1! s_4": "s_2"} {
		if q := firstQuestion(t, r, words, Options{}); r.ObservationID(q.Items[0]) != want {
			t.Errorf("%q: %s is asked first, want %s", words, r.ObservationID(q.Items[0]), want)
		}
	}
}

// TestTriageModePrefersLevelQuestions has two conditions of one level and a third of
// another, and expects questions that separate the levels to have a higher value.
func TestTriageModePrefersLevelQuestions(t *testing.T) {
	t.Parallel()
	selfCare := func(c *model.DraftCondition) { c.Triage = model.SelfCare }
	prompt := func(c *model.DraftCondition) { c.Triage = model.Consultation24 }
	r := modeltest.New().
		Condition("c_1", 0.05, selfCare).Condition("c_2", 0.05, selfCare).Condition("c_3", 0.015, prompt).
		Symptom("s_1", 0.02).Symptom("s_2", 0.02).Symptom("s_3", 0.02).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
		Link("c_1", "s_2", 0.9).Link("c_3", "s_2", 0.45).
		Link("c_3", "s_3", 0.8).
		Build(t)
	for mode, want := range map[Mode]string{DefaultMode: "s_2", TriageMode: "s_3", ShortTriageMode: "s_3"} {
		if q := firstQuestion(t, r, "s_1!", Options{Mode: mode}); r.ObservationID(q.Items[0]) != want {
			t.Errorf("mode %d: %s is asked first, want %s", mode, r.ObservationID(q.Items[0]), want)
		}
	}
}

// TestComplaintRedFlagsComeFirst expects a red flag that qualifies the complaint to be
// asked early although its emergency is unlikely, and any other red flag after the
// more informative questions.
func TestComplaintRedFlagsComeFirst(t *testing.T) {
	t.Parallel()
	build := func(child bool) *model.Release {
		b := modeltest.New().
			Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.0002, emergency).
			Symptom("s_1", 0.02).Symptom("s_2", 0.05).
			Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
			Link("c_1", "s_2", 0.9)
		if child {
			b.Child("s_3", "s_1", model.CharacterRelation, 0.001, redFlag)
		} else {
			b.Symptom("s_3", 0.001, redFlag)
		}
		return b.Link("c_3", "s_3", 0.8).Build(t)
	}
	for child, want := range map[bool]string{true: "s_3", false: "s_2"} {
		r := build(child)
		if q := firstQuestion(t, r, "s_1!", Options{}); r.ObservationID(q.Items[0]) != want {
			t.Errorf("red flag below the complaint %v: %s is asked first, want %s", child, r.ObservationID(q.Items[0]), want)
		}
	}
}

// TestExclusiveGroupAcceptsAnyAnswerForm covers the chosen item alone, with the others
// as absent, all as absent, and all as unknown. None is asked again.
func TestExclusiveGroupAcceptsAnyAnswerForm(t *testing.T) {
	t.Parallel()
	r, e := newQuestionRelease(t), New()
	posterior := func(words string) []float64 { return infer(e, r, newFemalePatient(t, r, words)) }
	for _, answer := range []string{"s_7", "s_8", "s_7 -s_8", "-s_7 s_8", "-s_7 -s_8", "?s_7 ?s_8", "-s_7 ?s_8"} {
		for _, o := range []Options{{}, {DisableGroups: true}} {
			for _, asked := range askedQuestions(t, r, model.Female, "s_1! "+answer, o, Present) {
				if strings.Contains(asked, "s_7") || strings.Contains(asked, "s_8") {
					t.Errorf("after %q with %+v %s is asked", answer, o, asked)
				}
			}
		}
	}
	for one, other := range map[string]string{
		"s_1! s_7": "s_1! s_7 -s_8", "s_1! s_8": "s_1! -s_7 s_8", "s_1!": "s_1! ?s_7 ?s_8", "s_1! ?s_7 ?s_8": "s_1! -s_7 -s_8",
	} {
		if diff := cmp.Diff(posterior(one), posterior(other)); diff != "" {
			t.Errorf("%q and %q differ: %s", one, other, diff)
		}
	}
}

// TestOmittedGroupItemsAreUnknown expects that items that a client omits from an
// answered group carry no information and are not asked again.
func TestOmittedGroupItemsAreUnknown(t *testing.T) {
	t.Parallel()
	r, e := newQuestionRelease(t), New()
	for left, sent := range map[string]string{"s_1! s_5": "s_1! s_5 ?s_6", "s_1! -s_6": "s_1! ?s_5 -s_6", "s_1! ?s_5": "s_1! ?s_5 ?s_6"} {
		one, other := newFemalePatient(t, r, left), newFemalePatient(t, r, sent)
		if diff := cmp.Diff(e.Assess(r, other, Options{}), e.Assess(r, one, Options{})); diff != "" {
			t.Errorf("%q and %q differ: %s", sent, left, diff)
		}
		for _, asked := range askedQuestions(t, r, model.Female, left, Options{}, Present) {
			if strings.Contains(asked, "s_5") || strings.Contains(asked, "s_6") {
				t.Errorf("after %q %s is asked", left, asked)
			}
		}
	}
}

// TestLabResultsAreNotAsked, even if the release has question texts for them.
func TestLabResultsAreNotAsked(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.02).Condition("c_2", 0.02).
		Symptom("s_1", 0.05).LabResult("lt_1", 0.05).
		Link("c_1", "s_1", 0.8).Link("c_2", "s_1", 0.8).Link("c_1", "lt_1", 0.9).Build(t)
	if got := askedQuestions(t, r, model.Female, "s_1!", Options{}, Present); got != nil {
		t.Errorf("asked %v", got)
	}
}
