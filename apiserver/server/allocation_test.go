// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// diagnosisAllocations is the most memory allocations of a diagnosis over
// HTTP, those of the test's own request and recorder among them. They grow with
// the answer, and with nothing else.
const diagnosisAllocations = 110

func TestAllocationsHaveACeiling(t *testing.T) {
	library := syntheticLibrary(t)
	body := syntheticBodies(t, library, 1)[0]
	handler := fullHandler(t, library)
	got := testing.AllocsPerRun(100, func() { // after one run in which the memory grows
		request := httptest.NewRequest(http.MethodPost, "/v3/diagnosis", strings.NewReader(body))
		benchHeaders(request)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Errorf("answered %d: %s", recorder.Code, recorder.Body)
		}
	})
	if got > diagnosisAllocations {
		t.Errorf("%v allocations, ceiling %d", got, diagnosisAllocations)
	}
}
