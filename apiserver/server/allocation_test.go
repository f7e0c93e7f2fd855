// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// diagnosisAllocations is the most memory allocations of a diagnosis over
// HTTP when pooled memory is there, those of the test's own request and
// recorder among them. They grow with the answer, and with nothing else.
const diagnosisAllocations = 105

func TestAllocationsHaveACeiling(t *testing.T) {
	library := syntheticLibrary(t)
	body := syntheticBodies(t, library, 1)[0]
	handler := fullHandler(t, library)
	ask := func() {
		request := httptest.NewRequest(http.MethodPost, "/v3/diagnosis", strings.NewReader(body))
		benchHeaders(request)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Errorf("answered %d: %s", recorder.Code, recorder.Body)
		}
	}
	least := math.Inf(1)
	for range 200 { // the race detector makes pools forget, so that an average would not do
		least = min(least, testing.AllocsPerRun(1, ask))
	}
	if least > diagnosisAllocations {
		t.Errorf("%v allocations, ceiling %d", least, diagnosisAllocations)
	}
}
