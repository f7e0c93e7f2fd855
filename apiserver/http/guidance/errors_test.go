// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
)

// TestInternalErrors checks that a server fault is logged, and that the response has the
// error format of the path and does not reveal the cause.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	contract, err := openapitest.Parse(openapi.Guidance)
	if err != nil {
		t.Fatal(err)
	}
	for path, method := range map[string]string{tokenPath: "POST", "/api/mgp/v1/usage": "GET", "/.well-known/jwks.json": "GET"} {
		var log bytes.Buffer
		h := handlers{Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		request := httptest.NewRequest(method, path, nil)
		recorder := httptest.NewRecorder()
		h.internalError(recorder, request, errors.New("disk failure"))
		if err := contract.ValidateResponse(request, recorder.Code, recorder.Header(), recorder.Body.Bytes()); recorder.Code != 500 || err != nil {
			t.Errorf("%s: got status %d %s: %v", path, recorder.Code, recorder.Body, err)
		}
		if strings.Contains(recorder.Body.String(), "disk failure") || strings.Count(log.String(), "disk failure") != 1 {
			t.Errorf("%s: got response %s and log %s", path, recorder.Body, &log)
		}
	}
}
