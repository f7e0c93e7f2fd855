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

// A practice is a server with a survey of the questions that it is given.
type practice struct {
	questions []string
	answers   []string // as they came
}

const surveyID = "b8d3d7dd-ee0c-4a36-89ff-1c412fb46442"

func (p *practice) serve(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	say := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	id := uuid.NewString()
	mux.HandleFunc("POST /api/auth/token", say(200, `{"access_token":"x","token_type":"Bearer","expires_in":3600}`))
	mux.HandleFunc("POST /api/mgp/v1/users", say(201, `{"id":"`+id+`","email":null,"phone":null}`))
	mux.HandleFunc("POST /api/mgp/v1/patients", say(201, `{"id":"`+id+`"}`))
	mux.HandleFunc("POST /api/mgp/v1/surveys", say(201, `{"id":"`+surveyID+`"}`))
	mux.HandleFunc("GET /api/mgp/v1/surveys/"+surveyID+"/questions/current", func(w http.ResponseWriter, r *http.Request) {
		say(200, p.questions[0])(w, r)
	})
	mux.HandleFunc("POST /api/mgp/v1/surveys/"+surveyID+"/questions/current", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Answer json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		p.answers = append(p.answers, string(body.Answer))
		switch p.questions = p.questions[1:]; {
		case string(body.Answer) == "999":
			p.questions = append([]string{""}, p.questions...)
			say(422, `{"detail":"not valid: answer","errors":[{"field":"answer","message":"expected a number up to 130"}]}`)(w, r)
		case len(p.questions) == 0:
			w.WriteHeader(http.StatusNoContent)
		default:
			say(200, p.questions[0])(w, r)
		}
	})
	mux.HandleFunc("GET /api/mgp/v1/knowledge/drugs", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") == "aspirin" && r.FormValue("language") == "en" {
			say(200, `{"items":[{"id":"d_1","name":"Aspirin"}]}`)(w, r)
			return
		}
		say(200, `{"items":[]}`)(w, r)
	})
	mux.HandleFunc("GET /api/mgp/v1/surveys/"+surveyID+"/evidence_assessment", say(200, `{"conditions":[{"id":"c_1","common_name":"Migraine","probability":0.5}],
		"triage":{"level":"consultation","root_cause":"consultation_condition_likely"},"recommended_specialist":{"id":"sp_1","name":"Neurologist"},"recommended_channel":"personal_visit"}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func aQuestion(kind, meta string) string {
	return fmt.Sprintf(`{"id":"q","index":0,"question":{"text":"%s?"},"answer_type":%q,"meta":{%s}}`, kind, kind, meta)
}

func TestWalk(t *testing.T) {
	t.Parallel()
	options := `"answers":[{"id":"a","label":"First"},{"id":"b","name":"Second"}]`
	p := &practice{questions: []string{
		aQuestion("number", `"required":true`), aQuestion("choice", `"required":true,`+options), aQuestion("multiple_choice", `"required":false,`+options),
		aQuestion("list", `"required":false,"source_list_url":"http://x/api/mgp/v1/knowledge/drugs?language=en&sex=female"`), aQuestion("text", `"required":false`),
		aQuestion("symptoms", `"required":true,"component":"single",`+options), aQuestion("symptoms", `"required":true,"component":"group_multiple",`+options),
		aQuestion("symptoms", `"required":true,"component":"group_single",`+options),
	}}
	server := p.serve(t)
	typed := []string{
		"", "old", "999", "34", // a number
		"3", "1 2", "2", // one of two
		"", // skipped
		"asprin pills", "aspirin",
		"since Monday",
		"1", "y",
		"9", "1, 2",
		"?",
	}
	var out strings.Builder
	c := &surveyCommand{server: at(server.URL), Type: "triage"}
	if err := c.Run(t.Context(), bufio.NewScanner(strings.NewReader(strings.Join(typed, "\n"))), &out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"999", "34", `{"id":"b"}`, "null", `[{"id":"d_1"}]`, `"since Monday"`, `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`,
		`[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`, `[{"id":"a","choice_id":"unknown"},{"id":"b","choice_id":"unknown"}]`,
	}
	if diff := cmp.Diff(want, p.answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"expected a number up to 130", "nothing is known by the name \"asprin pills\"", "  1  First\n  2  Second\n", "consultation, because of consultation_condition_likely\n",
		"see: Neurologist (personal_visit)", "  50.0 %  Migraine\n", "the survey is " + surveyID,
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("shows no %q:\n%s", part, out.String())
		}
	}
}

func at(url string) server {
	return server{URL: url, AppID: "dev", AppKey: "dev-key", Instance: "demo"}
}

// Who types no more leaves the survey where it is.
func TestWalkIsLeft(t *testing.T) {
	t.Parallel()
	p := &practice{questions: []string{aQuestion("text", `"required":true`)}}
	var out strings.Builder
	c := &surveyCommand{server: at(p.serve(t).URL), Type: "intake"}
	if err := c.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &out); err != nil || !strings.Contains(out.String(), surveyID+" waits") {
		t.Errorf("%v: %s", err, out.String())
	}
}
