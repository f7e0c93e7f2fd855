// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// newCase is one of a woman of 34 with some sections, and the edits made to it.
func newCase(t testing.TB, sections ...string) *section.Case {
	t.Helper()
	return &section.Case{
		World: guidancetest.World(t, guidancetest.Release(t)),
		Survey: &guidance.Survey{
			Type: guidance.Triage, Sections: sections, Sex: "female", Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en",
		},
	}
}

// next is the next question, nil when there is none.
func next(t testing.TB, c *section.Case) *guidance.Question {
	t.Helper()
	question, err := section.Next(c)
	if err != nil {
		t.Fatal(err)
	}
	return question
}

// answer answers the question that must be the next one.
func answer(t testing.TB, c *section.Case, id, sent string) {
	t.Helper()
	question := next(t, c)
	if question == nil || question.ID != id || question.Index != len(c.Steps) {
		t.Fatalf("question %d is %+v, want %s", len(c.Steps), question, id)
	}
	judged, err := section.Judge(question, []byte(sent), c.Lists)
	if err != nil {
		t.Fatal(err)
	}
	c.Steps = append(c.Steps, guidance.Step{Question: *question, Answer: judged})
}

func end(t testing.TB, c *section.Case) {
	t.Helper()
	if question := next(t, c); question != nil {
		t.Errorf("%s is asked too", question.ID)
	}
}

// facts are all that is known, as id choice source.
func facts(c *section.Case) []string {
	var known []string
	for _, fact := range c.Facts() {
		known = append(known, strings.TrimSpace(fact.ID+" "+fact.ChoiceID+" "+fact.Source))
	}
	return known
}

func TestEverySectionIsFound(t *testing.T) {
	t.Parallel()
	if names := section.Names(); len(names) != 11 {
		t.Errorf("there are %v", names)
	}
	for _, name := range section.Names() {
		if s, ok := section.ByName(name); !ok || s.Name() != name {
			t.Errorf("%s is not found", name)
		}
	}
	if _, ok := section.ByName("symptom"); ok {
		t.Error("something is found that is none")
	}
}

func TestDemographicsAskForWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sex     string
		age     guidance.Age
		answers [][2]string
		wantAge guidance.Age
	}{
		"all is known": {"male", guidance.Age{Value: 3, Unit: assessment.Month}, nil, guidance.Age{Value: 3, Unit: assessment.Month}},
		"the age is":   {"", guidance.Age{Value: 34, Unit: assessment.Year}, [][2]string{{"sex", `{"id":"male"}`}}, guidance.Age{Value: 34, Unit: assessment.Year}},
		"the sex is":   {"male", guidance.Age{}, [][2]string{{"age", `2`}}, guidance.Age{Value: 2, Unit: assessment.Year}},
		"an old man":   {"", guidance.Age{}, [][2]string{{"sex", `{"id":"male"}`}, {"age", `130`}}, guidance.Age{Value: 130, Unit: assessment.Year}},
		"a newborn":    {"male", guidance.Age{}, [][2]string{{"age", `0`}, {"age_in_months", `0`}}, guidance.Age{Value: 0, Unit: assessment.Month}},
		"a toddler":    {"male", guidance.Age{}, [][2]string{{"age", `1`}, {"age_in_months", `23`}}, guidance.Age{Value: 23, Unit: assessment.Month}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCase(t, section.Demographics)
			c.Survey.Sex, c.Survey.Age = test.sex, test.age
			for _, given := range test.answers {
				answer(t, c, given[0], given[1])
			}
			end(t, c)
			if c.Sex() != "male" || c.Age() != test.wantAge {
				t.Errorf("the patient is %s, %v", c.Sex(), c.Age())
			}
		})
	}
}

func TestAToddlerIsAsOldAsWasSaid(t *testing.T) {
	t.Parallel()
	c := newCase(t, section.Demographics)
	c.Survey.Age = guidance.Age{}
	answer(t, c, "age", `1`)
	if c.Age().Known() {
		t.Error("a year is taken for the age before the months are known")
	}
	if got, want := next(t, c).Meta.Bounds, (&guidance.Bounds{Min: 12, Max: 23}); *got != *want {
		t.Errorf("a child of one year has %v months", got)
	}
}

func TestSimpleSections(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want    guidance.Question
		answers []string
	}{
		section.VisitReason: {guidance.Question{
			Text: "What brings you here? Please say it in your own words.", AnswerType: guidance.Text, Meta: guidance.Meta{Required: true, MaxLength: 1000},
		}, []string{`"a cough"`}},
		section.Notes: {guidance.Question{
			Text: "Is there anything else that you want to tell the doctor?", AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 1000},
		}, []string{`null`, `"no"`}},
		section.Drugs:            {list("Which medicines do you take?", guidance.DrugList), []string{`null`, `[]`, `[{"id":"d_1"}]`}},
		section.ChronicDiseases:  {list("Do you have any long-term illnesses?", guidance.ChronicDiseaseList), []string{`[{"id":"c_1"},{"id":"c_2"}]`}},
		section.Hospitalizations: {list("What have you been in hospital for?", guidance.HospitalizationList), []string{`[{"id":"p_47"}]`}},
		section.Specialists:      {list("Which doctors are treating you at the moment?", guidance.SpecialistList), []string{`[{"id":"sp_1"}]`}},
	} {
		for _, given := range test.answers {
			c := newCase(t, name)
			test.want.ID, test.want.Section = name, name
			if diff := cmp.Diff(&test.want, next(t, c)); diff != "" {
				t.Error(diff)
			}
			answer(t, c, name, given)
			end(t, c)
		}
	}
}

func list(text, name string) guidance.Question {
	return guidance.Question{Text: text, AnswerType: guidance.List, Meta: guidance.Meta{SourceList: &guidance.SourceList{
		Name: name, Sex: "female", Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en",
	}}}
}

func TestWhoAnswersForSomebodyElseIsSpokenToSo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{section.VisitReason, section.Drugs} {
		c := newCase(t, name)
		c.Survey.Dependent = true
		if text := next(t, c).Text; !strings.Contains(text, "the patient") {
			t.Errorf("%s: %s", name, text)
		}
	}
	c := newCase(t, section.Dynamic)
	c.Survey.Dependent = true
	c.Survey.Sections = []string{section.Symptoms, section.Dynamic}
	answer(t, c, "symptoms", `[{"id":"s_1"}]`)
	if text := next(t, c).Text; !strings.HasPrefix(text, "Third person") {
		t.Errorf("the interview says %s", text)
	}
}

func TestAllergies(t *testing.T) {
	t.Parallel()
	c := newCase(t, section.Allergies)
	question := next(t, c)
	if question.AnswerType != guidance.MultipleChoice || question.Meta.Required || len(question.Meta.Options) != 9 ||
		question.Meta.Options[1] != (guidance.Option{ID: "food", Label: "A food"}) {
		t.Errorf("the question is %+v", question)
	}
	answer(t, c, "allergies", `[{"id":"food"},{"id":"latex"},{"id":"severe"}]`)
	answer(t, c, "allergy_details", `"nuts"`)
	end(t, c)
	if diff := cmp.Diff([]string{"p_408 present predefined", "p_542 present predefined"}, facts(c)); diff != "" {
		t.Error(diff)
	}
	for _, none := range []string{`null`, `[]`} {
		c := newCase(t, section.Allergies)
		answer(t, c, "allergies", none)
		end(t, c)
	}
}

func TestRiskFactors(t *testing.T) {
	t.Parallel()
	c := newCase(t, section.RiskFactors)
	want := []guidance.Option{{ID: "p_7", Label: "p_7"}, {ID: "p_28", Label: "p_28"}, {ID: "p_8", Label: "p_8"}, {ID: "p_42", Label: "p_42"}}
	if diff := cmp.Diff(want, next(t, c).Meta.Options); diff != "" {
		t.Error(diff)
	}
	answer(t, c, "risk_factors", `[{"id":"p_28"}]`)
	end(t, c)
	wanted := []string{"p_7 absent predefined", "p_28 present predefined", "p_8 absent predefined", "p_42 absent predefined"}
	if diff := cmp.Diff(wanted, facts(c)); diff != "" {
		t.Error(diff)
	}
}

func TestRiskFactorsAreOfWhomTheyApplyTo(t *testing.T) {
	t.Parallel()
	for sex, age := range map[string]guidance.Age{"male": {Value: 34, Unit: assessment.Year}, "female": {Value: 11, Unit: assessment.Year}} {
		c := newCase(t, section.RiskFactors)
		c.Survey.Sex, c.Survey.Age = sex, age
		for _, option := range next(t, c).Meta.Options {
			if option.ID == "p_42" {
				t.Errorf("a %s of %d years is asked about pregnancy", sex, age.Value)
			}
		}
	}
}

func TestRiskFactorsThatAreSkippedAreNotKnown(t *testing.T) {
	t.Parallel()
	c := newCase(t, section.RiskFactors)
	answer(t, c, "risk_factors", `null`)
	end(t, c)
	if known := facts(c); len(known) > 0 {
		t.Errorf("%v is known", known)
	}
}

// A drug or an illness that means a risk factor counts as one, and no question asks
// for it again.
func TestWhatListsMeanIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{section.Drugs: "d_1", section.ChronicDiseases: "c_1"} {
		c := newCase(t, section.Symptoms, name, section.RiskFactors, section.Dynamic)
		answer(t, c, "symptoms", `[{"id":"s_1"}]`)
		answer(t, c, name, `[{"id":"`+id+`"}]`)
		question := next(t, c)
		if question.ID != "risk_factors" || slices.ContainsFunc(question.Meta.Options, func(o guidance.Option) bool { return o.ID == "p_8" }) {
			t.Errorf("after %s %+v is asked", id, question)
		}
		answer(t, c, "risk_factors", `null`)
		for question = next(t, c); question != nil; question = next(t, c) {
			if strings.Contains(fmt.Sprint(question.Meta.Options), "p_8 ") {
				t.Fatalf("after %s %s is asked", id, question.ID)
			}
			answer(t, c, question.ID, decline(question))
		}
		if !slices.Contains(facts(c), "p_8 present predefined") {
			t.Errorf("%s means %v", id, facts(c))
		}
	}
}

// decline answers that nothing is there.
func decline(question *guidance.Question) string {
	if question.Meta.Component != guidance.Single {
		return `[]`
	}
	return `[{"id":"` + question.Meta.Options[0].ID + `","choice_id":"absent"}]`
}

// Answers of the interview are what a client of /v3 would send.
func TestEvidenceOfTheInterview(t *testing.T) {
	t.Parallel()
	ab := []guidance.Option{{ID: "s_11"}, {ID: "s_12"}}
	for name, test := range map[string]struct {
		component guidance.Component
		options   []guidance.Option
		sent      string
		want      []string
	}{
		"yes":                   {guidance.Single, ab[:1], `[{"id":"s_11","choice_id":"present"}]`, []string{"s_11 present"}},
		"not known":             {guidance.Single, ab[:1], `[{"id":"s_11","choice_id":"unknown"}]`, []string{"s_11 unknown"}},
		"the one":               {guidance.GroupSingle, ab, `[{"id":"s_12","choice_id":"present"}]`, []string{"s_12 present"}},
		"the one, and not":      {guidance.GroupSingle, ab, `[{"id":"s_12","choice_id":"present"},{"id":"s_11","choice_id":"absent"}]`, []string{"s_11 absent", "s_12 present"}},
		"none of these":         {guidance.GroupSingle, ab, `[]`, []string{"s_11 absent", "s_12 absent"}},
		"none is known":         {guidance.GroupSingle, ab, `[{"id":"s_11","choice_id":"unknown"},{"id":"s_12","choice_id":"unknown"}]`, []string{"s_11 unknown", "s_12 unknown"}},
		"left out of several":   {guidance.GroupMultiple, ab, `[{"id":"s_12","choice_id":"absent"}]`, []string{"s_11 unknown", "s_12 absent"}},
		"all left out":          {guidance.GroupMultiple, ab, `[]`, []string{"s_11 unknown", "s_12 unknown"}},
		"each of several":       {guidance.GroupMultiple, ab, `[{"id":"s_12","choice_id":"present"},{"id":"s_11","choice_id":"present"}]`, []string{"s_11 present", "s_12 present"}},
		"one denied of several": {guidance.GroupSingle, ab, `[{"id":"s_11","choice_id":"absent"}]`, []string{"s_11 absent"}},
	} {
		c := newCase(t, section.Dynamic)
		question := guidance.Question{
			ID: "x", Section: section.Dynamic, AnswerType: guidance.Symptoms,
			Meta: guidance.Meta{Required: true, Component: test.component, Options: test.options, Choices: threeChoices},
		}
		judged, err := section.Judge(&question, []byte(test.sent), c.Lists)
		if err != nil {
			t.Fatal(err)
		}
		c.Steps = []guidance.Step{{Question: question, Answer: judged}}
		if diff := cmp.Diff(test.want, facts(c)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of two that speak of one observation the one is believed that says more.
func TestFactsAreOnePerObservation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first, second guidance.Evidence
		want          string
	}{
		"present is believed":          {guidance.Evidence{ID: "p_28", ChoiceID: "absent"}, guidance.Evidence{ID: "p_28", ChoiceID: "present", Source: "initial"}, "p_28 present initial"},
		"whichever came first":         {guidance.Evidence{ID: "p_28", ChoiceID: "present"}, guidance.Evidence{ID: "p_28", ChoiceID: "absent", Source: "initial"}, "p_28 present"},
		"absent tells more":            {guidance.Evidence{ID: "p_28", ChoiceID: "unknown"}, guidance.Evidence{ID: "p_28", ChoiceID: "absent"}, "p_28 absent"},
		"an alias is the same":         {guidance.Evidence{ID: "p_280", ChoiceID: "unknown"}, guidance.Evidence{ID: "p_28", ChoiceID: "present"}, "p_28 present"},
		"the complaint is the source":  {guidance.Evidence{ID: "s_1", ChoiceID: "present"}, guidance.Evidence{ID: "s_1", ChoiceID: "present", Source: "initial"}, "s_1 present initial"},
		"and stays it":                 {guidance.Evidence{ID: "s_1", ChoiceID: "present", Source: "initial"}, guidance.Evidence{ID: "s_1", ChoiceID: "present", Source: "predefined"}, "s_1 present initial"},
		"what is gone is listed still": {guidance.Evidence{ID: "s_999", ChoiceID: "absent"}, guidance.Evidence{ID: "s_999", ChoiceID: "absent"}, "s_999 absent"},
	} {
		c := newCase(t, section.Symptoms)
		c.Survey.Evidence = []guidance.Evidence{test.first, test.second}
		if diff := cmp.Diff([]string{test.want}, facts(c)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// However much is said, no more reaches the engine than it takes, and the interview
// is over.
func TestMoreThanTheEngineTakes(t *testing.T) {
	t.Parallel()
	b := guidancetest.Draft()
	c := newCase(t, section.Symptoms, section.Dynamic)
	c.Survey.Evidence = []guidance.Evidence{{ID: "s_1", ChoiceID: guidance.Present, Source: guidance.Initial}}
	if next(t, c) == nil {
		t.Error("there would be nothing to ask in any case")
	}
	for i := range 120 {
		id := fmt.Sprintf("s_%d", 1000+i)
		b.Symptom(id, 0.001)
		c.Survey.Evidence = append(c.Survey.Evidence, guidance.Evidence{ID: id, ChoiceID: guidance.Present, Source: guidance.Initial})
	}
	c.Release = b.Build(t)
	end(t, c)
	_, reported, err := c.Patient()
	if err != nil || len(reported) != 100 {
		t.Errorf("%d pieces reach the engine, %v", len(reported), err)
	}
}

func TestNobodyUnknownIsAssessed(t *testing.T) {
	t.Parallel()
	c := newCase(t, section.Dynamic)
	c.Survey.Sex = ""
	if _, err := section.Next(c); err == nil || !strings.Contains(err.Error(), "sex and age are not known") {
		t.Errorf("got %v", err)
	}
}

func TestListsOfTheRelease(t *testing.T) {
	t.Parallel()
	r := guidancetest.Draft().Drug("d_1", "Insulin", "A10AB01", []string{"p_8"}).ChronicDisease("c_2", "p_8", "p_28").
		Hospitalizations("p_42").Build(t)
	release := section.ReleaseLists{Release: r}
	woman := guidance.SourceList{Name: guidance.SymptomList, Sex: "female", Age: guidance.Age{Value: 34, Unit: assessment.Year}}
	of := func(name, sex string, months int) guidance.SourceList {
		return guidance.SourceList{Name: name, Sex: sex, Age: guidance.Age{Value: months, Unit: assessment.Month}}
	}
	for name, test := range map[string]struct {
		list guidance.SourceList
		id   string
		want bool
	}{
		"a chronic disease":      {of(guidance.ChronicDiseaseList, "male", 4), "c_2", true},
		"no chronic disease":     {of(guidance.ChronicDiseaseList, "male", 4), "c_1", false},
		"a stay in hospital":     {of(guidance.HospitalizationList, "female", 400), "p_42", true},
		"a stay of women":        {of(guidance.HospitalizationList, "male", 400), "p_42", false},
		"no stay in hospital":    {of(guidance.HospitalizationList, "female", 400), "p_8", false},
		"a symptom":              {woman, "s_1", true},
		"a detail":               {woman, "s_11", true},
		"a risk factor":          {woman, "p_42", true},
		"another id":             {woman, "p_280", true},
		"of women":               {of(guidance.SymptomList, "male", 400), "s_3", false},
		"of whom sex is unknown": {guidance.SourceList{Name: guidance.SymptomList}, "s_3", true},
		"too young":              {of(guidance.SymptomList, "female", 143), "p_42", false},
		"old enough":             {of(guidance.SymptomList, "female", 144), "p_42", true},
		"too old":                {of(guidance.SymptomList, "female", 661), "p_42", false},
		"a laboratory result":    {woman, "lt_1", false},
		"a condition":            {woman, "c_1", false},
		"a specialist":           {of(guidance.SpecialistList, "male", 4), "sp_1", true},
		"no specialist":          {of(guidance.SpecialistList, "male", 4), "sp_9", false},
		"a drug":                 {of(guidance.DrugList, "male", 4), "d_1", true},
		"no drug":                {of(guidance.DrugList, "male", 4), "s_1", false},
		"no list":                {of("anything", "male", 4), "s_1", false},
	} {
		item, ok := release.Find(test.list, test.id)
		if ok != test.want || ok && (item.ID != test.id || item.Name == "") {
			t.Errorf("%s: %v, %v", name, item, ok)
		}
	}
	for id, want := range map[string][]string{"d_1": {"p_8"}, "c_2": {"p_8", "p_28"}, "p_42": {"p_42"}} {
		list := map[byte]string{'d': guidance.DrugList, 'c': guidance.ChronicDiseaseList, 'p': guidance.HospitalizationList}[id[0]]
		item, _ := release.Find(guidance.SourceList{Name: list}, id)
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(item.RiskFactors))); diff != "" {
			t.Errorf("%s means (-want +got):\n%s", id, diff)
		}
	}
}

// The names of a list are copies: a release may be unmapped while they are kept.
func TestNothingOfTheReleaseIsKept(t *testing.T) {
	t.Parallel()
	data := modeltest.New().Condition("c_1", 0.1).Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5).Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	item, _ := section.ReleaseLists{Release: r}.Find(guidance.SourceList{Name: guidance.SymptomList}, "s_1")
	specialist, _ := section.ReleaseLists{Release: r}.Find(guidance.SourceList{Name: guidance.SpecialistList}, "sp_1")
	clear(data)
	if item.Name != "s_1" || specialist.Name != "General practitioner" {
		t.Errorf("%q and %q point into the release", item.Name, specialist.Name)
	}
}

// Neither does a question.
func TestNoQuestionPointsIntoTheRelease(t *testing.T) {
	t.Parallel()
	data := guidancetest.Draft().Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	c := newCase(t, section.Symptoms, section.RiskFactors, section.Dynamic)
	c.Release, c.Lists, c.Survey.Type = r, section.ReleaseLists{Release: r}, guidance.FollowUp
	c.Survey.TakenOver = []guidance.Evidence{{ID: "s_1", ChoiceID: guidance.Present}}
	answer(t, c, "s_1", `[{"id":"s_1","choice_id":"present"}]`)
	answer(t, c, "new_symptoms", `[{"id":"s_2"}]`)
	answer(t, c, "risk_factors", `[{"id":"p_7"}]`)
	c.Steps = append(c.Steps, guidance.Step{Question: *next(t, c)})
	before := fmt.Sprintf("%+v", c.Steps)
	clear(data)
	if after := fmt.Sprintf("%+v", c.Steps); after != before {
		t.Errorf("without its release it says %s, not %s", after, before)
	}
}
