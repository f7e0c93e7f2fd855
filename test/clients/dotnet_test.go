// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"net/http"
	"testing"
)

// dotnetRepository is the .NET library, malisancube/infermedica-net, with a configurable
// base URL (README.md:17). It uses the /v2 format, so the error message must explain
// what to change.
const dotnetRepository = "malisancube/infermedica-net Infermedica.Net/InferMedicaClient.cs:"

// dotnetHeader returns the default headers, and the content type set by StringContent if
// posts is true: InferMedicaClient.cs:19.
func dotnetHeader(posts bool) http.Header {
	header := http.Header{
		"App-Id": {appID}, "App-Key": {appKey}, "Accept": {"application/json"}, "Dev-Mode": {"true"}, "User-Agent": {"MyApp"},
		"Interview-Id": {"d8b7a2f05a3c4f0e9d51"},
	}
	if posts {
		header["Content-Type"] = []string{"application/json; charset=utf-8"}
	}
	return header
}

func TestDotNet(t *testing.T) {
	t.Parallel()
	runCalls(t, dotnetHeader(false), []clientCall{
		{dotnetRepository + "115", "GetInfoAsync", "GET", "/v3/info", "", expectGoResult(func(t *testing.T, v struct {
			UpdatedAt        string `json:"updated_at"`
			ConditionsCount  int    `json:"conditions_count"`
			SymptomsCount    int    `json:"symptoms_count"`
			RiskFactorsCount int    `json:"risk_factors_count"`
			LabTestsCount    int    `json:"lab_tests_count"`
		}) {
			if v.UpdatedAt == "" || v.ConditionsCount*v.SymptomsCount*v.RiskFactorsCount*v.LabTestsCount == 0 {
				t.Errorf("got info %+v", v)
			}
		})},
		{dotnetRepository + "40", "GetConditionsAsync", "GET", "/v3/conditions", "", expectGoError(400, "age.value: missing")},
		{dotnetRepository + "93", "GetSymptomsAsync", "GET", "/v3/symptoms", "", expectGoError(400, "age.value: missing")},
		{dotnetRepository + "128", "GetLabTestsAsync", "GET", "/v3/lab_tests", "", expectGoError(400, "age.value: missing")},
		{dotnetRepository + "191", "GetRiskFactorsAsync", "GET", "/v3/risk_factors", "", expectGoError(400, "age.value: missing")},
		{dotnetRepository + "214", "SearchAsync", "GET", "/v3/search?phrase=headache&max_results=8&sex=male&type=symptom&type=risk_factor", "", expectGoError(400, "age.value: missing")},
	})
	// System.Text.Json encodes unset properties as null.
	const request = `{"extras":null,"sex":"male","age":30,"evidence":[{"id":"s_21","choice_id":"present","initial":true,"observed_at":null}]}`
	runCalls(t, dotnetHeader(true), []clientCall{
		{dotnetRepository + "64", "GetDiagnosisAsync", "POST", "/v3/diagnosis", request, expectGoError(400, "age: expected an object")},
		{dotnetRepository + "250", "GetTriageAsync", "POST", "/v3/triage", `{"sex":"male","age":30,"evidence":[{"id":"s_21","choice_id":"present","initial":null,"observed_at":null}]}`, expectGoError(400, "age: expected an object")},
		{dotnetRepository + "177", "ParseAsync", "POST", "/v3/parse", `{"text":"i feel smoach pain but no couoghing today"}`, expectGoError(400, "age")},
		{dotnetRepository + "64", "GetDiagnosisAsync, the age changed", "POST", "/v3/diagnosis",
			`{"extras":{"disable_groups":null},"sex":"male","age":{"value":30},"evidence":[{"id":"s_21","choice_id":"present","initial":true,"observed_at":null}]}`,
			expectGoResult(func(t *testing.T, v goDiagnosis) {
				if v.Question.Text == "" || len(v.Conditions) == 0 {
					t.Errorf("got diagnosis %+v", v)
				}
			})},
	})
}
