// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// A fakeSurveyServer serves a survey with the given questions.
type fakeSurveyServer struct {
	questions []string
	answers   []string // raw, in order of arrival
}

const surveyID = "b8d3d7dd-ee0c-4a36-89ff-1c412fb46442"

func (s *fakeSurveyServer) start(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	respond := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	id := uuid.NewString()
	mux.HandleFunc("POST /api/auth/token", respond(200, `{"access_token":"x","token_type":"Bearer","expires_in":3600}`))
	mux.HandleFunc("POST /api/mgp/v1/users", respond(201, `{"id":"`+id+`","email":null,"phone":null}`))
	mux.HandleFunc("POST /api/mgp/v1/patients", respond(201, `{"id":"`+id+`"}`))
	mux.HandleFunc("POST /api/mgp/v1/surveys", respond(201, `{"id":"`+surveyID+`"}`))
	mux.HandleFunc("GET /api/mgp/v1/surveys/"+surveyID+"/questions/current", func(w http.ResponseWriter, r *http.Request) {
		respond(200, s.questions[0])(w, r)
	})
	mux.HandleFunc("POST /api/mgp/v1/surveys/"+surveyID+"/questions/current", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Answer json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		s.answers = append(s.answers, string(body.Answer))
		switch s.questions = s.questions[1:]; {
		case string(body.Answer) == "999":
			s.questions = append([]string{""}, s.questions...)
			respond(422, `{"detail":"not valid: answer","errors":[{"field":"answer","message":"expected a number up to 130"}]}`)(w, r)
		case len(s.questions) == 0:
			w.WriteHeader(http.StatusNoContent)
		default:
			respond(200, s.questions[0])(w, r)
		}
	})
	mux.HandleFunc("GET /api/mgp/v1/knowledge/drugs", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") == "aspirin" && r.FormValue("language") == "en" {
			respond(200, `{"items":[{"id":"d_1","name":"Aspirin"}]}`)(w, r)
			return
		}
		respond(200, `{"items":[]}`)(w, r)
	})
	mux.HandleFunc("GET /api/mgp/v1/surveys/"+surveyID+"/evidence_assessment", respond(200, `{"conditions":[{"id":"c_1","common_name":"Migraine","probability":0.5}],
		"triage":{"level":"consultation","root_cause":"consultation_condition_likely"},"recommended_specialist":{"id":"sp_1","name":"Neurologist"},"recommended_channel":"personal_visit"}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func questionJSON(kind, meta string) string {
	return fmt.Sprintf(`{"id":"q","index":0,"question":{"text":"%s?"},"answer_type":%q,"meta":{%s}}`, kind, kind, meta)
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	options := `"answers":[{"id":"a","label":"First"},{"id":"b","name":"Second"}]`
	s := &fakeSurveyServer{questions: []string{
		questionJSON("number", `"required":true`), questionJSON("choice", `"required":true,`+options), questionJSON("multiple_choice", `"required":false,`+options),
		questionJSON("list", `"required":false,"source_list_url":"http://x/api/mgp/v1/knowledge/drugs?language=en&sex=female"`), questionJSON("text", `"required":false`),
		questionJSON("symptoms", `"required":true,"component":"single",`+options), questionJSON("symptoms", `"required":true,"component":"group_multiple",`+options),
		questionJSON("symptoms", `"required":true,"component":"group_single",`+options),
	}}
	server := s.start(t)
	typed := []string{
		"", "old", "999", "34", // number
		"3", "1 2", "2", // single choice
		"", // skipped
		"asprin pills", "aspirin",
		"since Monday",
		"1", "y",
		"9", "1, 2",
		"?",
	}
	var out strings.Builder
	c := &surveyCommand{serverFlags: serverAt(server.URL), Type: "triage"}
	if err := c.Run(t.Context(), bufio.NewScanner(strings.NewReader(strings.Join(typed, "\n"))), &out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"999", "34", `{"id":"b"}`, "null", `[{"id":"d_1"}]`, `"since Monday"`, `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`,
		`[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`, `[{"id":"a","choice_id":"unknown"},{"id":"b","choice_id":"unknown"}]`,
	}
	if diff := cmp.Diff(want, s.answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"expected a number up to 130", "no match for \"asprin pills\"", "  1  First\n  2  Second\n", "consultation, because of consultation_condition_likely\n",
		"see: Neurologist (personal_visit)", "  50.0 %  Migraine\n", "the survey is " + surveyID,
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("output does not contain %q:\n%s", part, out.String())
		}
	}
}

func serverAt(url string) serverFlags {
	return serverFlags{URL: url, AppID: "dev", AppKey: "dev-key", Instance: "demo"}
}

// TestSurveyStopsAtEndOfInput checks that the survey stays open when the input ends.
func TestSurveyStopsAtEndOfInput(t *testing.T) {
	t.Parallel()
	s := &fakeSurveyServer{questions: []string{questionJSON("text", `"required":true`)}}
	var out strings.Builder
	c := &surveyCommand{serverFlags: serverAt(s.start(t).URL), Type: "intake"}
	if err := c.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &out); err != nil || !strings.Contains(out.String(), surveyID+" is waiting for an answer") {
		t.Errorf("got error %v, output %q", err, out.String())
	}
}
