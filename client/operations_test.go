// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"testing"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// newInterview returns an interview with a headache, and a stiff neck that makes it an
// emergency.
func newInterview(sick bool) enginev3.Interview {
	p := enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34, Unit: new(enginev3.AgeUnitYear)}}
	p.Evidence = []enginev3.Evidence{{ID: "s_1", ChoiceID: enginev3.ChoicePresent, Source: new(enginev3.SourceInitial)}}
	if sick {
		p.Evidence = append(p.Evidence, enginev3.Evidence{ID: "s_3", ChoiceID: enginev3.ChoicePresent})
	}
	return p
}

// The server understands every engine operation and the client its response; both
// conform to the contract.
func TestEngineOperations(t *testing.T) {
	t.Parallel()
	c := newClient(t, newTestInstance(t).handler, portal, client.WithEditors(client.Model("service-en"), client.InterviewID("one"))).Engine
	p, month := newInterview(false), new(enginev3.AgeUnitMonth)
	for name, call := range map[string]func(ctx context.Context) (any, error){
		"diagnose":            func(ctx context.Context) (any, error) { return c.Diagnose(ctx, p) },
		"triage":              func(ctx context.Context) (any, error) { return c.Triage(ctx, p) },
		"recommendSpecialist": func(ctx context.Context) (any, error) { return c.RecommendSpecialist(ctx, p) },
		"rationale":           func(ctx context.Context) (any, error) { return c.Rationale(ctx, p) },
		"explain": func(ctx context.Context) (any, error) {
			return c.Explain(ctx, enginev3.ExplainRequest{Sex: p.Sex, Age: p.Age, Evidence: p.Evidence, Target: "c_1"})
		},
		"suggest": func(ctx context.Context) (any, error) {
			return c.Suggest(ctx, &enginev3.SuggestParams{MaxResults: new(3)},
				enginev3.SuggestRequest{Sex: p.Sex, Age: p.Age, SuggestMethod: new(enginev3.SuggestMethodRedFlags)})
		},
		"suggest, with nothing else": func(ctx context.Context) (any, error) {
			return c.Suggest(ctx, nil, enginev3.SuggestRequest{Sex: p.Sex, Age: p.Age})
		},
		"redFlags": func(ctx context.Context) (any, error) { return c.RedFlags(ctx, nil, p) },
		"parse": func(ctx context.Context) (any, error) {
			return c.Parse(ctx, enginev3.ParseRequest{Text: "hedache", Age: p.Age, CorrectSpelling: new(false), IncludeTokens: new(true), Context: []string{"s_1"}})
		},
		"getInfo": func(ctx context.Context) (any, error) { return c.GetInfo(ctx) },
		"search": func(ctx context.Context) (any, error) {
			return c.Search(ctx, &enginev3.SearchParams{Phrase: "head, ache & neck", AgeValue: 34, Sex: new(p.Sex), Types: new("symptom,condition")})
		},
		"listConcepts": func(ctx context.Context) (any, error) {
			return c.ListConcepts(ctx, &enginev3.ListConceptsParams{Ids: new("s_1,c_1")})
		},
		"getConcept": func(ctx context.Context) (any, error) { return c.GetConcept(ctx, "s_1") },
		"listConditions": func(ctx context.Context) (any, error) {
			return c.ListConditions(ctx, &enginev3.ListConditionsParams{AgeValue: 34, IncludeSpecialists: new(true)})
		},
		"getCondition": func(ctx context.Context) (any, error) {
			return c.GetCondition(ctx, "c_1", &enginev3.GetConditionParams{AgeValue: 34})
		},
		"listSymptoms": func(ctx context.Context) (any, error) {
			return c.ListSymptoms(ctx, &enginev3.ListSymptomsParams{AgeValue: 7, AgeUnit: month})
		},
		"getSymptom": func(ctx context.Context) (any, error) {
			return c.GetSymptom(ctx, "s_1", &enginev3.GetSymptomParams{AgeValue: 34})
		},
		"listRiskFactors": func(ctx context.Context) (any, error) {
			return c.ListRiskFactors(ctx, &enginev3.ListRiskFactorsParams{AgeValue: 34})
		},
		"getRiskFactor": func(ctx context.Context) (any, error) {
			return c.GetRiskFactor(ctx, "p_1", &enginev3.GetRiskFactorParams{AgeValue: 34})
		},
		"listLabTests": func(ctx context.Context) (any, error) {
			return c.ListLabTests(ctx, &enginev3.ListLabTestsParams{AgeValue: 34})
		},
		"getLabTest": func(ctx context.Context) (any, error) {
			return c.GetLabTest(ctx, "lab_1", &enginev3.GetLabTestParams{AgeValue: 34})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answer, err := call(t.Context()); err != nil {
				t.Errorf("got %v, %v", answer, err)
			}
		})
	}
}

// Null means absent to both client and server.
func TestNullRoundTrip(t *testing.T) {
	t.Parallel()
	c := newClient(t, newTestInstance(t).handler, portal).Engine
	advice, err := c.RecommendSpecialist(t.Context(), newInterview(true))
	if err != nil || advice.RecommendedSpecialist != nil || advice.RecommendedChannel != nil {
		t.Errorf("emergency: got advice %v, error %v", advice, err)
	}
	symptom, err := c.GetSymptom(t.Context(), "s_1", &enginev3.GetSymptomParams{AgeValue: 34})
	if err != nil || symptom.ParentID != nil || symptom.Seriousness != nil || symptom.Question == nil {
		t.Errorf("symptom without a parent: got %v, error %v", symptom, err)
	}
	asked := newInterview(false)
	asked.Extras = &enginev3.InterviewExtras{EnableSymptomDuration: new(true)}
	if question := mustDiagnose(t, c, asked); question == nil || question.Type != enginev3.QuestionTypeDuration {
		t.Errorf("unset duration: got question %v", question)
	}
	asked.Evidence[0].Duration.SetNull()
	if question := mustDiagnose(t, c, asked); question == nil || question.Type == enginev3.QuestionTypeDuration {
		t.Errorf("unknown duration: got question %v", question)
	}
	asked.Evidence[0].Source = new(enginev3.SourcePredefined)
	if question := mustDiagnose(t, c, asked); question != nil {
		t.Errorf("no initial evidence: got question %v", question)
	}
}

func mustDiagnose(t *testing.T, c *enginev3.API, patient enginev3.Interview) *enginev3.Question {
	t.Helper()
	diagnosis, err := c.Diagnose(t.Context(), patient)
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.Question
}

// The token of a diagnosis gives access to an article with nodes of several types.
func TestArticle(t *testing.T) {
	t.Parallel()
	c := newClient(t, newTestInstance(t).handler, portal).Engine
	asked := newInterview(false)
	asked.Extras = &enginev3.InterviewExtras{IncludeConditionDetails: new(true)}
	diagnosis, err := c.Diagnose(t.Context(), asked)
	if err != nil || diagnosis.InterviewToken == nil || len(diagnosis.Conditions) == 0 || diagnosis.Conditions[0].ConditionDetails == nil {
		t.Fatalf("got %v, %v", diagnosis, err)
	}
	article, err := c.GetPatientEducation(t.Context(), "c_1", &enginev3.GetPatientEducationParams{InterviewToken: *diagnosis.InterviewToken})
	if err != nil {
		t.Fatal(err)
	}
	paragraph, err := article.Sections[0].Content[0].AsBlockNode()
	if err != nil || len(paragraph.Content) != 2 {
		t.Fatalf("got %v, %v", paragraph, err)
	}
	node, err := paragraph.Content[1].ValueByDiscriminator()
	if link, ok := node.(enginev3.LinkNode); err != nil || !ok || link.Target != "https://example.org/headache" {
		t.Errorf("got %v, %v", node, err)
	}
}

// Data written through one API can be read through the other.
func TestFeedback(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	c := newClient(t, i.handler, portal)
	feedback := enginev3.Feedback{
		PatientIntentBefore: enginev3.Intent{Type: enginev3.IntentTypeEmergencyCare,
			SubType: &enginev3.IntentSubType{Category: enginev3.IntentSubTypeCategoryWithoutAmbulance}},
		PatientIntentAfter: enginev3.Intent{Type: enginev3.IntentTypeConsultation,
			Channel: &enginev3.IntentChannel{Category: enginev3.IntentChannelCategoryCustom, CustomLabel: new("by letter")}},
	}
	if err := c.Engine.SendFeedback(t.Context(), &enginev3.SendFeedbackParams{InterviewID: "one"}, feedback); err != nil {
		t.Fatal(err)
	}
	page, err := c.Guidance.ListInterviewFeedback(t.Context(), &guidance.ListInterviewFeedbackParams{Limit: new(5), Cursor: new(0)})
	if err != nil || len(page.Items) != 1 || page.Next != nil {
		t.Fatalf("got %v, %v", page, err)
	}
	if after := page.Items[0].PatientIntentAfter; *after.Channel.CustomLabel != "by letter" || page.Items[0].InterviewID != "one" {
		t.Errorf("got %v", page.Items[0])
	}
}
