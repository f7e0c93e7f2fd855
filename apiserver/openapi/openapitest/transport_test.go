// SPDX-License-Identifier: Apache-2.0

package openapitest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

func TestValidateResponse(t *testing.T) {
	t.Parallel()
	contract, err := Parse(openapi.EngineV3)
	if err != nil {
		t.Fatal(err)
	}
	const concept = `{"id": "s_1", "type": "symptom", "name": "A", "common_name": "B", "extras": {}}`
	for _, test := range []struct {
		name, method, path string
		status             int
		body               string
		problem            string // substring of the error; empty if none is expected
	}{
		{"right", "GET", "/v3/concepts/s_1", 200, concept, ""},
		{"right list", "GET", "/v3/concepts", 200, "[" + concept + "]", ""},
		{"right error", "GET", "/v3/concepts/s_1", 404, `{"message": "no"}`, ""},
		{"missing field", "GET", "/v3/concepts/s_1", 200, strings.Replace(concept, `"name": "A", `, "", 1), "name"},
		{"wrong enum", "GET", "/v3/concepts/s_1", 200, strings.Replace(concept, `"symptom"`, `"illness"`, 1), "type"},
		{"wrong id", "GET", "/v3/concepts/s_1", 200, strings.Replace(concept, `"s_1"`, `"x_1"`, 1), "id"},
		{"unnamed field", "GET", "/v3/concepts/s_1", 200, strings.Replace(concept, `{`, `{"more": 1, `, 1), "more"},
		{"unnamed extra", "GET", "/v3/concepts/s_1", 200, strings.Replace(concept, `{}`, `{"more": 1}`, 1), "more"},
		{"null for a list", "GET", "/v3/concepts", 200, "null", "null"},
		{"undeclared status", "GET", "/v3/concepts/s_1", 409, `{"message": "no"}`, "status is not supported"},
		{"wrong error", "GET", "/v3/concepts/s_1", 404, `{"error": "no"}`, "message"},
		{"unknown path", "GET", "/v3/nothing", 404, `{"message": "no"}`, ""},
		{"unknown path answered", "GET", "/v3/nothing", 200, `{}`, "expected status 404"},
		{"unknown path, wrong error", "GET", "/v3/nothing", 404, `{"error": "no"}`, "message"},
		{"unknown path, not JSON", "GET", "/v3/nothing", 404, `not found`, "expected JSON"},
		{"unknown method", "PUT", "/v3/concepts", 405, `{"message": "no"}`, ""},
		{"unknown method answered", "PUT", "/v3/concepts", 200, `[]`, "expected status 405"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequest(test.method, "http://localhost"+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{"Content-Type": {"application/json"}, "Allow": {"GET"}}
			err = contract.ValidateResponse(request, test.status, header, []byte(test.body))
			switch {
			case test.problem == "" && err != nil:
				t.Errorf("response was rejected: %v", err)
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("got error %v, want it to contain %q", err, test.problem)
			}
		})
	}
}

func TestValidateResponseHeaders(t *testing.T) {
	t.Parallel()
	contract, err := Parse(openapi.EngineV3)
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]http.Header{
		"no Allow":   {"Content-Type": {"application/json"}},
		"plain text": {"Content-Type": {"text/plain"}, "Allow": {"GET"}},
	} {
		request, err := http.NewRequest(http.MethodPut, "http://localhost/v3/concepts", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := contract.ValidateResponse(request, 405, header, []byte(`{"message": "no"}`)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	contract, err := Parse(openapi.EngineV3)
	if err != nil {
		t.Fatal(err)
	}
	operations := contract.Operations()
	for operation, want := range map[string][]int{
		"GET /v3/info":                 {200, 400, 403, 405, 429, 500, 503},
		"GET /v3/concepts/{id}":        {200, 400, 403, 404, 405, 429, 500, 503},
		"POST /v3/interviews/feedback": {200, 400, 403, 405, 413, 422, 429, 500, 503},
		"POST /v3/info":                nil,
	} {
		if got := operations[operation]; !slices.Equal(got, want) {
			t.Errorf("%s: got status codes %v, want %v", operation, got, want)
		}
	}
}

func TestParseRejectsInvalidContracts(t *testing.T) {
	t.Parallel()
	for name, contract := range map[string]string{
		"not YAML":     "\t",
		"not OpenAPI":  "openapi: 3.1.0",
		"no Error":     "openapi: 3.1.0\ninfo: {title: a, version: '1'}\npaths: {}\ncomponents: {schemas: {}}",
		"broken $ref":  strings.Replace(string(openapi.EngineV3), "schemas/Error'", "schemas/Nothing'", 1),
		"bad example":  strings.Replace(string(openapi.EngineV3), "{value: 6, unit: hour}", "{value: 6, unit: age}", 1),
		"unknown type": strings.Replace(string(openapi.EngineV3), "type: integer", "type: whole", 1),
	} {
		if _, err := Parse([]byte(contract)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
