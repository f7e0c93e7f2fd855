// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
)

// fuzzed is the handler without a socket, whose answers must never be a fault
// and always keep to the contract.
func fuzzed(f *testing.F) func(t *testing.T, request *http.Request) {
	applications, err := identity.NewApplications(identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{}})
	if err != nil {
		f.Fatal(err)
	}
	checked, err := contract()
	if err != nil {
		f.Fatal(err)
	}
	r := start(f)
	handler := server.New(server.Options{
		Guidance: http.HandlerFunc(guidanceAnswers),
		Models:   r.library, Engine: engine.New(), Applications: applications, Usage: r.usage,
		AllowsOrigin: func(string) bool { return false }, Leaving: func() bool { return false },
		Observer: r.metrics, Log: slog.New(slog.DiscardHandler),
	})
	return func(t *testing.T, request *http.Request) {
		request.Header.Set("App-Id", "portal")
		request.Header.Set("App-Key", "portal-key")
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		body, err := io.ReadAll(recorder.Body)
		if err != nil {
			t.Fatal(err)
		}
		if recorder.Code >= 500 {
			t.Fatalf("answered %d: %s", recorder.Code, body)
		}
		if err := checked.Check(request, recorder.Code, recorder.Header(), body); err != nil {
			t.Fatalf("answered %d: %v: %s", recorder.Code, err, body)
		}
	}
}

func fuzzBody(f *testing.F, path string) {
	for _, seed := range []string{
		interview("s_1 present initial"),
		interview("s_1 present initial", "s_5 absent", "p_7 unknown predefined", "s_3 present", "s_6 present red_flags"),
		`{"sex": "male", "age": {"value": 0, "unit": "month"}, "evidence": null, "extras": {"interview_mode": "short_triage"}}`,
		`{"sex": "female", "age": {"value": 130, "unit": ""}, "extras": {"disable_groups": true, "enable_triage_3": true}}`,
		`{"sex": null, "age": null}`, `[]`, `null`, ``, `{"age": 1e400}`, "\xff", `{"evidence": [null]}`,
	} {
		f.Add(seed)
	}
	check := fuzzed(f)
	f.Fuzz(func(t *testing.T, body string) {
		check(t, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	})
}

func FuzzDiagnosisBody(f *testing.F) { fuzzBody(f, "/v3/diagnosis") }

func FuzzTriageBody(f *testing.F) { fuzzBody(f, "/v3/triage") }

func FuzzCatalogueQuery(f *testing.F) {
	for _, seed := range []string{
		"age.value=30", "age.value=5&age.unit=month&enable_triage_3=true&include_specialists=1",
		"ids=s_1,c_1&types=condition,symptom", "age.value=&ids=,,&types=,", "%zz=1;2", "ids=s_1&ids=s_2",
	} {
		f.Add("conditions", seed)
		f.Add("concepts", seed)
		f.Add("symptoms/s_1", seed)
	}
	check := fuzzed(f)
	f.Fuzz(func(t *testing.T, path, query string) {
		address := &url.URL{Scheme: "http", Host: "localhost", Path: "/v3/" + path, RawQuery: query}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), nil)
		if err != nil {
			return
		}
		check(t, request)
	})
}
