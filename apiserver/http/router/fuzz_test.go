// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// newFuzzHandler returns the handler without a socket. It checks that responses conform to
// the contract and are never server faults.
func newFuzzHandler(f *testing.F) func(t *testing.T, request *http.Request) {
	checked, err := parsedContract()
	if err != nil {
		f.Fatal(err)
	}
	r := newTestServer(f)
	return func(t *testing.T, request *http.Request) {
		for name, value := range r.header() {
			request.Header.Set(name, value)
		}
		recorder := httptest.NewRecorder()
		r.handler.ServeHTTP(recorder, request)
		body, err := io.ReadAll(recorder.Body)
		if err != nil {
			t.Fatal(err)
		}
		if recorder.Code >= 500 {
			t.Fatalf("got status %d: %s", recorder.Code, body)
		}
		if err := checked.ValidateResponse(request, recorder.Code, recorder.Header(), body); err != nil {
			t.Fatalf("got status %d: %v: %s", recorder.Code, err, body)
		}
	}
}

// malformedBodies are invalid seeds for every body.
var malformedBodies = []string{
	`{"sex": null, "age": null}`, `[]`, `null`, ``, `{"age": 1e400}`, "\xff", `{"evidence": [null]}`,
	`{"evidence": [{"id": "s_1"}], "evidence": [{}]}`, `{"extras": {"": {}}}`, `{"sex": "female", "sex": "male"}`,
}

func fuzzBody(f *testing.F, path string) {
	for _, seed := range append(slices.Clone(validBodies[path]), malformedBodies...) {
		f.Add(seed)
	}
	check := newFuzzHandler(f)
	f.Fuzz(func(t *testing.T, body string) {
		check(t, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	})
}

// interviewSeeds are bodies that every interview endpoint accepts.
var interviewSeeds = []string{
	interviewBody("s_1 present initial"),
	interviewBody("s_1 present initial", "s_5 absent", "p_7 unknown predefined", "s_3 present", "s_6 present red_flags"),
	`{"sex": "male", "age": {"value": 0, "unit": "month"}, "evidence": [{"id": "s_8", "choice_id": "present"}], "extras": {"interview_mode": "short_triage"}}`,
	`{"sex": "female", "age": {"value": 130, "unit": ""}, "evidence": [{"id": "s_11", "choice_id": "present", "source": ""}],
	  "extras": {"disable_groups": true, "enable_triage_3": true}}`,
	interviewWithDetails("s_1 present initial", "lt_1 present suggest", "s_8 absent", "s_12 present"),
	addFields(interviewBody("s_8 present initial"), `"include_condition_details": true`),
	interviewWithDuration(`"source": "initial", "duration": {"value": 1.5, "unit": "week"}`),
	interviewWithDuration(`"source": "initial", "duration": null`),
	specialistBody(`{"sp_17": "sp_1"}`),
}

// validBodies are seeds per endpoint that yield 200, so that fuzzing reaches the code behind
// the validation.
var validBodies = map[string][]string{
	"/v3/diagnosis":            interviewSeeds,
	"/v3/triage":               interviewSeeds,
	"/v3/recommend_specialist": interviewSeeds,
	"/v3/rationale":            interviewSeeds,
	"/v3/red_flags":            interviewSeeds,
	"/v3/explain": {
		explainBody("c_4", "s_1 present initial"), explainBody("c_4", "s_8 present initial", "s_1 absent", "s_11 unknown"),
	},
	"/v3/suggest": {
		suggestBody("symptoms", "s_1 present initial"), suggestBody("risk_factors"),
		suggestBody("red_flags", "s_1 present initial"), suggestBody("", "s_11 present initial"),
	},
	"/v3/parse": {
		parseRequestBody("I have a headache, no fever but burns in my pee for two days"),
		addFields(parseRequestBody("FEVER\u202e 39.5°C\n\u0000 ä\u0308\u0323 👩🏽‍⚕️ no"), `"include_tokens": true, "correct_spelling": false`),
		addFields(parseRequestBody("hurts on both sides, feever"), `"include_tokens": true, "context": ["s_1", "lt_1", "p_7"], "concept_types": ["symptom"]`),
		`{"text": "\ud83d fever \ude00", "age": {"value": 0, "unit": "month"}, "sex": "", "concept_types": [], "include_tokens": true}`,
		parseRequestBody(""),
	},
	"/v3/interviews/feedback": {
		feedbackBody,
		`{"patient_intent_before": {"type": "unknown"}, "patient_intent_after": {"type": "custom", "custom_label": "a"}}`,
		`{"patient_intent_before": {"type": "not_sure", "channel": null},
		  "patient_intent_after": {"type": "consultation", "sub_type": {"category": "nurse"}}}`,
	},
}

func TestFuzzSeedsAreValid(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		if endpoint.method != http.MethodPost {
			continue
		}
		seeds := validBodies[endpoint.path]
		if len(seeds) == 0 {
			t.Errorf("%s has no seeds", endpoint.route)
		}
		for _, body := range seeds {
			if got := r.do(t, post(endpoint.path, body)); got.status != http.StatusOK {
				t.Errorf("%s %s: got status %d: %s", endpoint.route, body, got.status, got.body)
			}
		}
		for _, body := range malformedBodies {
			if got := r.do(t, post(endpoint.path, body)); got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity {
				t.Errorf("%s %s: got status %d: %s", endpoint.route, body, got.status, got.body)
			}
		}
	}
}

func FuzzDiagnosisBody(f *testing.F) { fuzzBody(f, "/v3/diagnosis") }

func FuzzTriageBody(f *testing.F) { fuzzBody(f, "/v3/triage") }

func FuzzRecommendSpecialistBody(f *testing.F) { fuzzBody(f, "/v3/recommend_specialist") }

func FuzzExplainBody(f *testing.F) { fuzzBody(f, "/v3/explain") }

func FuzzRationaleBody(f *testing.F) { fuzzBody(f, "/v3/rationale") }

func FuzzSuggestBody(f *testing.F) { fuzzBody(f, "/v3/suggest") }

func FuzzRedFlagsBody(f *testing.F) { fuzzBody(f, "/v3/red_flags") }

func FuzzParseBody(f *testing.F) { fuzzBody(f, "/v3/parse") }

func FuzzFeedbackBody(f *testing.F) { fuzzBody(f, "/v3/interviews/feedback") }

func FuzzCatalogueQuery(f *testing.F) {
	for _, seed := range []string{
		"age.value=30", "age.value=5&age.unit=month&enable_triage_3=true&include_specialists=1",
		"ids=s_1,c_1&types=condition,symptom", "age.value=&ids=,,&types=,", "%zz=1;2", "ids=s_1&ids=s_2",
		"phrase=hedache&age.value=30&sex=female&types=condition&max_results=3", "sections=summary,,sources",
	} {
		for _, path := range []string{"conditions", "concepts", "symptoms/s_1", "lab_tests", "search", "patient_education/c_1"} {
			f.Add(path, seed)
		}
	}
	check := newFuzzHandler(f)
	f.Fuzz(func(t *testing.T, path, query string) {
		address := &url.URL{Scheme: "http", Host: "localhost", Path: "/v3/" + path, RawQuery: query}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), nil)
		if err != nil {
			return
		}
		check(t, request)
	})
}
