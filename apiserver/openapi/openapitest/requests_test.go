// SPDX-License-Identifier: Apache-2.0

package openapitest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

func TestValidateRequest(t *testing.T) {
	t.Parallel()
	contract, err := Parse(openapi.EngineV3)
	if err != nil {
		t.Fatal(err)
	}
	const patient = `{"sex": "female", "age": {"value": 34}}`
	for _, test := range []struct {
		name, method, path, body string
		problem                  string // substring of the error; empty if none is expected
	}{
		{"right", "POST", "/v3/diagnosis", patient, ""},
		{"right, of two parts", "POST", "/v3/explain", strings.Replace(patient, "{", `{"target": "c_1", `, 1), ""},
		{"right, with a query", "GET", "/v3/search?phrase=cough&age.value=34", "", ""},
		{"no body", "POST", "/v3/diagnosis", "", "body"},
		{"missing field", "POST", "/v3/explain", patient, "target"},
		{"wrong enum", "POST", "/v3/diagnosis", strings.Replace(patient, "female", "woman", 1), "sex"},
		{"missing parameter", "GET", "/v3/search?age.value=34", "", "phrase"},
		{"wrong parameter", "GET", "/v3/search?phrase=cough&age.value=old", "", "age.value"},
		{"unknown path", "GET", "/v3/nothing", "", "finding the operation"},
		{"unknown method", "PUT", "/v3/diagnosis", patient, "finding the operation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequest(test.method, "http://localhost"+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			err = contract.ValidateRequest(request)
			switch {
			case test.problem == "" && err != nil:
				t.Errorf("request was rejected: %v", err)
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("got error %v, want it to contain %q", err, test.problem)
			}
		})
	}
}
