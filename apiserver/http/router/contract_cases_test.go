// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A serverState is the state of a test server.
type serverState string

const (
	healthy       serverState = "" // with unlimited plans
	planExhausted serverState = "the plan's calls are used up"
	storageDown   serverState = "storage is down"
	faultyModel   serverState = "the models fail"
	overloaded    serverState = "there are too many calls"
	throttled     serverState = "a client guesses keys"
)

// A contractCase is a row of the specification's endpoint tables: the response of an endpoint
// to one kind of call.
type contractCase struct {
	endpoint string // as in the contract
	name     string
	testCall
	status int
	want   string // substring of the body, or of an error's message
	state  serverState
}

// contractCases are specific to one endpoint; sharedContractCases apply to all.
var contractCases = []contractCase{
	{"POST /v3/diagnosis", "a complaint", post("/v3/diagnosis", interviewBody("s_1 present initial")), 200, `"question":{`, healthy},
	{"POST /v3/diagnosis", "no evidence", post("/v3/diagnosis", interviewBody()), 200, `"question":null`, healthy},
	{"POST /v3/diagnosis", "with details", post("/v3/diagnosis", interviewWithDetails("s_1 present initial")), 200, `"interview_token":"`, healthy},
	{"POST /v3/diagnosis", "with durations", post("/v3/diagnosis", interviewWithDuration(`"source": "initial", "duration": {"value": 2, "unit": "day"}`)), 200, `"type":"single"`, healthy},
	{"POST /v3/diagnosis", "duration not given", post("/v3/diagnosis", interviewWithDuration(`"source": "initial"`)), 200, `"type":"duration"`, healthy},
	{"POST /v3/diagnosis", "a duration below zero", post("/v3/diagnosis", interviewWithDuration(`"duration": {"value": -2, "unit": "day"}`)), 400, "evidence[0].duration.value: expected a number above 0", healthy},

	{"POST /v3/triage", "a complaint", post("/v3/triage", interviewBody("s_1 present initial")), 200, `"triage_level":"consultation`, healthy},
	{"POST /v3/triage", "a red flag", post("/v3/triage", interviewBody("s_6 present initial")), 200, `"triage_level":"emergency_ambulance"`, healthy},
	{"POST /v3/triage", "three levels", post("/v3/triage", interviewWithExtras(`{"enable_triage_3": true}`, "s_6 present initial")), 200, `"triage_level":"emergency"`, healthy},

	{"POST /v3/recommend_specialist", "a complaint", post("/v3/recommend_specialist", interviewBody("s_1 present initial")), 200, `"recommended_specialist":{"id":"sp_`, healthy},
	{"POST /v3/recommend_specialist", "an emergency", post("/v3/recommend_specialist", interviewBody("s_6 present initial")), 200, `{"recommended_channel":null,"recommended_specialist":null}`, healthy},
	{"POST /v3/recommend_specialist", "mapped", post("/v3/recommend_specialist", specialistBody(`{"sp_17": "sp_1"}`)), 200, `{"id":"sp_1",`, healthy},
	{"POST /v3/recommend_specialist", "mapping of an unknown specialist", post("/v3/recommend_specialist", specialistBody(`{"sp_99": "sp_1"}`)), 400, `extras.specialist_mapping: expected the id of a specialist, such as sp_1, got "sp_99"`, healthy},
	{"POST /v3/recommend_specialist", "mapping to an unknown specialist", post("/v3/recommend_specialist", specialistBody(`{"sp_1": "c_1"}`)), 400, `extras.specialist_mapping.sp_1: expected the id of a specialist, such as sp_1, got "c_1"`, healthy},

	{"POST /v3/explain", "the leading condition", post("/v3/explain", explainBody("c_4", "s_1 present initial")), 200, `"supporting_evidence":[{"common_name":"Headache","id":"s_1"`, healthy},
	{"POST /v3/explain", "45 present pieces of evidence", post("/v3/explain", explainBody("c_4", repeat(45, "s_1 present initial")...)), 200, `"supporting_evidence":[{"common_name":"Headache","id":"s_1"`, healthy},
	{"POST /v3/explain", "46 present pieces of evidence", post("/v3/explain", explainBody("c_4", repeat(46, "s_1 present initial")...)), 400, "evidence: expected at most 45 items that are present or relevant to c_4, got 46", healthy},
	{"POST /v3/explain", "46 answers about the target", post("/v3/explain", explainBody("c_4", append(repeat(45, "s_8 absent"), "s_1 present initial")...)), 400, "evidence: expected at most 45 items that are present or relevant to c_4, got 46", healthy},
	{"POST /v3/explain", "150 noes about other conditions", post("/v3/explain", explainBody("c_4", append(repeat(150, "s_10 absent"), "s_1 present initial")...)), 200, `"conflicting_evidence":[]`, healthy},
	{"POST /v3/explain", "no target", post("/v3/explain", interviewBody("s_1 present initial")), 400, "target: missing, expected the id of a condition", healthy},
	{"POST /v3/explain", "an unknown target", post("/v3/explain", explainBody("c_99", "s_1 present initial")), 400, `target: expected the id of a condition of the ranking, such as c_49, got "c_99"`, healthy},
	{"POST /v3/explain", "a target outside the ranking", post("/v3/explain", explainBody("c_3", "s_1 present initial")), 400, "target: c_3 is not in the ranking", healthy},

	{"POST /v3/rationale", "a question", post("/v3/rationale", interviewBody("s_1 present initial")), 200, `"type":"r`, healthy},
	{"POST /v3/rationale", "no question", post("/v3/rationale", interviewBody("s_1 absent initial")), 400, "evidence: /diagnosis asks no question", healthy},

	{"POST /v3/suggest", "no method", post("/v3/suggest", interviewBody("s_1 present initial")), 200, `"id":"s_`, healthy},
	{"POST /v3/suggest", "symptoms", post("/v3/suggest", suggestBody("symptoms", "s_1 present initial")), 200, `"id":"s_`, healthy},
	{"POST /v3/suggest", "symptoms, no evidence", post("/v3/suggest", suggestBody("symptoms")), 200, `"id":"s_`, healthy},
	{"POST /v3/suggest", "risk factors", post("/v3/suggest", suggestBody("risk_factors", "s_10 present initial")), 200, `"id":"p_30"`, healthy},
	{"POST /v3/suggest", "red flags", post("/v3/suggest", suggestBody("red_flags", "s_1 present initial")), 200, `"id":"s_6"`, healthy},
	{"POST /v3/suggest", "red flags, no evidence", post("/v3/suggest", suggestBody("red_flags")), 200, `[]`, healthy},
	{"POST /v3/suggest", "an unknown method", post("/v3/suggest", suggestBody("all")), 400, `suggest_method: expected symptoms, risk_factors, demographic_risk_factors, evidence_based_risk_factors or red_flags, got "all"`, healthy},
	{"POST /v3/suggest", "one result", post("/v3/suggest?max_results=1", interviewBody()), 200, `"id":"s_`, healthy},
	{"POST /v3/suggest", "no results", post("/v3/suggest?max_results=0", interviewBody()), 400, "max_results: expected a whole number from 1 to 100, got 0", healthy},

	{"POST /v3/red_flags", "a complaint", post("/v3/red_flags", interviewBody("s_1 present initial")), 200, `"id":"s_6"`, healthy},
	{"POST /v3/red_flags", "no evidence", post("/v3/red_flags", interviewBody()), 200, `[]`, healthy},
	{"POST /v3/red_flags", "one result", post("/v3/red_flags?max_results=1", interviewBody("s_1 present initial")), 200, `"id":"s_6"`, healthy},
	{"POST /v3/red_flags", "too many results", post("/v3/red_flags?max_results=101", interviewBody()), 400, "max_results: expected a whole number from 1 to 100, got 101", healthy},

	{"POST /v3/parse", "a complaint", post("/v3/parse", parseRequestBody("I have a headache")), 200, `{"mentions":[{"choice_id":"present","common_name":"Headache","id":"s_1","name":"Headache","orth":"headache","type":"symptom"}],"obvious":true}`, healthy},
	{"POST /v3/parse", "a denial", post("/v3/parse", parseRequestBody("no fever")), 200, `"choice_id":"absent","common_name":"Fever"`, healthy},
	{"POST /v3/parse", "with tokens", post("/v3/parse", addFields(parseRequestBody("my headache"), `"include_tokens": true`)), 200, `"head_position":1,"id":"s_1","name":"Headache","orth":"headache","positions":[1],"type":"symptom"}],"obvious":true,"tokens":["my","headache"]`, healthy},
	{"POST /v3/parse", "nothing", post("/v3/parse", parseRequestBody("")), 200, `{"mentions":[],"obvious":false}`, healthy},
	{"POST /v3/parse", "nothing known", post("/v3/parse", parseRequestBody("the moon is blue")), 200, `{"mentions":[],"obvious":false}`, healthy},
	{"POST /v3/parse", "in a context", post("/v3/parse", addFields(parseRequestBody("on both sides"), `"context": ["s_1"]`)), 200, `"id":"s_3"`, healthy},
	{"POST /v3/parse", "2,048 characters", post("/v3/parse", parseRequestBody("fever "+strings.Repeat("😀", 2042))), 200, `"id":"s_11"`, healthy},
	{"POST /v3/parse", "2,049 characters", post("/v3/parse", parseRequestBody("fever "+strings.Repeat("😀", 2043))), 400, "text: expected at most 2048 characters (Unicode code points), got 2049", healthy},
	{"POST /v3/parse", "no text", post("/v3/parse", interviewBody()), 400, "text: missing, expected the patient's text", healthy},
	{"POST /v3/parse", "no age", post("/v3/parse", `{"text": "fever"}`), 400, "age.value: missing", healthy},
	{"POST /v3/parse", "an unknown sex", post("/v3/parse", `{"text": "fever", "sex": "other", "age": {"value": 30}}`), 400, `sex: expected female or male, got "other"`, healthy},
	{"POST /v3/parse", "a context that is unknown", post("/v3/parse", addFields(parseRequestBody("fever"), `"context": ["s_1", "s_99"]`)), 400, `context[1]: expected the id of an observation, such as s_21, got "s_99"`, healthy},
	{"POST /v3/parse", "a context of conditions", post("/v3/parse", addFields(parseRequestBody("fever"), `"context": ["c_1"]`)), 400, `context[0]: expected the id of an observation, such as s_21, got "c_1"`, healthy},
	{"POST /v3/parse", "an unknown type of concepts", post("/v3/parse", addFields(parseRequestBody("fever"), `"concept_types": ["symptom", "condition"]`)), 400, `concept_types[1]: expected symptom or risk_factor, got "condition"`, healthy},

	{"GET /v3/info", "the sizes", get("/v3/info"), 200, `"lab_tests_count":2`, healthy},

	{"GET /v3/search", "a word", get("/v3/search?phrase=headache&age.value=30"), 200, `{"id":"s_1","label":"Headache"}`, healthy},
	{"GET /v3/search", "a misspelling", get("/v3/search?phrase=hedache&age.value=30"), 200, `{"id":"s_1","label":"Headache"}`, healthy},
	{"GET /v3/search", "nothing like it", get("/v3/search?phrase=xyzzy&age.value=30"), 200, `[]`, healthy},
	{"GET /v3/search", "no phrase", get("/v3/search?age.value=30"), 400, "phrase: missing, expected the text to search for", healthy},
	{"GET /v3/search", "an empty phrase", get("/v3/search?phrase=+&age.value=30"), 400, "phrase: missing, expected the text to search for", healthy},
	{"GET /v3/search", "no age", get("/v3/search?phrase=headache"), 400, "age.value: missing", healthy},
	{"GET /v3/search", "age zero", get("/v3/search?phrase=headache&age.value=0"), 400, "age.value: expected a whole number from 1 to 130", healthy},
	{"GET /v3/search", "an unknown unit of age", get("/v3/search?phrase=headache&age.value=3&age.unit=week"), 400, "age.unit: expected year or month", healthy},
	{"GET /v3/search", "an unknown sex", get("/v3/search?phrase=headache&age.value=30&sex=other"), 400, `sex: expected female or male, got "other"`, healthy},
	{"GET /v3/search", "an unknown type", get("/v3/search?phrase=headache&age.value=30&types=illness"), 400, "types: expected condition, symptom, risk_factor or lab_test_result", healthy},
	{"GET /v3/search", "no results", get("/v3/search?phrase=headache&age.value=30&max_results=0"), 400, "max_results: expected a whole number from 1 to 100, got 0", healthy},
	{"GET /v3/search", "too many results", get("/v3/search?phrase=headache&age.value=30&max_results=101"), 400, "max_results: expected a whole number from 1 to 100, got 101", healthy},
	{"GET /v3/search", "results not a number", get("/v3/search?phrase=headache&age.value=30&max_results=all"), 400, "max_results: expected one whole number from 1 to 100", healthy},

	{"GET /v3/concepts", "all", get("/v3/concepts"), 200, `{"common_name":"Migraine","extras":{},"id":"c_1","name":"Migraine","type":"condition"}`, healthy},
	{"GET /v3/concepts", "by ids", get("/v3/concepts?ids=s_5,c_1"), 200, `"id":"s_5"`, healthy},
	{"GET /v3/concepts", "by types", get("/v3/concepts?types=lab_test_result"), 200, `"id":"lt_1"`, healthy},
	{"GET /v3/concepts", "an unknown type", get("/v3/concepts?types=illness"), 400, "types: expected condition", healthy},
	{"GET /v3/concepts", "an unknown id", get("/v3/concepts?ids=s_1,s_99"), 404, `concept "s_99" not found`, healthy},

	{"GET /v3/concepts/{id}", "a symptom", get("/v3/concepts/s_5"), 200, `"type":"symptom"`, healthy},
	{"GET /v3/concepts/{id}", "an unknown id", get("/v3/concepts/s_99"), 404, `concept "s_99" not found`, healthy},

	{"GET /v3/conditions", "of an age", get("/v3/conditions?age.value=30"), 200, `"id":"c_1"`, healthy},
	{"GET /v3/conditions", "with specialists", get("/v3/conditions?age.value=30&include_specialists=true"), 200, `"specialists":[{"id":"sp_17","name":"Neurologist"}`, healthy},
	{"GET /v3/conditions", "three levels", get("/v3/conditions?age.value=30&enable_triage_3=true"), 200, `"triage_level":"emergency"`, healthy},
	{"GET /v3/conditions", "no age", get("/v3/conditions"), 400, "age.value: missing", healthy},
	{"GET /v3/conditions", "specialists neither true nor false", get("/v3/conditions?age.value=30&include_specialists=2"), 400, "include_specialists: expected true or false", healthy},
	{"GET /v3/conditions", "levels neither true nor false", get("/v3/conditions?age.value=30&enable_triage_3=x"), 400, "enable_triage_3: expected true or false", healthy},

	{"GET /v3/conditions/{id}", "a condition", get("/v3/conditions/c_1?age.value=30"), 200, `"icd10_code":"G43.9"`, healthy},
	{"GET /v3/conditions/{id}", "three levels", get("/v3/conditions/c_2?age.value=30&enable_triage_3=true"), 200, `"triage_level":"emergency"`, healthy},
	{"GET /v3/conditions/{id}", "no age", get("/v3/conditions/c_1"), 400, "age.value: missing", healthy},
	{"GET /v3/conditions/{id}", "an unknown id", get("/v3/conditions/c_99?age.value=30"), 404, `condition "c_99" not found`, healthy},

	{"GET /v3/symptoms", "of an age", get("/v3/symptoms?age.value=30"), 200, `"children":[{"id":"s_2","parent_relation":"severity"}`, healthy},
	{"GET /v3/symptoms", "no age", get("/v3/symptoms"), 400, "age.value: missing", healthy},
	{"GET /v3/symptoms", "age over", get("/v3/symptoms?age.value=131"), 400, "age.value: expected a whole number from 1 to 130", healthy},

	{"GET /v3/symptoms/{id}", "a symptom", get("/v3/symptoms/s_1?age.value=30"), 200, `"name":"Headache"`, healthy},
	{"GET /v3/symptoms/{id}", "no age", get("/v3/symptoms/s_1"), 400, "age.value: missing", healthy},
	{"GET /v3/symptoms/{id}", "an unknown id", get("/v3/symptoms/p_7?age.value=30"), 404, `symptom "p_7" not found`, healthy},

	{"GET /v3/risk_factors", "of an age", get("/v3/risk_factors?age.value=30"), 200, `"id":"p_7"`, healthy},
	{"GET /v3/risk_factors", "no age", get("/v3/risk_factors"), 400, "age.value: missing", healthy},
	{"GET /v3/risk_factors", "months below zero", get("/v3/risk_factors?age.value=-1&age.unit=month"), 400, "age.value: expected a whole number from 0 to 1560", healthy},

	{"GET /v3/risk_factors/{id}", "a risk factor", get("/v3/risk_factors/p_7?age.value=30"), 200, `"name":"BMI over 30"`, healthy},
	{"GET /v3/risk_factors/{id}", "no age", get("/v3/risk_factors/p_7"), 400, "age.value: missing", healthy},
	{"GET /v3/risk_factors/{id}", "an unknown id", get("/v3/risk_factors/s_1?age.value=30"), 404, `risk factor "s_1" not found`, healthy},

	{"GET /v3/lab_tests", "of an age", get("/v3/lab_tests?age.value=30"), 200, `"results":[{"id":"lt_2","type":"normal"},{"id":"lt_1","type":"high"}]`, healthy},
	{"GET /v3/lab_tests", "no age", get("/v3/lab_tests"), 400, "age.value: missing", healthy},
	{"GET /v3/lab_tests", "an unknown unit of age", get("/v3/lab_tests?age.value=3&age.unit=day"), 400, "age.unit: expected year or month", healthy},

	{"GET /v3/lab_tests/{id}", "a test", get("/v3/lab_tests/lab_1?age.value=30"), 200, `"name":"White blood cell count"`, healthy},
	{"GET /v3/lab_tests/{id}", "no age", get("/v3/lab_tests/lab_1"), 400, "age.value: missing", healthy},
	{"GET /v3/lab_tests/{id}", "an unknown id", get("/v3/lab_tests/lab_99?age.value=30"), 404, `laboratory test "lab_99" not found`, healthy},
	{"GET /v3/lab_tests/{id}", "a result", get("/v3/lab_tests/lt_1?age.value=30"), 200, `"id":"lab_1"`, healthy},

	{"GET /v3/patient_education/{condition_id}", "an article", getArticle("c_1", ""), 200, `{"sections":[{"content":[{"content":[{"node_type":"text","value":"A "}`, healthy},
	{"GET /v3/patient_education/{condition_id}", "one section", getArticle("c_1", "?sections=disclaimer"), 200, `"sections":[{"content":[{"content":[],"node_type":"paragraph"}],"name":"disclaimer"`, healthy},
	{"GET /v3/patient_education/{condition_id}", "a section that it has not", getArticle("c_1", "?sections=sources"), 200, `"sections":[]`, healthy},
	{"GET /v3/patient_education/{condition_id}", "an unknown section", getArticle("c_1", "?sections=summary,jokes"), 400, `sections: expected section names, such as summary, got "jokes"`, healthy},
	{"GET /v3/patient_education/{condition_id}", "no token", getArticle("c_1", "").withHeader(map[string]string{"Interview-Token": ""}), 400, "Interview-Token: missing, expected the interview_token", healthy},
	{"GET /v3/patient_education/{condition_id}", "a bad token", getArticle("c_1", "").withHeader(map[string]string{"Interview-Token": "x"}), 403, "Interview-Token: invalid or expired", healthy},
	{"GET /v3/patient_education/{condition_id}", "no article", getArticle("c_2", ""), 404, "no article about c_2", healthy},
	{"GET /v3/patient_education/{condition_id}", "an unknown condition", getArticle("c_99", ""), 404, `condition "c_99" not found`, healthy},

	{"POST /v3/interviews/feedback", "two intents", postFeedback(feedbackBody), 200, `{}`, healthy},
	{"POST /v3/interviews/feedback", "in Dev-Mode", postFeedback(feedbackBody).withHeader(map[string]string{"Dev-Mode": "true"}), 200, `{}`, storageDown},
	{"POST /v3/interviews/feedback", "no Interview-Id", postFeedback(feedbackBody).withHeader(map[string]string{"Interview-Id": ""}), 400, "Interview-Id: missing, expected the id of the interview", healthy},
	{"POST /v3/interviews/feedback", "an intent missing", postFeedback(`{"patient_intent_before": {"type": "unknown"}}`), 422, "patient_intent_after: missing", healthy},
	{"POST /v3/interviews/feedback", "an unknown intent", postFeedback(`{"patient_intent_before": {"type": "sleep"}, "patient_intent_after": {"type": "unknown"}}`), 422, "patient_intent_before.type: expected one of", healthy},
	{"POST /v3/interviews/feedback", "an intent of another type", postFeedback(`{"patient_intent_before": "sleep"}`), 422, "patient_intent_before: expected an object, got a string", healthy},
	{"POST /v3/interviews/feedback", "storage is down", postFeedback(feedbackBody), 503, "storage is unavailable", storageDown},
}

// sharedContractCases returns the cases common to all endpoints, for each of them.
func sharedContractCases() []contractCase {
	var shared []contractCase
	for _, e := range endpoints {
		add := func(name string, c testCall, status int, want string, when serverState) {
			shared = append(shared, contractCase{e.route, name, c, status, want, when})
		}
		add("no key", e.withHeader(map[string]string{"App-Key": ""}), 403, "App-Id or App-Key", healthy)
		add("an unknown model", e.withHeader(map[string]string{"Model": "service-xx"}), 400, "service-en, service-de", healthy)
		add("the model's other name", e.withHeader(map[string]string{"Model": "infermedica-en"}), 200, "", healthy)
		add("an Interview-Id with a space", e.withHeader(map[string]string{"Interview-Id": "a b"}), 400, "Interview-Id: expected", healthy)
		add("another method", testCall{method: http.MethodDelete, path: e.path}, 405, "method not allowed; use "+e.method, healthy)
		add("too many calls", e.testCall, 503, "overloaded", overloaded)
		add("a fault", e.testCall, 500, "internal error", faultyModel)
		if e.method == http.MethodPost {
			add("another content type", e.withHeader(map[string]string{"Content-Type": "text/plain"}), 400, "Content-Type: expected application/json", healthy)
			add("not JSON", e.withBody("{"), 400, "the body: invalid JSON at byte 1", healthy)
			add("over 1 MiB", e.withBody(strings.Repeat(" ", 1<<20+1)), 413, "at most 1 MiB", healthy)
		}
		add("too many wrong keys", e.testCall, 429, "wrong App-Id or App-Key from this address", throttled)
		if meteredEndpoints[e.route] {
			add("the plan's calls are used up", e.testCall, 429, "", planExhausted)
		}
	}
	return shared
}

// meteredEndpoints are the endpoints whose calls plans limit.
var meteredEndpoints = map[string]bool{
	"POST /v3/triage": true, "POST /v3/explain": true, "POST /v3/rationale": true,
	"POST /v3/suggest": true, "POST /v3/red_flags": true,
}

func TestContractCases(t *testing.T) {
	t.Parallel()
	servers := map[serverState]*testServer{healthy: startServer(t), planExhausted: startServer(t), storageDown: startServer(t), faultyModel: startServer(t), overloaded: startServer(t, withoutCallCapacity), throttled: startServer(t)}
	servers[throttled].guessKeys(t, "portal", 10)
	servers[planExhausted].usage.exhausted.Store(true)
	servers[storageDown].feedback.down.Store(true)
	closed := func() error { return errors.New("closed") }
	servers[faultyModel].models.err.Store(&closed)
	for _, row := range append(sharedContractCases(), contractCases...) {
		t.Run(row.endpoint+" "+row.name, func(t *testing.T) {
			t.Parallel()
			r := servers[row.state]
			got := r.do(t, row.testCall)
			if row.status >= 400 {
				expectError(t, got, row.status, row.want)
				return
			}
			if got.status != row.status || !strings.Contains(got.body, row.want) {
				t.Errorf("got status %d %s, expected %d with %s", got.status, got.body, row.status, row.want)
			}
		})
	}
}

// TestContractCasesAreComplete checks that every response in the contract has a row, and that
// every row is in the contract.
func TestContractCasesAreComplete(t *testing.T) {
	t.Parallel()
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, row := range append(sharedContractCases(), contractCases...) {
		got[fmt.Sprint(row.endpoint, " ", row.status)] = true
	}
	want := map[string]bool{}
	for endpoint, statuses := range checked.Operations() {
		for _, status := range statuses {
			want[fmt.Sprint(endpoint, " ", status)] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoints and statuses (-contract +rows)\n%s", diff)
	}
}
