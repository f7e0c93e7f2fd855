// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ageInYears(value int) record.Age { return record.Age{Value: value, Unit: assessment.Year} }

// newWoman returns a patient with a complete record.
func newWoman() record.Patient {
	return record.Patient{ID: "patient-1", UserID: "user-1", Sex: "female", BirthDate: civil.Date{Year: 1992, Month: 3, Day: 4}}
}

// mustCreate creates a survey and fails the test on errors.
func mustCreate(t testing.TB, env section.Env, options flow.CreateOptions) flow.Progress {
	t.Helper()
	p, err := flow.Create(options, now, env)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func initialEvidence(id, choice string) assessment.Evidence {
	return assessment.Evidence{ID: id, Choice: choice, Source: "initial"}
}

func newEnv(t testing.TB) section.Env {
	t.Helper()
	return surveytest.NewEnv(t, surveytest.NewRelease(t))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	p := mustCreate(t, newEnv(t), flow.CreateOptions{
		ID: "survey-1", Patient: newWoman(), Type: "intake", ExpirationDate: now.Add(time.Hour), NotificationDate: now.Add(time.Minute),
		VisitDate: json.RawMessage(` "2026-11-22" `), VisitReason: json.RawMessage(`null`), Specialist: json.RawMessage(`{"id" : 7}`),
	})
	want := record.Survey{
		ID: "survey-1", PatientID: "patient-1", Type: record.TypeIntake, Status: record.StatusNew, Version: 1, CreatedAt: now, AskedAt: now,
		Sections: []string{
			"demographics", "visit_reason", "symptoms", "chronic_diseases", "drugs", "allergies", "hospitalizations", "risk_factors",
			"dynamic", "specialists", "notes",
		},
		ExpirationDate: now.Add(time.Hour), NotificationDate: now.Add(time.Minute), Language: "en", ModelID: "service-en",
		ModelVersion: "2026-11-21T00:00:00Z", Sex: "female", Age: ageInYears(34),
		VisitDate: json.RawMessage(`"2026-11-22"`), Specialist: json.RawMessage(`{"id":7}`),
	}
	if diff := cmp.Diff(want, p.Survey); diff != "" {
		t.Error(diff)
	}
	if len(p.Steps) != 1 || p.Steps[0].Question.ID != "visit_reason" || !p.Steps[0].Answer.IsZero() {
		t.Errorf("got first question %+v", p.Steps)
	}
}

func TestCreateTypes(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for word, want := range map[string]record.Type{"triage": record.TypeTriage, "intake": record.TypeIntake, "follow_up": record.TypeFollowUp, "follow-up": record.TypeFollowUp} {
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: word})
		if p.Survey.Type != want {
			t.Errorf("%s was parsed as %s", word, p.Survey.Type)
		}
		dynamic := slices.Index(p.Survey.Sections, section.Dynamic)
		for _, before := range []string{section.Symptoms, section.ChronicDiseases, section.Drugs} {
			if i := slices.Index(p.Survey.Sections, before); i < 0 || i > dynamic {
				t.Errorf("%s: want %s before the interview, got sections %v", word, before, p.Survey.Sections)
			}
		}
	}
}

func TestCreateSections(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for name, test := range map[string]struct {
		wanted, want []string
		unknown      bool // sex and age of the patient
	}{
		"as they are wanted":        {[]string{"notes", "drugs"}, []string{"notes", "drugs"}, false},
		"by other names":            {[]string{"hospitalization", "specialist", "message_to_doctor"}, []string{"hospitalizations", "specialists", "notes"}, false},
		"an interview has symptoms": {[]string{"dynamic"}, []string{"symptoms", "dynamic"}, false},
		"and has them first":        {[]string{"drugs", "dynamic", "symptoms"}, []string{"drugs", "symptoms", "dynamic"}, false},
		"of an unknown patient":     {[]string{"dynamic"}, []string{"demographics", "symptoms", "dynamic"}, true},
		"who is asked first":        {[]string{"drugs", "symptoms", "demographics"}, []string{"demographics", "drugs", "symptoms"}, true},
		"or not when not needed":    {[]string{"drugs", "demographics"}, []string{"drugs", "demographics"}, true},
		"or when it is known":       {[]string{"symptoms", "demographics"}, []string{"symptoms", "demographics"}, false},
		"risk factors need the sex": {[]string{"risk_factors"}, []string{"demographics", "risk_factors"}, true},
	} {
		patient := newWoman()
		if test.unknown {
			patient.Sex = ""
		}
		p := mustCreate(t, env, flow.CreateOptions{Patient: patient, Type: "triage", Sections: test.wanted})
		if diff := cmp.Diff(test.want, p.Survey.Sections); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCreateRejectsInvalidOptions(t *testing.T) {
	t.Parallel()
	long := json.RawMessage(`"` + strings.Repeat("a", 4095) + `"`)
	for name, test := range map[string]struct {
		edit func(*flow.CreateOptions, *section.Env)
		says string
	}{
		"no type":            {func(state *flow.CreateOptions, _ *section.Env) { state.Type = "" }, "type: missing, expected triage, intake or follow_up"},
		"another type":       {func(state *flow.CreateOptions, _ *section.Env) { state.Type = "followup" }, `type: expected triage, intake or follow_up, got "followup"`},
		"no sections":        {func(state *flow.CreateOptions, _ *section.Env) { state.Sections = []string{} }, "sections: expected at least one of demographics, visit_reason, symptoms, chronic_diseases, drugs, allergies, hospitalizations, risk_factors, dynamic, specialists, notes, got none"},
		"an unknown section": {func(state *flow.CreateOptions, _ *section.Env) { state.Sections = []string{"drugs", "x"} }, `sections[1]: expected one of demographics, visit_reason, symptoms, chronic_diseases, drugs, allergies, hospitalizations, risk_factors, dynamic, specialists, notes, got "x"`},
		"a section twice": {func(state *flow.CreateOptions, _ *section.Env) {
			state.Sections = []string{"notes", "message_to_doctor"}
		}, "sections[1]: expected each section at most once, got notes twice"},
		"nothing to ask":    {func(state *flow.CreateOptions, _ *section.Env) { state.Sections = []string{"demographics"} }, surveytest.NothingToAskMessage},
		"prefilling is off": {func(_ *flow.CreateOptions, env *section.Env) { env.Features.Prefill = false }, "evidence: expected none: prefill is disabled for this instance"},
		"no sex":            {func(state *flow.CreateOptions, _ *section.Env) { state.Patient.Sex = "" }, "evidence: expected none: evidence requires a patient with known sex and age"},
		"no age":            {func(state *flow.CreateOptions, _ *section.Env) { state.Patient.BirthDate = civil.Date{} }, "evidence: expected none: evidence requires a patient with known sex and age"},
		"no id":             {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].ID = "" }, "evidence[0].id: missing, expected the id of an observation, such as s_21"},
		"an unknown id":     {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].ID = "s_999" }, `evidence[0].id: expected the id of a symptom or a risk factor of service-en, such as s_21, got "s_999"`},
		"a laboratory":      {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].ID = "lt_1" }, `evidence[0].id: expected the id of a symptom or a risk factor of service-en, such as s_21, got "lt_1"`},
		"no choice":         {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].Choice = "" }, "evidence[0].choice_id: missing, expected present, absent or unknown"},
		"no source":         {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].Source = "" }, "evidence[0].source: missing, expected initial"},
		"another source":    {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence[0].Source = "suggest" }, `evidence[0].source: expected initial, got "suggest"`},
		"both": {func(state *flow.CreateOptions, _ *section.Env) {
			state.Evidence = append(state.Evidence, initialEvidence("s_1", "absent"))
		}, "evidence[1].choice_id: expected present as in the earlier entry for s_1, got absent"},
		"both by an alias": {func(state *flow.CreateOptions, _ *section.Env) {
			state.Evidence = append(state.Evidence, initialEvidence("p_28", "absent"), initialEvidence("p_280", "present"))
		}, "evidence[2].choice_id: expected absent as in the earlier entry for p_28, got present"},
		"too much":          {func(state *flow.CreateOptions, _ *section.Env) { state.Evidence = make([]assessment.Evidence, 51) }, "evidence: expected at most 50 items, got 51"},
		"a long visit date": {func(state *flow.CreateOptions, _ *section.Env) { state.VisitDate = long }, "visit_date: expected at most 4096 bytes of JSON, got 4097"},
		"no JSON":           {func(state *flow.CreateOptions, _ *section.Env) { state.VisitReason = json.RawMessage(`{`) }, "visit_reason: expected JSON"},
		"a null byte":       {func(state *flow.CreateOptions, _ *section.Env) { state.Specialist = json.RawMessage(`"\u0000"`) }, "specialist: expected JSON without the character U+0000"},
	} {
		options := flow.CreateOptions{Patient: newWoman(), Type: "triage", Evidence: []assessment.Evidence{initialEvidence("s_1", "present")}}
		env := newEnv(t)
		test.edit(&options, &env)
		_, err := flow.Create(options, now, env)
		fieldErr, ok := errors.AsType[*assessment.FieldError](err)
		if !ok || fieldErr.Error() != test.says {
			t.Errorf("%s: got error %v\nwant %s", name, err, test.says)
		}
	}
}

func TestCreateRollsUpEvidence(t *testing.T) {
	t.Parallel()
	env := surveytest.NewEnv(t, surveytest.NewReleaseBuilder().Child("s_111", "s_11", model.CharacterRelation, 0.001).Link("c_1", "s_111", 0.01).Build(t))
	for name, test := range map[string]struct{ sent, want string }{
		"a symptom":                {"s_1 present", "s_1 present"},
		"a detail":                 {"s_21 present", "s_2 present"},
		"a detail of a detail":     {"s_111 present", "s_1 present"},
		"two of one":               {"s_11 present, s_13 present", "s_1 present"},
		"one with its parent":      {"s_1 absent, s_13 present", "s_1 present"},
		"the parent after":         {"s_13 present, s_1 unknown", "s_1 present"},
		"a detail that is not":     {"s_13 absent, s_15 unknown, s_2 present", "s_2 present"},
		"the same twice":           {"s_1 absent, s_1 absent", "s_1 absent"},
		"a risk factor by another": {"p_280 unknown, s_4 present", "p_28 unknown, s_4 present"},
	} {
		var sent []assessment.Evidence
		for pair := range strings.SplitSeq(test.sent, ", ") {
			id, choice, _ := strings.Cut(pair, " ")
			sent = append(sent, initialEvidence(id, choice))
		}
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Evidence: sent})
		var got []string
		for _, e := range p.Survey.Evidence {
			got = append(got, e.ID+" "+e.ChoiceID)
			if e.Source != "initial" {
				t.Errorf("%s: evidence %s has source %q", name, e.ID, e.Source)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %v, want %s", name, got, test.want)
		}
	}
}

func TestPrefilledSymptomIsNotAsked(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for name, test := range map[string]struct {
		evidence []assessment.Evidence
		asked    bool
	}{
		"a symptom":              {[]assessment.Evidence{initialEvidence("s_1", "present")}, false},
		"a detail":               {[]assessment.Evidence{initialEvidence("s_11", "present")}, false},
		"nothing":                {nil, true},
		"a risk factor alone":    {[]assessment.Evidence{initialEvidence("p_28", "present")}, true},
		"absent and unknown":     {[]assessment.Evidence{initialEvidence("s_1", "absent"), initialEvidence("s_2", "unknown")}, true},
		"what does not apply":    {[]assessment.Evidence{initialEvidence("p_42", "present")}, true},
		"a symptom among others": {[]assessment.Evidence{initialEvidence("p_28", "absent"), initialEvidence("s_2", "present")}, false},
	} {
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"dynamic"}, Evidence: test.evidence})
		if isAsked := p.Steps[0].Question.ID == "symptoms"; isAsked != test.asked {
			t.Errorf("%s: got first question %s", name, p.Steps[0].Question.ID)
		}
		if p.Steps[0].Question.Selected != nil {
			t.Errorf("%s: want a question without a preselection", name)
		}
	}
}

// TestPrefilledRiskFactorsCount checks that prefilled evidence other than symptoms counts in
// addition to the answered complaint.
func TestPrefilledRiskFactorsCount(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{
		Patient: newWoman(), Type: "triage", Sections: []string{"dynamic"}, Evidence: []assessment.Evidence{initialEvidence("p_28", "present"), initialEvidence("s_4", "absent")},
	})
	p = mustAnswer(t, p, env, `[{"id":"s_1"}]`)
	want := map[string]string{"p_28": "present initial", "s_4": "absent initial", "s_1": "present initial"}
	if diff := cmp.Diff(want, factsByID(p, env)); diff != "" {
		t.Error(diff)
	}
}

func TestPrefilledSymptomsAreConfirmed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.Features.PrefillConfirmation = true
	p := mustCreate(t, env, flow.CreateOptions{
		Patient: newWoman(), Type: "triage", Sections: []string{"dynamic"},
		Evidence: []assessment.Evidence{initialEvidence("s_11", "present"), initialEvidence("p_28", "absent"), initialEvidence("s_2", "present")},
	})
	want := []record.Item{{ID: "s_1", Name: "s_1", ChoiceID: "present"}, {ID: "p_28", Name: "p_28", ChoiceID: "absent"}, {ID: "s_2", Name: "s_2", ChoiceID: "present"}}
	if diff := cmp.Diff(want, p.Steps[0].Question.Selected); diff != "" || p.Steps[0].Question.ID != "symptoms" {
		t.Errorf("%s: %s", p.Steps[0].Question.ID, diff)
	}
	// Unconfirmed evidence does not count.
	p = mustAnswer(t, p, env, `[{"id":"s_2"},{"id":"s_4"}]`)
	known := section.State{Env: env, Survey: &p.Survey, Steps: record.AnsweredSteps(p.Steps)}
	if got := fmt.Sprint(known.Facts()); strings.Contains(got, "s_1 ") || strings.Contains(got, "p_28") || len(known.Facts()) != 2 {
		t.Errorf("got %s among the facts", got)
	}
}

// mustAnswer answers the current question and fails the test on errors.
func mustAnswer(t testing.TB, p flow.Progress, env section.Env, sent string) flow.Progress {
	t.Helper()
	transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(sent)}, now, env)
	if err != nil {
		t.Fatalf("answering %s: %v", p.Steps[len(p.Steps)-1].Question.ID, err)
	}
	return applyTransition(p, transition)
}

// applyTransition applies a transition in the same way as a store.
func applyTransition(p flow.Progress, transition flow.Transition) flow.Progress {
	if transition.Duplicate {
		return p
	}
	return flow.Progress{Survey: transition.Survey, Steps: append(slices.Clone(p.Steps[:transition.FirstStep]), transition.Steps...)}
}
