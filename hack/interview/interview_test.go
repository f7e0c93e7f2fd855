// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// A clinic is a server that asks one question about a headache.
func clinic(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	say := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }
	}
	mux.HandleFunc("GET /v3/search", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("phrase") != "head hurts" {
			say("[]")(w, r)
			return
		}
		say(`[{"id":"s_1","label":"head hurts"}]`)(w, r)
	})
	mux.HandleFunc("POST /v3/diagnosis", func(w http.ResponseWriter, r *http.Request) {
		var body enginev3.Interview
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if len(*body.Evidence) == 1 {
			say(`{"question":{"type":"single","text":"Is it sudden?","items":[{"id":"s_2"}]},"conditions":[],"should_stop":false}`)(w, r)
			return
		}
		say(`{"question":{"type":"single","text":"Anything else?","items":[{"id":"s_3"}]},"should_stop":true,
			"conditions":[{"id":"c_1","common_name":"Migraine","probability":0.5},{"id":"c_2","common_name":"Flu","probability":0.25}]}`)(w, r)
	})
	mux.HandleFunc("POST /v3/triage", say(`{"triage_level":"consultation","root_cause":"consultation_condition_likely","serious":[]}`))
	mux.HandleFunc("POST /v3/recommend_specialist", say(`{"recommended_specialist":{"id":"sp_17","name":"Neurologist"},"recommended_channel":"personal_visit"}`))
	mux.HandleFunc("POST /v3/explain", say(`{"supporting_evidence":[{"common_name":"Headache"}],"conflicting_evidence":[{"common_name":"Sudden"}],"unconfirmed_evidence":[]}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestInterview(t *testing.T) {
	t.Parallel()
	server := clinic(t)
	for _, test := range []struct{ name, complaint, typed, want string }{
		{"to the end", "head hurts", "what?\nn\n", `head hurts: head hurts (s_1)

Is it sudden?
y, n, ? if not known > y, n, ? if not known > 
consultation, because of consultation_condition_likely
see: Neurologist (personal_visit)
  50.0 %  Migraine
            for: Headache
            against: Sudden
  25.0 %  Flu
`},
		{"broken off", "head hurts", "", `head hurts: head hurts (s_1)

Is it sudden?
y, n, ? if not known > 

consultation, because of consultation_condition_likely
see: Neurologist (personal_visit)
`},
	} {
		var out strings.Builder
		asked := &command{URL: server.URL, Sex: enginev3.SexFemale, Age: 34, Complaints: []string{test.complaint}}
		if err := asked.Run(t.Context(), bufio.NewScanner(strings.NewReader(test.typed)), &out); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// What cannot be read is not the end of the answers.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	asked := &command{URL: clinic(t).URL, Sex: enginev3.SexFemale, Age: 34, Complaints: []string{"head hurts"}}
	in := bufio.NewScanner(iotest.ErrReader(errors.New("the terminal is gone")))
	err := asked.Run(t.Context(), in, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "the terminal is gone") {
		t.Errorf("got %v, want what became of the answers", err)
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	asked := &command{URL: clinic(t).URL, Sex: enginev3.SexMale, Age: 61, Complaints: []string{"moonstruck"}}
	err := asked.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), `"moonstruck"`) {
		t.Errorf("got %v, want an error that names the complaint", err)
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"App-Id or App-Key is missing or wrong"}`))
	}))
	t.Cleanup(server.Close)
	asked := &command{URL: server.URL, Sex: enginev3.SexMale, Age: 61, Complaints: []string{"head hurts"}}
	err := asked.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "403: App-Id or App-Key is missing or wrong") {
		t.Errorf("got %v, want the server's words", err)
	}
}
