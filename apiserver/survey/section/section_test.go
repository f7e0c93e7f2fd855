// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// newState returns the state of a survey for a woman aged 34 with the given sections.
func newState(t testing.TB, sections ...string) *section.State {
	t.Helper()
	return &section.State{
		Env: surveytest.NewEnv(t, surveytest.NewRelease(t)),
		Survey: &record.Survey{
			Type: record.TypeTriage, Sections: sections, Sex: "female", Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en",
		},
	}
}

// mustNext returns the next question, or nil if the survey is finished.
func mustNext(t testing.TB, state *section.State) *record.Question {
	t.Helper()
	question, err := section.Next(state)
	if err != nil {
		t.Fatal(err)
	}
	return question
}

// mustAnswer answers the next question, which must have the given ID.
func mustAnswer(t testing.TB, state *section.State, id, raw string) {
	t.Helper()
	question := mustNext(t, state)
	if question == nil || question.ID != id || question.Index != len(state.Steps) {
		t.Fatalf("question %d: got %+v, want %s", len(state.Steps), question, id)
	}
	parsed, err := section.ParseAnswer(question, []byte(raw), state.Lists)
	if err != nil {
		t.Fatal(err)
	}
	state.Steps = append(state.Steps, record.Step{Question: *question, Answer: parsed})
}

func checkNoQuestion(t testing.TB, state *section.State) {
	t.Helper()
	if question := mustNext(t, state); question != nil {
		t.Errorf("got question %s, want none", question.ID)
	}
}

// formatFacts formats all facts as id, choice and source.
func formatFacts(state *section.State) []string {
	var known []string
	for _, fact := range state.Facts() {
		known = append(known, strings.TrimSpace(fact.ID+" "+fact.ChoiceID+" "+fact.Source))
	}
	return known
}

func TestByNameFindsEverySection(t *testing.T) {
	t.Parallel()
	if names := section.Names(); len(names) != 11 {
		t.Errorf("got sections %v", names)
	}
	for _, name := range section.Names() {
		if s, ok := section.ByName(name); !ok || s.Name() != name {
			t.Errorf("section %s not found", name)
		}
	}
	if _, ok := section.ByName("symptom"); ok {
		t.Error("want unknown sections not to be found")
	}
}

func TestDemographicsAskOnlyForMissingFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sex     string
		age     record.Age
		answers [][2]string
		wantAge record.Age
	}{
		"all is known": {"male", record.Age{Value: 3, Unit: assessment.Month}, nil, record.Age{Value: 3, Unit: assessment.Month}},
		"the age is":   {"", record.Age{Value: 34, Unit: assessment.Year}, [][2]string{{"sex", `{"id":"male"}`}}, record.Age{Value: 34, Unit: assessment.Year}},
		"the sex is":   {"male", record.Age{}, [][2]string{{"age", `2`}}, record.Age{Value: 2, Unit: assessment.Year}},
		"an old man":   {"", record.Age{}, [][2]string{{"sex", `{"id":"male"}`}, {"age", `130`}}, record.Age{Value: 130, Unit: assessment.Year}},
		"a newborn":    {"male", record.Age{}, [][2]string{{"age", `0`}, {"age_in_months", `0`}}, record.Age{Value: 0, Unit: assessment.Month}},
		"a toddler":    {"male", record.Age{}, [][2]string{{"age", `1`}, {"age_in_months", `23`}}, record.Age{Value: 23, Unit: assessment.Month}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := newState(t, section.Demographics)
			state.Survey.Sex, state.Survey.Age = test.sex, test.age
			for _, given := range test.answers {
				mustAnswer(t, state, given[0], given[1])
			}
			checkNoQuestion(t, state)
			if state.Sex() != "male" || state.Age() != test.wantAge {
				t.Errorf("got sex %s, age %v", state.Sex(), state.Age())
			}
		})
	}
}

func TestDemographicsUseAgeInMonthsForToddlers(t *testing.T) {
	t.Parallel()
	state := newState(t, section.Demographics)
	state.Survey.Age = record.Age{}
	mustAnswer(t, state, "age", `1`)
	if state.Age().Known() {
		t.Error("want an unknown age before the months are known")
	}
	if got, want := mustNext(t, state).Meta.Bounds, (&record.Bounds{Min: 12, Max: 23}); *got != *want {
		t.Errorf("got bounds %v for the age in months of a one-year-old", got)
	}
}

func TestSingleQuestionSections(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want    record.Question
		answers []string
	}{
		section.VisitReason: {record.Question{
			Text: "What brings you here? Please tell us in your own words.", AnswerType: record.AnswerText, Meta: record.Meta{Required: true, MaxLength: 1000},
		}, []string{`"a cough"`}},
		section.Notes: {record.Question{
			Text: "Is there anything else you would like to tell the doctor?", AnswerType: record.AnswerText, Meta: record.Meta{MaxLength: 1000},
		}, []string{`null`, `"no"`}},
		section.Drugs:            {newListQuestion("Which medicines do you take, if any?", record.DrugList), []string{`null`, `[]`, `[{"id":"d_1"}]`}},
		section.ChronicDiseases:  {newListQuestion("Do you have any long-term illnesses?", record.ChronicDiseaseList), []string{`[{"id":"c_1"},{"id":"c_2"}]`}},
		section.Hospitalizations: {newListQuestion("Have you ever stayed in hospital, and if so, what for?", record.HospitalizationList), []string{`[{"id":"p_47"}]`}},
		section.Specialists:      {newListQuestion("Which doctors, if any, are treating you at the moment?", record.SpecialistList), []string{`[{"id":"sp_1"}]`}},
	} {
		for _, given := range test.answers {
			state := newState(t, name)
			test.want.ID, test.want.Section = name, name
			if diff := cmp.Diff(&test.want, mustNext(t, state)); diff != "" {
				t.Error(diff)
			}
			mustAnswer(t, state, name, given)
			checkNoQuestion(t, state)
		}
	}
}

func newListQuestion(text, name string) record.Question {
	return record.Question{Text: text, AnswerType: record.AnswerList, Meta: record.Meta{SourceList: &record.SourceList{
		Name: name, Sex: "female", Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en",
	}}}
}

func TestQuestionsUseThirdPersonForDependents(t *testing.T) {
	t.Parallel()
	for name, pronoun := range map[string]string{section.VisitReason: " them ", section.Drugs: " they "} {
		state := newState(t, name)
		state.Survey.Dependent = true
		if text := mustNext(t, state).Text; !strings.Contains(text, pronoun) {
			t.Errorf("%s: %q does not contain %q", name, text, pronoun)
		}
	}
	state := newState(t, section.Dynamic)
	state.Survey.Dependent = true
	state.Survey.Sections = []string{section.Symptoms, section.Dynamic}
	mustAnswer(t, state, "symptoms", `[{"id":"s_1"}]`)
	if text := mustNext(t, state).Text; !strings.HasPrefix(text, "Third person") {
		t.Errorf("got interview question %s", text)
	}
}

func TestAllergies(t *testing.T) {
	t.Parallel()
	state := newState(t, section.Allergies)
	question := mustNext(t, state)
	if question.AnswerType != record.AnswerMultipleChoice || question.Meta.Required || len(question.Meta.Options) != 9 ||
		question.Meta.Options[1] != (record.Option{ID: "food", Label: "A food"}) {
		t.Errorf("got question %+v", question)
	}
	mustAnswer(t, state, "allergies", `[{"id":"food"},{"id":"latex"},{"id":"severe"}]`)
	mustAnswer(t, state, "allergy_details", `"nuts"`)
	checkNoQuestion(t, state)
	if diff := cmp.Diff([]string{"p_408 present predefined", "p_542 present predefined"}, formatFacts(state)); diff != "" {
		t.Error(diff)
	}
	for _, none := range []string{`null`, `[]`} {
		state := newState(t, section.Allergies)
		mustAnswer(t, state, "allergies", none)
		checkNoQuestion(t, state)
	}
}

func TestRiskFactors(t *testing.T) {
	t.Parallel()
	state := newState(t, section.RiskFactors)
	want := []record.Option{{ID: "p_7", Label: "p_7"}, {ID: "p_28", Label: "p_28"}, {ID: "p_8", Label: "p_8"}, {ID: "p_42", Label: "p_42"}}
	if diff := cmp.Diff(want, mustNext(t, state).Meta.Options); diff != "" {
		t.Error(diff)
	}
	mustAnswer(t, state, "risk_factors", `[{"id":"p_28"}]`)
	checkNoQuestion(t, state)
	wanted := []string{"p_7 absent predefined", "p_28 present predefined", "p_8 absent predefined", "p_42 absent predefined"}
	if diff := cmp.Diff(wanted, formatFacts(state)); diff != "" {
		t.Error(diff)
	}
}

func TestRiskFactorsFilterByApplicability(t *testing.T) {
	t.Parallel()
	for sex, age := range map[string]record.Age{"male": {Value: 34, Unit: assessment.Year}, "female": {Value: 11, Unit: assessment.Year}} {
		state := newState(t, section.RiskFactors)
		state.Survey.Sex, state.Survey.Age = sex, age
		for _, option := range mustNext(t, state).Meta.Options {
			if option.ID == "p_42" {
				t.Errorf("%s patient aged %d is asked about pregnancy", sex, age.Value)
			}
		}
	}
}

func TestSkippedRiskFactorsStayUnknown(t *testing.T) {
	t.Parallel()
	state := newState(t, section.RiskFactors)
	mustAnswer(t, state, "risk_factors", `null`)
	checkNoQuestion(t, state)
	if known := formatFacts(state); len(known) > 0 {
		t.Errorf("got facts %v, want none", known)
	}
}

// TestImpliedRiskFactorsAreNotAsked checks that a drug or disease that implies a risk factor
// counts as this risk factor, and that no question asks about it again.
func TestImpliedRiskFactorsAreNotAsked(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{section.Drugs: "d_1", section.ChronicDiseases: "c_1"} {
		state := newState(t, section.Symptoms, name, section.RiskFactors, section.Dynamic)
		mustAnswer(t, state, "symptoms", `[{"id":"s_1"}]`)
		mustAnswer(t, state, name, `[{"id":"`+id+`"}]`)
		question := mustNext(t, state)
		if question.ID != "risk_factors" || slices.ContainsFunc(question.Meta.Options, func(o record.Option) bool { return o.ID == "p_8" }) {
			t.Errorf("after %s: got question %+v", id, question)
		}
		mustAnswer(t, state, "risk_factors", `null`)
		for question = mustNext(t, state); question != nil; question = mustNext(t, state) {
			if strings.Contains(fmt.Sprint(question.Meta.Options), "p_8 ") {
				t.Fatalf("after %s: got question %s", id, question.ID)
			}
			mustAnswer(t, state, question.ID, emptyAnswer(question))
		}
		if !slices.Contains(formatFacts(state), "p_8 present predefined") {
			t.Errorf("%s: got facts %v", id, formatFacts(state))
		}
	}
}

// emptyAnswer returns an answer that selects nothing.
func emptyAnswer(question *record.Question) string {
	if question.Meta.Component != record.ComponentSingle {
		return `[]`
	}
	return `[{"id":"` + question.Meta.Options[0].ID + `","choice_id":"absent"}]`
}

// TestInterviewEvidence checks that interview answers yield the evidence that a /v3 client
// would send.
func TestInterviewEvidence(t *testing.T) {
	t.Parallel()
	ab := []record.Option{{ID: "s_11"}, {ID: "s_12"}}
	for name, test := range map[string]struct {
		component record.Component
		options   []record.Option
		raw       string
		want      []string
	}{
		"yes":                    {record.ComponentSingle, ab[:1], `[{"id":"s_11","choice_id":"present"}]`, []string{"s_11 present"}},
		"not known":              {record.ComponentSingle, ab[:1], `[{"id":"s_11","choice_id":"unknown"}]`, []string{"s_11 unknown"}},
		"the one":                {record.ComponentGroupSingle, ab, `[{"id":"s_12","choice_id":"present"}]`, []string{"s_12 present"}},
		"the one, and not":       {record.ComponentGroupSingle, ab, `[{"id":"s_12","choice_id":"present"},{"id":"s_11","choice_id":"absent"}]`, []string{"s_11 absent", "s_12 present"}},
		"none of these":          {record.ComponentGroupSingle, ab, `[]`, []string{"s_11 absent", "s_12 absent"}},
		"none is known":          {record.ComponentGroupSingle, ab, `[{"id":"s_11","choice_id":"unknown"},{"id":"s_12","choice_id":"unknown"}]`, []string{"s_11 unknown", "s_12 unknown"}},
		"one of several omitted": {record.ComponentGroupMultiple, ab, `[{"id":"s_12","choice_id":"absent"}]`, []string{"s_11 unknown", "s_12 absent"}},
		"all omitted":            {record.ComponentGroupMultiple, ab, `[]`, []string{"s_11 unknown", "s_12 unknown"}},
		"each of several":        {record.ComponentGroupMultiple, ab, `[{"id":"s_12","choice_id":"present"},{"id":"s_11","choice_id":"present"}]`, []string{"s_11 present", "s_12 present"}},
		"one denied of several":  {record.ComponentGroupSingle, ab, `[{"id":"s_11","choice_id":"absent"}]`, []string{"s_11 absent"}},
	} {
		state := newState(t, section.Dynamic)
		question := record.Question{
			ID: "x", Section: section.Dynamic, AnswerType: record.AnswerSymptoms,
			Meta: record.Meta{Required: true, Component: test.component, Options: test.options, Choices: threeChoices},
		}
		parsed, err := section.ParseAnswer(&question, []byte(test.raw), state.Lists)
		if err != nil {
			t.Fatal(err)
		}
		state.Steps = []record.Step{{Question: question, Answer: parsed}}
		if diff := cmp.Diff(test.want, formatFacts(state)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestFactsMergeByObservation checks that the stronger of two reports about one observation
// wins.
func TestFactsMergeByObservation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first, second record.Evidence
		want          string
	}{
		"present takes precedence":     {record.Evidence{ID: "p_28", ChoiceID: "absent"}, record.Evidence{ID: "p_28", ChoiceID: "present", Source: "initial"}, "p_28 present initial"},
		"whichever came first":         {record.Evidence{ID: "p_28", ChoiceID: "present"}, record.Evidence{ID: "p_28", ChoiceID: "absent", Source: "initial"}, "p_28 present"},
		"absent tells more":            {record.Evidence{ID: "p_28", ChoiceID: "unknown"}, record.Evidence{ID: "p_28", ChoiceID: "absent"}, "p_28 absent"},
		"an alias is the same":         {record.Evidence{ID: "p_280", ChoiceID: "unknown"}, record.Evidence{ID: "p_28", ChoiceID: "present"}, "p_28 present"},
		"the complaint is the source":  {record.Evidence{ID: "s_1", ChoiceID: "present"}, record.Evidence{ID: "s_1", ChoiceID: "present", Source: "initial"}, "s_1 present initial"},
		"and stays it":                 {record.Evidence{ID: "s_1", ChoiceID: "present", Source: "initial"}, record.Evidence{ID: "s_1", ChoiceID: "present", Source: "predefined"}, "s_1 present initial"},
		"what is gone is listed still": {record.Evidence{ID: "s_999", ChoiceID: "absent"}, record.Evidence{ID: "s_999", ChoiceID: "absent"}, "s_999 absent"},
	} {
		state := newState(t, section.Symptoms)
		state.Survey.Evidence = []record.Evidence{test.first, test.second}
		if diff := cmp.Diff([]string{test.want}, formatFacts(state)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestPatientIsCappedAtEngineLimits checks that the engine never receives more evidence than
// its limit, and that the interview ends when the limit is reached.
func TestPatientIsCappedAtEngineLimits(t *testing.T) {
	t.Parallel()
	b := surveytest.NewReleaseBuilder()
	state := newState(t, section.Symptoms, section.Dynamic)
	state.Survey.Evidence = []record.Evidence{{ID: "s_1", ChoiceID: record.ChoicePresent, Source: record.SourceInitial}}
	if mustNext(t, state) == nil {
		t.Error("want an interview question below the limit")
	}
	for i := range 120 {
		id := fmt.Sprintf("s_%d", 1000+i)
		b.Symptom(id, 0.001)
		state.Survey.Evidence = append(state.Survey.Evidence, record.Evidence{ID: id, ChoiceID: record.ChoicePresent, Source: record.SourceInitial})
	}
	state.Release = b.Build(t)
	checkNoQuestion(t, state)
	_, reported, err := state.Patient()
	if err != nil || len(reported) != 100 {
		t.Errorf("engine received %d evidence items, %v", len(reported), err)
	}
}

func TestPatientRequiresDemographics(t *testing.T) {
	t.Parallel()
	state := newState(t, section.Dynamic)
	state.Survey.Sex = ""
	if _, err := section.Next(state); err == nil || !strings.Contains(err.Error(), "sex and age are unknown") {
		t.Errorf("got %v", err)
	}
}

func TestReleaseLists(t *testing.T) {
	t.Parallel()
	r := surveytest.NewReleaseBuilder().Drug("d_1", "Insulin", "A10AB01", []string{"p_8"}).ChronicDisease("c_2", "p_8", "p_28").
		Hospitalizations("p_42").Build(t)
	release := section.ReleaseLists{Release: r}
	woman := record.SourceList{Name: record.SymptomList, Sex: "female", Age: record.Age{Value: 34, Unit: assessment.Year}}
	sourceList := func(name, sex string, months int) record.SourceList {
		return record.SourceList{Name: name, Sex: sex, Age: record.Age{Value: months, Unit: assessment.Month}}
	}
	for name, test := range map[string]struct {
		list record.SourceList
		id   string
		want bool
	}{
		"a chronic disease":   {sourceList(record.ChronicDiseaseList, "male", 4), "c_2", true},
		"no chronic disease":  {sourceList(record.ChronicDiseaseList, "male", 4), "c_1", false},
		"a stay in hospital":  {sourceList(record.HospitalizationList, "female", 400), "p_42", true},
		"a stay of women":     {sourceList(record.HospitalizationList, "male", 400), "p_42", false},
		"no stay in hospital": {sourceList(record.HospitalizationList, "female", 400), "p_8", false},
		"a symptom":           {woman, "s_1", true},
		"a detail":            {woman, "s_11", true},
		"a risk factor":       {woman, "p_42", true},
		"another id":          {woman, "p_280", true},
		"of women":            {sourceList(record.SymptomList, "male", 400), "s_3", false},
		"of an unknown sex":   {record.SourceList{Name: record.SymptomList}, "s_3", true},
		"too young":           {sourceList(record.SymptomList, "female", 143), "p_42", false},
		"old enough":          {sourceList(record.SymptomList, "female", 144), "p_42", true},
		"too old":             {sourceList(record.SymptomList, "female", 661), "p_42", false},
		"a laboratory result": {woman, "lt_1", false},
		"a condition":         {woman, "c_1", false},
		"a specialist":        {sourceList(record.SpecialistList, "male", 4), "sp_1", true},
		"no specialist":       {sourceList(record.SpecialistList, "male", 4), "sp_9", false},
		"a drug":              {sourceList(record.DrugList, "male", 4), "d_1", true},
		"no drug":             {sourceList(record.DrugList, "male", 4), "s_1", false},
		"no list":             {sourceList("anything", "male", 4), "s_1", false},
	} {
		item, ok := release.Find(test.list, test.id)
		if ok != test.want || ok && (item.ID != test.id || item.Name == "") {
			t.Errorf("%s: got %v, %v", name, item, ok)
		}
	}
	for id, want := range map[string][]string{"d_1": {"p_8"}, "c_2": {"p_8", "p_28"}, "p_42": {"p_42"}} {
		list := map[byte]string{'d': record.DrugList, 'c': record.ChronicDiseaseList, 'p': record.HospitalizationList}[id[0]]
		item, _ := release.Find(record.SourceList{Name: list}, id)
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(item.RiskFactors))); diff != "" {
			t.Errorf("implied risk factors of %s (-want +got):\n%s", id, diff)
		}
	}
}

// TestListItemsOutliveRelease checks that list item names are copies, because a release may
// be unmapped while they are in use.
func TestListItemsOutliveRelease(t *testing.T) {
	t.Parallel()
	data := modeltest.New().Condition("c_1", 0.1).Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5).Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	item, _ := section.ReleaseLists{Release: r}.Find(record.SourceList{Name: record.SymptomList}, "s_1")
	specialist, _ := section.ReleaseLists{Release: r}.Find(record.SourceList{Name: record.SpecialistList}, "sp_1")
	clear(data)
	if item.Name != "s_1" || specialist.Name != "General practitioner" {
		t.Errorf("names %q and %q refer to the memory of the release", item.Name, specialist.Name)
	}
}

// TestQuestionsOutliveRelease checks that the texts of questions are copies, too.
func TestQuestionsOutliveRelease(t *testing.T) {
	t.Parallel()
	data := surveytest.NewReleaseBuilder().Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	state := newState(t, section.Symptoms, section.RiskFactors, section.Dynamic)
	state.Release, state.Lists, state.Survey.Type = r, section.ReleaseLists{Release: r}, record.TypeFollowUp
	state.Survey.CarriedOver = []record.Evidence{{ID: "s_1", ChoiceID: record.ChoicePresent}}
	mustAnswer(t, state, "s_1", `[{"id":"s_1","choice_id":"present"}]`)
	mustAnswer(t, state, "new_symptoms", `[{"id":"s_2"}]`)
	mustAnswer(t, state, "risk_factors", `[{"id":"p_7"}]`)
	state.Steps = append(state.Steps, record.Step{Question: *mustNext(t, state)})
	before := fmt.Sprintf("%+v", state.Steps)
	clear(data)
	if after := fmt.Sprintf("%+v", state.Steps); after != before {
		t.Errorf("after unmapping the release: got %s, want %s", after, before)
	}
}
