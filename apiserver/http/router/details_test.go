// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// detailsByCondition returns the condition details of a diagnosis by ID.
func detailsByCondition(diagnosis jsonObject) map[string]any {
	details := map[string]any{}
	for _, condition := range diagnosis["conditions"].([]any) {
		condition := condition.(jsonObject)
		if _, has := condition["condition_details"]; has {
			details[condition["id"].(string)] = condition["condition_details"]
		}
	}
	return details
}

func TestConditionDetails(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	items := []string{"s_1 present initial", "s_5 present", "s_2 present", "s_8 absent"}
	general := jsonObject{"id": "cc_1", "name": "General medicine"}
	five := map[string]any{
		"c_1": jsonObject{
			"icd10_code": "G43.9", "category": general, "prevalence": "common", "severity": "moderate",
			"acuteness": "chronic_with_exacerbations", "triage_level": "consultation", "hint": "Rest in a <dark> room.",
			"has_patient_education": true,
		},
		"c_2": jsonObject{
			"icd10_code": nil, "category": general, "prevalence": "very_rare", "severity": "severe",
			"acuteness": "acute", "triage_level": "emergency_ambulance", "hint": nil, "has_patient_education": false,
		},
		"c_4": jsonObject{
			"icd10_code": nil, "category": general, "prevalence": "very_rare", "severity": "mild",
			"acuteness": "acute", "triage_level": "self_care", "hint": nil, "has_patient_education": false,
		},
	}
	three := map[string]any{
		"c_1": five["c_1"], "c_4": five["c_4"], "c_2": merged(five["c_2"].(jsonObject), jsonObject{"triage_level": "emergency"}),
	}
	none := map[string]any{}
	for name, test := range map[string]struct {
		body string
		want map[string]any
	}{
		"not asked for":       {interviewBody(items...), none},
		"in extras":           {interviewWithDetails(items...), five},
		"at the top":          {addFields(interviewBody(items...), `"include_condition_details": true`), five},
		"at both":             {addFields(interviewWithDetails(items...), `"include_condition_details": true`), five},
		"at one of both":      {addFields(interviewWithDetails(items...), `"include_condition_details": false`), five},
		"null":                {addFields(interviewWithExtras(`{"include_condition_details": null}`, items...), `"include_condition_details": null`), none},
		"false":               {interviewWithExtras(`{"include_condition_details": false}`, items...), none},
		"in three levels":     {interviewWithExtras(`{"include_condition_details": true, "enable_triage_3": true}`, items...), three},
		"nothing ranked":      {interviewWithDetails(), none},
		"with unknown extras": {interviewWithExtras(`{"include_condition_details": true, "x": [{}]}`, items...), five},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode[jsonObject](t, r.do(t, post("/v3/diagnosis", test.body)))
			if diff := cmp.Diff(test.want, detailsByCondition(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			token, has := got["interview_token"].(string)
			if wanted := len(test.want) > 0 || name == "nothing ranked"; has != wanted {
				t.Errorf("has interview token: %v, expected %v", has, wanted)
			}
			if !has {
				return
			}
			if model, version, err := r.tokens.VerifyInterviewToken(token); err != nil || model != "service-en" || version != "2026-11-21T00:00:00Z" {
				t.Errorf("got release %s at %s, %v", model, version, err)
			}
		})
	}
}

// TestDetailsReportArticles checks that the details report which conditions have an article.
func TestDetailsReportArticles(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	diagnosis := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", interviewWithDetails("s_1 present initial", "s_5 present", "s_3 present", "s_8 present"))))
	for _, condition := range diagnosis.Conditions {
		want := 404
		if condition.ConditionDetails.HasPatientEducation {
			want = 200
		}
		got := r.do(t, getArticle(condition.ID, "").withHeader(map[string]string{"Interview-Token": *diagnosis.InterviewToken}))
		if got.status != want {
			t.Errorf("the article about %s: got status %d, expected %d", condition.ID, got.status, want)
		}
	}
}

// TestDetailsDoNotChangeRanking checks that details do not affect the rest of the response.
func TestDetailsDoNotChangeRanking(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	items := []string{"s_1 present initial", "s_5 present", "s_8 present"}
	with := decode[jsonObject](t, r.do(t, post("/v3/diagnosis", interviewWithDetails(items...))))
	delete(with, "interview_token")
	for _, condition := range with["conditions"].([]any) {
		delete(condition.(jsonObject), "condition_details")
	}
	if diff := cmp.Diff(decode[jsonObject](t, r.do(t, post("/v3/diagnosis", interviewBody(items...)))), with); diff != "" {
		t.Errorf("(-without +with)\n%s", diff)
	}
}
