// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func years(value int) guidance.Age { return guidance.Age{Value: value, Unit: assessment.Year} }

// woman is a patient of whom all is known.
func woman() guidance.Patient {
	return guidance.Patient{ID: "patient-1", UserID: "user-1", Sex: "female", BirthDate: civil.Date{Year: 1992, Month: 3, Day: 4}}
}

// create makes a survey that must be good.
func create(t testing.TB, w section.World, creation survey.Creation) survey.Progress {
	t.Helper()
	p, err := survey.Create(creation, now, w)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func initial(id, choice string) assessment.Evidence {
	return assessment.Evidence{ID: id, Choice: choice, Source: "initial"}
}

func world(t testing.TB) section.World {
	t.Helper()
	return guidancetest.World(t, guidancetest.Release(t))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	p := create(t, world(t), survey.Creation{
		ID: "survey-1", Patient: woman(), Type: "intake", ExpirationDate: now.Add(time.Hour), NotificationDate: now.Add(time.Minute),
		VisitDate: json.RawMessage(` "2026-11-22" `), VisitReason: json.RawMessage(`null`), Specialist: json.RawMessage(`{"id" : 7}`),
	})
	want := guidance.Survey{
		ID: "survey-1", PatientID: "patient-1", Type: guidance.Intake, Status: guidance.New, Version: 1, CreatedAt: now, AskedAt: now,
		Sections: []string{
			"demographics", "visit_reason", "symptoms", "chronic_diseases", "drugs", "allergies", "hospitalizations", "risk_factors",
			"dynamic", "specialists", "notes",
		},
		ExpirationDate: now.Add(time.Hour), NotificationDate: now.Add(time.Minute), Language: "en", ModelID: "service-en",
		ModelVersion: "2026-11-21T00:00:00Z", Sex: "female", Age: years(34),
		VisitDate: json.RawMessage(`"2026-11-22"`), Specialist: json.RawMessage(`{"id":7}`),
	}
	if diff := cmp.Diff(want, p.Survey); diff != "" {
		t.Error(diff)
	}
	if len(p.Steps) != 1 || p.Steps[0].Question.ID != "visit_reason" || !p.Steps[0].Answer.IsZero() {
		t.Errorf("the first question is %+v", p.Steps)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	w := world(t)
	for word, want := range map[string]guidance.Type{"triage": guidance.Triage, "intake": guidance.Intake, "follow_up": guidance.FollowUp, "follow-up": guidance.FollowUp} {
		p := create(t, w, survey.Creation{Patient: woman(), Type: word})
		if p.Survey.Type != want {
			t.Errorf("%s is %s", word, p.Survey.Type)
		}
		dynamic := slices.Index(p.Survey.Sections, section.Dynamic)
		for _, before := range []string{section.Symptoms, section.ChronicDiseases, section.Drugs} {
			if at := slices.Index(p.Survey.Sections, before); at < 0 || at > dynamic {
				t.Errorf("%s: %s does not come before the interview: %v", word, before, p.Survey.Sections)
			}
		}
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	w := world(t)
	for name, test := range map[string]struct {
		wanted, want []string
		unknown      bool // the patient's sex and age
	}{
		"as they are wanted":           {[]string{"notes", "drugs"}, []string{"notes", "drugs"}, false},
		"by other names":               {[]string{"hospitalization", "specialist", "message_to_doctor"}, []string{"hospitalizations", "specialists", "notes"}, false},
		"an interview has symptoms":    {[]string{"dynamic"}, []string{"symptoms", "dynamic"}, false},
		"and has them first":           {[]string{"drugs", "dynamic", "symptoms"}, []string{"drugs", "symptoms", "dynamic"}, false},
		"of somebody":                  {[]string{"dynamic"}, []string{"demographics", "symptoms", "dynamic"}, true},
		"who is asked first":           {[]string{"drugs", "symptoms", "demographics"}, []string{"demographics", "drugs", "symptoms"}, true},
		"or not when nobody needs it":  {[]string{"drugs", "demographics"}, []string{"drugs", "demographics"}, true},
		"or when it is known":          {[]string{"symptoms", "demographics"}, []string{"symptoms", "demographics"}, false},
		"risk factors are of somebody": {[]string{"risk_factors"}, []string{"demographics", "risk_factors"}, true},
	} {
		patient := woman()
		if test.unknown {
			patient.Sex = ""
		}
		p := create(t, w, survey.Creation{Patient: patient, Type: "triage", Sections: test.wanted})
		if diff := cmp.Diff(test.want, p.Survey.Sections); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCreationsThatAreRefused(t *testing.T) {
	t.Parallel()
	long := json.RawMessage(`"` + strings.Repeat("a", 4095) + `"`)
	for name, test := range map[string]struct {
		edit func(*survey.Creation, *section.World)
		says string
	}{
		"no type":            {func(c *survey.Creation, _ *section.World) { c.Type = "" }, "type: missing, expected triage, intake or follow_up"},
		"another type":       {func(c *survey.Creation, _ *section.World) { c.Type = "followup" }, `type: expected triage, intake or follow_up, got "followup"`},
		"no sections":        {func(c *survey.Creation, _ *section.World) { c.Sections = []string{} }, "sections: expected some of demographics, visit_reason, symptoms, chronic_diseases, drugs, allergies, hospitalizations, risk_factors, dynamic, specialists, notes, got none"},
		"an unknown section": {func(c *survey.Creation, _ *section.World) { c.Sections = []string{"drugs", "x"} }, `sections[1]: expected one of demographics, visit_reason, symptoms, chronic_diseases, drugs, allergies, hospitalizations, risk_factors, dynamic, specialists, notes, got "x"`},
		"a section twice":    {func(c *survey.Creation, _ *section.World) { c.Sections = []string{"notes", "message_to_doctor"} }, "sections[1]: expected each section once, got notes again"},
		"nothing to ask":     {func(c *survey.Creation, _ *section.World) { c.Sections = []string{"demographics"} }, guidancetest.NothingToAsk},
		"prefilling is off":  {func(_ *survey.Creation, w *section.World) { w.Features.Prefill = false }, "evidence: expected none: prefilling is off for this instance"},
		"no sex":             {func(c *survey.Creation, _ *section.World) { c.Patient.Sex = "" }, "evidence: expected none: it needs a patient whose sex and age are known"},
		"no age":             {func(c *survey.Creation, _ *section.World) { c.Patient.BirthDate = civil.Date{} }, "evidence: expected none: it needs a patient whose sex and age are known"},
		"no id":              {func(c *survey.Creation, _ *section.World) { c.Evidence[0].ID = "" }, "evidence[0].id: missing, expected the id of an observation, such as s_21"},
		"an unknown id":      {func(c *survey.Creation, _ *section.World) { c.Evidence[0].ID = "s_999" }, `evidence[0].id: expected the id of a symptom or a risk factor of service-en, such as s_21, got "s_999"`},
		"a laboratory":       {func(c *survey.Creation, _ *section.World) { c.Evidence[0].ID = "lt_1" }, `evidence[0].id: expected the id of a symptom or a risk factor of service-en, such as s_21, got "lt_1"`},
		"no choice":          {func(c *survey.Creation, _ *section.World) { c.Evidence[0].Choice = "" }, "evidence[0].choice_id: missing, expected present, absent or unknown"},
		"no source":          {func(c *survey.Creation, _ *section.World) { c.Evidence[0].Source = "" }, "evidence[0].source: missing, expected initial"},
		"another source":     {func(c *survey.Creation, _ *section.World) { c.Evidence[0].Source = "suggest" }, `evidence[0].source: expected initial, got "suggest"`},
		"both":               {func(c *survey.Creation, _ *section.World) { c.Evidence = append(c.Evidence, initial("s_1", "absent")) }, "evidence[1].choice_id: expected present, as s_1 was given before, got absent"},
		"both by an alias": {func(c *survey.Creation, _ *section.World) {
			c.Evidence = append(c.Evidence, initial("p_28", "absent"), initial("p_280", "present"))
		}, "evidence[2].choice_id: expected absent, as p_28 was given before, got present"},
		"too much":          {func(c *survey.Creation, _ *section.World) { c.Evidence = make([]assessment.Evidence, 51) }, "evidence: expected at most 50 items, got 51"},
		"a long visit date": {func(c *survey.Creation, _ *section.World) { c.VisitDate = long }, "visit_date: expected at most 4096 bytes of JSON, got 4097"},
		"no JSON":           {func(c *survey.Creation, _ *section.World) { c.VisitReason = json.RawMessage(`{`) }, "visit_reason: expected JSON"},
		"a null byte":       {func(c *survey.Creation, _ *section.World) { c.Specialist = json.RawMessage(`"\u0000"`) }, "specialist: expected JSON without the character U+0000"},
	} {
		creation := survey.Creation{Patient: woman(), Type: "triage", Evidence: []assessment.Evidence{initial("s_1", "present")}}
		w := world(t)
		test.edit(&creation, &w)
		_, err := survey.Create(creation, now, w)
		wrong, ok := errors.AsType[*assessment.FieldError](err)
		if !ok || wrong.Error() != test.says {
			t.Errorf("%s: %v\nwant %s", name, err, test.says)
		}
	}
}

func TestEvidenceIsOfParents(t *testing.T) {
	t.Parallel()
	w := guidancetest.World(t, guidancetest.Draft().Child("s_111", "s_11", model.Character, 0.001).Link("c_1", "s_111", 0.01).Build(t))
	for name, test := range map[string]struct{ sent, want string }{
		"a symptom":                {"s_1 present", "s_1 present"},
		"a detail":                 {"s_21 present", "s_2 present"},
		"a detail of a detail":     {"s_111 present", "s_1 present"},
		"two of one":               {"s_11 present, s_13 present", "s_1 present"},
		"one beside its parent":    {"s_1 absent, s_13 present", "s_1 present"},
		"the parent after":         {"s_13 present, s_1 unknown", "s_1 present"},
		"a detail that is not":     {"s_13 absent, s_15 unknown, s_2 present", "s_2 present"},
		"the same twice":           {"s_1 absent, s_1 absent", "s_1 absent"},
		"a risk factor by another": {"p_280 unknown, s_4 present", "p_28 unknown, s_4 present"},
	} {
		var sent []assessment.Evidence
		for one := range strings.SplitSeq(test.sent, ", ") {
			id, choice, _ := strings.Cut(one, " ")
			sent = append(sent, initial(id, choice))
		}
		p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Evidence: sent})
		var got []string
		for _, e := range p.Survey.Evidence {
			got = append(got, e.ID+" "+e.ChoiceID)
			if e.Source != "initial" {
				t.Errorf("%s: the source of %s is %q", name, e.ID, e.Source)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}

func TestWhatWasGivenIsNotAskedFor(t *testing.T) {
	t.Parallel()
	w := world(t)
	for name, test := range map[string]struct {
		evidence []assessment.Evidence
		asked    bool
	}{
		"a symptom":              {[]assessment.Evidence{initial("s_1", "present")}, false},
		"a detail":               {[]assessment.Evidence{initial("s_11", "present")}, false},
		"nothing":                {nil, true},
		"a risk factor alone":    {[]assessment.Evidence{initial("p_28", "present")}, true},
		"what is not there":      {[]assessment.Evidence{initial("s_1", "absent"), initial("s_2", "unknown")}, true},
		"what does not apply":    {[]assessment.Evidence{initial("p_42", "present")}, true},
		"a symptom among others": {[]assessment.Evidence{initial("p_28", "absent"), initial("s_2", "present")}, false},
	} {
		p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"dynamic"}, Evidence: test.evidence})
		if asked := p.Steps[0].Question.ID == "symptoms"; asked != test.asked {
			t.Errorf("%s: %s is asked first", name, p.Steps[0].Question.ID)
		}
		if p.Steps[0].Question.Selected != nil {
			t.Errorf("%s: something is chosen already", name)
		}
	}
}

// What was given and is no complaint counts beside the complaint that is asked for.
func TestRiskFactorsThatWereGivenCount(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{
		Patient: woman(), Type: "triage", Sections: []string{"dynamic"}, Evidence: []assessment.Evidence{initial("p_28", "present"), initial("s_4", "absent")},
	})
	p = answer(t, p, w, `[{"id":"s_1"}]`)
	want := map[string]string{"p_28": "present initial", "s_4": "absent initial", "s_1": "present initial"}
	if diff := cmp.Diff(want, known(p, w)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasGivenIsConfirmed(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Features.PrefillConfirmation = true
	p := create(t, w, survey.Creation{
		Patient: woman(), Type: "triage", Sections: []string{"dynamic"},
		Evidence: []assessment.Evidence{initial("s_11", "present"), initial("p_28", "absent"), initial("s_2", "present")},
	})
	want := []guidance.Item{{ID: "s_1", Name: "s_1", ChoiceID: "present"}, {ID: "p_28", Name: "p_28", ChoiceID: "absent"}, {ID: "s_2", Name: "s_2", ChoiceID: "present"}}
	if diff := cmp.Diff(want, p.Steps[0].Question.Selected); diff != "" || p.Steps[0].Question.ID != "symptoms" {
		t.Errorf("%s: %s", p.Steps[0].Question.ID, diff)
	}
	// What is not confirmed counts no more.
	p = answer(t, p, w, `[{"id":"s_2"},{"id":"s_4"}]`)
	known := section.Case{World: w, Survey: &p.Survey, Steps: guidance.Answered(p.Steps)}
	if got := fmt.Sprint(known.Facts()); strings.Contains(got, "s_1 ") || strings.Contains(got, "p_28") || len(known.Facts()) != 2 {
		t.Errorf("%s is known", got)
	}
}

// answer answers the current question, which must go well.
func answer(t testing.TB, p survey.Progress, w section.World, sent string) survey.Progress {
	t.Helper()
	move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(sent)}, now, w)
	if err != nil {
		t.Fatalf("answering %s: %v", p.Steps[len(p.Steps)-1].Question.ID, err)
	}
	return apply(p, move)
}

// apply writes a move, as a storage does.
func apply(p survey.Progress, move survey.Move) survey.Progress {
	if move.Repeated {
		return p
	}
	return survey.Progress{Survey: move.Survey, Steps: append(slices.Clone(p.Steps[:move.From]), move.Steps...)}
}
