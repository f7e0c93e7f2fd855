// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// newFakeEngine starts a server that asks one question about a headache. It parses "head
// hurts" and "no fever", and its search finds the headache by a synonym.
func newFakeEngine(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	respond := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	mux.HandleFunc("GET /v3/search", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("phrase") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if r.FormValue("phrase") != "cephalgia" {
			respond("[]")(w, r)
			return
		}
		respond(`[{"id":"s_1","label":"Cephalgia"}]`)(w, r)
	})
	mux.HandleFunc("POST /v3/parse", func(w http.ResponseWriter, r *http.Request) {
		var body enginev3.ParseRequest
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		respond(fakeMentions(body))(w, r)
	})
	mux.HandleFunc("POST /v3/diagnosis", func(w http.ResponseWriter, r *http.Request) {
		var body enginev3.Interview
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if last := body.Evidence[len(body.Evidence)-1]; last.ID != "s_2" {
			respond(`{"question":{"type":"single","text":"Is it sudden?","items":[{"id":"s_2"}]},"conditions":[],"should_stop":false}`)(w, r)
			return
		}
		respond(`{"question":{"type":"single","text":"Anything else?","items":[{"id":"s_3"}]},"should_stop":true,
			"conditions":[{"id":"c_1","common_name":"Migraine","probability":0.5},{"id":"c_2","common_name":"Flu","probability":0.25}]}`)(w, r)
	})
	mux.HandleFunc("POST /v3/triage", respond(`{"triage_level":"consultation","root_cause":"consultation_condition_likely","serious":[]}`))
	mux.HandleFunc("POST /v3/recommend_specialist", respond(`{"recommended_specialist":{"id":"sp_17","name":"Neurologist"},"recommended_channel":"personal_visit"}`))
	mux.HandleFunc("POST /v3/explain", respond(`{"supporting_evidence":[{"common_name":"Headache"}],"conflicting_evidence":[{"common_name":"Sudden"}],"unconfirmed_evidence":[]}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// fakeMentions returns the mentions that the fake engine finds in the text. It finds the
// throbbing headache only if the request's context contains the headache.
func fakeMentions(body enginev3.ParseRequest) string {
	var mentions []string
	mention := func(words, fields string) {
		if strings.Contains(body.Text, words) {
			mentions = append(mentions, fmt.Sprintf(`{"orth":%q,%s}`, words, fields))
		}
	}
	mention("head hurts", `"id":"s_1","common_name":"Headache","choice_id":"present","type":"symptom"`)
	mention("no fever", `"id":"s_5","common_name":"Fever","choice_id":"absent","type":"symptom"`)
	mention("smoke", `"id":"p_1","common_name":"Smoking","choice_id":"present","type":"risk_factor"`)
	if slices.Contains(body.Context, "s_1") {
		mention("it throbs", `"id":"s_6","common_name":"Throbbing headache","choice_id":"present","type":"symptom"`)
	}
	return `{"mentions":[` + strings.Join(mentions, ",") + `],"obvious":false}`
}

// TestCollectComplaints checks which evidence the interview collects from the patient's
// own words before the first question.
func TestCollectComplaints(t *testing.T) {
	t.Parallel()
	const prompt = "What are your symptoms? > "
	for _, test := range []struct {
		name       string
		complaints []string
		typed      string
		want       string
		evidence   string
	}{
		{"one sentence", []string{"my head hurts, no fever, i smoke"}, "", `my head hurts, no fever, i smoke
  head hurts: Headache (s_1, present)
  no fever: Fever (s_5, absent)
  smoke: Smoking (p_1, present)
`, "s_1 present, s_5 absent, p_1 present"},
		{"several complaints", []string{"head hurts", "it throbs, the head hurts"}, "", `head hurts
  head hurts: Headache (s_1, present)
it throbs, the head hurts
  it throbs: Throbbing headache (s_6, present)
`, "s_1 present, s_6 present"},
		{"search", []string{"cephalgia"}, "", "cephalgia\n  cephalgia: Cephalgia (s_1, present)\n", "s_1 present"},
		{"prompt", nil, "my head hurts\n", prompt + "  head hurts: Headache (s_1, present)\n", "s_1 present"},
		{"prompt repeated", nil, "\nno fever\nmy head hurts\n", prompt + "  No symptoms recognized; please rephrase.\n" +
			prompt + "  no fever: Fever (s_5, absent)\n  No symptoms recognized; please rephrase.\n" +
			prompt + "  head hurts: Headache (s_1, present)\n", "s_5 absent, s_1 present"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			apiClient, err := (&interviewCommand{serverFlags: serverAt(newFakeEngine(t).URL)}).newClient()
			if err != nil {
				t.Fatal(err)
			}
			i := &interview{
				engine: apiClient.Engine, in: bufio.NewScanner(strings.NewReader(test.typed)), out: &out,
				request: enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34}},
			}
			if err := i.collectComplaints(t.Context(), test.complaints); err != nil {
				t.Error(err)
			}
			var evidence []string
			for _, e := range i.request.Evidence {
				evidence = append(evidence, e.ID+" "+string(e.ChoiceID))
				if *e.Source != enginev3.SourceInitial {
					t.Errorf("%s: got source %s, want %s", e.ID, *e.Source, enginev3.SourceInitial)
				}
			}
			if diff := cmp.Diff([]string{test.want, test.evidence}, []string{out.String(), strings.Join(evidence, ", ")}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestInterview(t *testing.T) {
	t.Parallel()
	server := newFakeEngine(t)
	for _, test := range []struct{ name, complaint, typed, want string }{
		{"complete", "head hurts", "what?\nn\n", `head hurts
  head hurts: Headache (s_1, present)

Is it sudden?
y, n, ? if unknown > y, n, ? if unknown > 
consultation, because of consultation_condition_likely
see: Neurologist (personal_visit)
  50.0 %  Migraine
            for: Headache
            against: Sudden
  25.0 %  Flu
`},
		{"end of input", "head hurts", "", `head hurts
  head hurts: Headache (s_1, present)

Is it sudden?
y, n, ? if unknown > 

consultation, because of consultation_condition_likely
see: Neurologist (personal_visit)
`},
	} {
		var out strings.Builder
		cmd := &interviewCommand{serverFlags: serverAt(server.URL), Sex: enginev3.SexFemale, Age: 34, Complaints: []string{test.complaint}}
		if err := cmd.Run(t.Context(), bufio.NewScanner(strings.NewReader(test.typed)), &out); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// TestReadErrorFailsInterview checks that a read error fails the interview and is not
// mistaken for the end of input.
func TestReadErrorFailsInterview(t *testing.T) {
	t.Parallel()
	cmd := &interviewCommand{serverFlags: serverAt(newFakeEngine(t).URL), Sex: enginev3.SexFemale, Age: 34, Complaints: []string{"head hurts"}}
	in := bufio.NewScanner(iotest.ErrReader(errors.New("terminal closed")))
	err := cmd.Run(t.Context(), in, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "terminal closed") {
		t.Errorf("got error %v, want the read error", err)
	}
}

func TestUnknownComplaint(t *testing.T) {
	t.Parallel()
	cmd := &interviewCommand{serverFlags: serverAt(newFakeEngine(t).URL), Sex: enginev3.SexMale, Age: 61, Complaints: []string{"moonstruck"}}
	err := cmd.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), `"moonstruck"`) {
		t.Errorf("got error %v, want one with the complaint", err)
	}
}

// TestMissingComplaint checks that the command fails at the end of input if the user
// entered no complaint.
func TestMissingComplaint(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"", "moonstruck\n"} {
		cmd := &interviewCommand{serverFlags: serverAt(newFakeEngine(t).URL), Sex: enginev3.SexMale, Age: 61}
		err := cmd.Run(t.Context(), bufio.NewScanner(strings.NewReader(typed)), &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), "missing complaint") {
			t.Errorf("input %q: got error %v, want a missing complaint", typed, err)
		}
	}
}

func TestServerRejectsRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"App-Id or App-Key is missing or wrong"}`))
	}))
	t.Cleanup(server.Close)
	cmd := &interviewCommand{serverFlags: serverAt(server.URL), Sex: enginev3.SexMale, Age: 61, Complaints: []string{"head hurts"}}
	err := cmd.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "403: App-Id or App-Key is missing or wrong") {
		t.Errorf("got error %v, want the server's message", err)
	}
}

// TestServerUnreachable checks that the error explains how to start the server.
func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	cmd := &interviewCommand{serverFlags: serverAt(server.URL), Sex: enginev3.SexMale, Age: 61, Complaints: []string{"head hurts"}}
	err := cmd.Run(t.Context(), bufio.NewScanner(strings.NewReader("")), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "go run ./apiserver serve --dev") {
		t.Errorf("got error %v, want one with the command that starts the server", err)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for want, cmd := range map[enginev3.AgeUnit]interviewCommand{enginev3.AgeUnitYear: {Age: 7}, enginev3.AgeUnitMonth: {Months: 7}} {
		if got := cmd.age(); got.Value != 7 || *got.Unit != want {
			t.Errorf("got %v, want 7 in the unit %s", got, want)
		}
	}
}
