// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The most memory allocations of calls over HTTP when pooled memory is there,
// those of the test's own request and recorder among them. They grow with the
// answer and, of parse, with the words of the text, and with nothing else.
const (
	diagnosisAllocations = 105
	parseAllocations     = 200
)

func TestAllocationsHaveACeiling(t *testing.T) {
	synthetic := syntheticLibrary(t)
	for _, test := range []struct {
		path, body string
		handler    http.Handler
		ceiling    float64
	}{
		{"/v3/diagnosis", syntheticBodies(t, synthetic, 1)[0], fullHandler(t, synthetic), diagnosisAllocations},
		{"/v3/parse", typed("I have a headache for two days, no fever but it burns when I pee"), fullHandler(t, openLibrary(t)), parseAllocations},
	} {
		if least := leastAllocations(t, test.handler, test.path, test.body); least > test.ceiling {
			t.Errorf("%s: %v allocations, ceiling %v", test.path, least, test.ceiling)
		}
	}
}

// leastAllocations are those of the most thrifty of many calls: the race
// detector makes pools forget, so that an average would not do.
func leastAllocations(t *testing.T, handler http.Handler, path, body string) float64 {
	ask := func() {
		request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		benchHeaders(request)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Errorf("%s answered %d: %s", path, recorder.Code, recorder.Body)
		}
	}
	least := math.Inf(1)
	for range 200 {
		least = min(least, testing.AllocsPerRun(1, ask))
	}
	return least
}
