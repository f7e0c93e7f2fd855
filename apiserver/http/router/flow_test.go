// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// A simulatedPatient has some observations, possibly with known durations.
type simulatedPatient struct {
	complaint    string
	observations []string // in addition to the complaint
	duration     string   // JSON
}

// choiceFor returns the patient's answer for an observation.
func (p simulatedPatient) choiceFor(id string) enginev3.Choice {
	if id == p.complaint || slices.Contains(p.observations, id) {
		return enginev3.ChoicePresent
	}
	return enginev3.ChoiceAbsent
}

// A groupStrategy is a way for clients to answer group questions.
type groupStrategy struct {
	name string
	// single is the choice to send for unchosen items of an exclusive group, multiple for
	// another group; "" omits them.
	single, multiple enginev3.Choice
}

var groupStrategies = []groupStrategy{
	{"what is chosen", "", ""},
	{"all, the others absent", enginev3.ChoiceAbsent, enginev3.ChoiceAbsent},
	{"all, the others unknown", enginev3.ChoiceUnknown, enginev3.ChoiceUnknown},
}

// An interviewClient conducts an interview with a patient.
type interviewClient struct {
	t        *testing.T
	server   *testServer
	model    string
	strategy groupStrategy
	patient  simulatedPatient
	extras   string
	evidence []enginev3.Evidence
	asked    map[string]bool
	types    map[enginev3.QuestionType]bool
}

func (c *interviewClient) body() string {
	list, err := json.Marshal(c.evidence)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s, "extras": %s}`, list, c.extras)
}

func (c *interviewClient) post(path, body string) testResponse {
	return c.server.do(c.t, post(path, body).withHeader(map[string]string{"Model": c.model}))
}

// interview runs until there are no more questions and returns the last diagnosis.
func (c *interviewClient) interview() enginev3.Diagnosis {
	initial := enginev3.SourceInitial
	c.evidence = []enginev3.Evidence{{ID: c.patient.complaint, ChoiceID: enginev3.ChoicePresent, Source: &initial}}
	c.asked, c.types = map[string]bool{}, map[enginev3.QuestionType]bool{}
	for range 30 {
		diagnosis := decode[enginev3.Diagnosis](c.t, c.post("/v3/diagnosis", c.body()))
		if rationale := c.post("/v3/rationale", c.body()); (rationale.status == 200) != (diagnosis.Question != nil) {
			c.t.Errorf("the rationale answered %d for the question %+v", rationale.status, diagnosis.Question)
		}
		if diagnosis.Question == nil {
			return diagnosis
		}
		c.answer(diagnosis.Question)
	}
	c.t.Fatalf("the interview does not end: %s", c.body())
	return enginev3.Diagnosis{}
}

func (c *interviewClient) answer(question *enginev3.Question) {
	c.types[question.Type] = true
	if question.Type == enginev3.QuestionTypeDuration {
		c.answerDuration(*question.EvidenceID)
		return
	}
	given := len(c.evidence)
	for _, item := range question.Items {
		if c.asked[item.ID] {
			c.t.Errorf("%s is asked again, after %s", item.ID, c.body())
		}
		c.asked[item.ID] = true
		choice := c.patient.choiceFor(item.ID)
		if choice != enginev3.ChoicePresent && question.Type == enginev3.QuestionTypeGroupSingle {
			choice = c.strategy.single
		}
		if choice != enginev3.ChoicePresent && question.Type == enginev3.QuestionTypeGroupMultiple {
			choice = c.strategy.multiple
		}
		if choice != "" {
			c.evidence = append(c.evidence, enginev3.Evidence{ID: item.ID, ChoiceID: choice})
		}
	}
	if len(c.evidence) == given { // nothing chosen and nothing sent: deny at least one
		c.evidence = append(c.evidence, enginev3.Evidence{ID: question.Items[0].ID, ChoiceID: enginev3.ChoiceUnknown})
	}
}

func (c *interviewClient) answerDuration(id string) {
	i := slices.IndexFunc(c.evidence, func(e enginev3.Evidence) bool { return e.ID == id })
	if i < 0 || c.evidence[i].Duration != nil {
		c.t.Fatalf("the duration of %s is asked, after %s", id, c.body())
	}
	c.evidence[i].Duration = json.RawMessage(c.patient.duration)
}

// TestInterviewFromStartToTriage checks that an interview leads from a complaint to a
// ranking, a triage level, a specialist, reasons and an article, regardless of the strategy
// for group questions.
func TestInterviewFromStartToTriage(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const groups, singles = `{"enable_symptom_duration": true, "include_condition_details": true}`, `{"disable_groups": true, "include_condition_details": true}`
	types := map[enginev3.QuestionType]bool{}
	for name, test := range map[string]struct {
		simulatedPatient
		leading    string
		level      enginev3.TriageLevel
		specialist string
	}{
		"migraine": {simulatedPatient{"s_1", []string{"s_5", "s_3"}, `{"value": 5, "unit": "hour"}`}, "c_1", "consultation", "sp_17"},
		"a cold":   {simulatedPatient{"s_8", []string{"s_11", "s_12"}, `{"value": 4, "unit": "day"}`}, "c_4", "self_care", "sp_1"},
		"cystitis": {simulatedPatient{"s_10", nil, `null`}, "c_5", "consultation", "sp_1"},
	} {
		for _, form := range groupStrategies {
			for _, model := range []string{"", "infermedica-en"} {
				for _, extras := range []string{groups, singles} {
					t.Run(fmt.Sprintf("%s, %s, model %q, %s", name, form.name, model, extras), func(t *testing.T) {
						c := &interviewClient{t: t, server: r, model: model, strategy: form, patient: test.simulatedPatient, extras: extras}
						diagnosis := c.interview()
						for questionType := range c.types {
							types[questionType] = true
							if extras == singles && questionType != enginev3.QuestionTypeSingle {
								t.Errorf("a question of the type %s came without groups", questionType)
							}
						}
						if leading := diagnosis.Conditions[0].ID; leading != test.leading {
							t.Errorf("the leading condition is %s, expected %s, for %s", leading, test.leading, c.body())
						}
						c.verifyFollowUps(diagnosis, test.level, test.specialist)
					})
				}
			}
		}
	}
	if len(types) != 4 {
		t.Errorf("questions of the types %v came, expected all four", types)
	}
}

// verifyFollowUps makes all calls that follow an interview.
func (c *interviewClient) verifyFollowUps(diagnosis enginev3.Diagnosis, level enginev3.TriageLevel, specialist string) {
	triage := decode[enginev3.Triage](c.t, c.post("/v3/triage", c.body()))
	if triage.TriageLevel != level {
		c.t.Errorf("the level is %s because of %s, expected %s, for %s", triage.TriageLevel, triage.RootCause, level, c.body())
	}
	recommendation := decode[enginev3.Recommendation](c.t, c.post("/v3/recommend_specialist", c.body()))
	if recommendation.RecommendedSpecialist == nil || recommendation.RecommendedSpecialist.ID != specialist {
		c.t.Errorf("recommended is %+v, expected %s", recommendation.RecommendedSpecialist, specialist)
	}
	leading := diagnosis.Conditions[0]
	explanation := decode[enginev3.Explanation](c.t, c.post("/v3/explain", addFields(c.body(), fmt.Sprintf(`"target": %q`, leading.ID))))
	if !slices.ContainsFunc(explanation.SupportingEvidence, func(o enginev3.ObservationName) bool {
		return c.patient.choiceFor(o.ID) == enginev3.ChoicePresent
	}) {
		c.t.Errorf("%s is supported by %v, which the patient does not have", leading.ID, explanation.SupportingEvidence)
	}
	article := c.server.do(c.t, getArticle(leading.ID, "").withHeader(map[string]string{"Model": c.model, "Interview-Token": *diagnosis.InterviewToken}))
	if (article.status == 200) != leading.ConditionDetails.HasPatientEducation {
		c.t.Errorf("the article answered %d, though has_patient_education is %v", article.status, leading.ConditionDetails.HasPatientEducation)
	}
}

// TestGroupsWithoutChoice checks that all ways to answer a group without a selection are
// recognized and finish the group, and that the question is repeated if nothing is sent.
func TestGroupsWithoutChoice(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	question := func(items ...string) *enginev3.Question {
		return decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", interviewBody(items...)))).Question
	}
	for name, test := range map[string]struct {
		before  []string
		of      enginev3.QuestionType
		answers [][]string
	}{
		"exclusive": {
			[]string{"s_11 present initial", "s_8 present"}, enginev3.QuestionTypeGroupSingle,
			[][]string{{"s_12 present"}, {"s_12 absent", "s_13 present"}, {"s_12 unknown", "s_13 unknown"}, {"s_12 absent", "s_13 absent"}},
		},
		"of each item": {
			[]string{"s_1 present initial", "s_6 absent", "s_2 absent", "s_5 present", "s_8 absent", "s_11 absent"}, enginev3.QuestionTypeGroupMultiple,
			[][]string{{"s_3 present"}, {"s_4 present", "s_3 unknown"}, {"s_3 absent", "s_4 absent"}, {"s_3 unknown", "s_4 unknown"}, {"s_4 absent"}},
		},
	} {
		first := question(test.before...)
		if first == nil || first.Type != test.of || len(first.Items) != 2 {
			t.Errorf("%s: the question is %+v", name, first)
			continue
		}
		if again := question(test.before...); again.Text != first.Text {
			t.Errorf("%s: unanswered, %q becomes %q", name, first.Text, again.Text)
		}
		for _, answer := range test.answers {
			if next := question(append(slices.Clone(test.before), answer...)...); next != nil && next.Text == first.Text {
				t.Errorf("%s: answered by %v, %q is asked again", name, answer, next.Text)
			}
		}
	}
}
