// SPDX-License-Identifier: Apache-2.0

//go:build !race

package router_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Maximum numbers of memory allocations per call over HTTP with warm pools, including those
// for the test's own request and recorder. They grow only with the response and, for parse,
// with the number of words.
const (
	maxDiagnosisAllocations = 108
	maxParseAllocations     = 200
)

func TestAllocationLimits(t *testing.T) {
	synthetic := syntheticLibrary(t)
	for _, test := range []struct {
		path, body string
		handler    http.Handler
		ceiling    float64
	}{
		{"/v3/diagnosis", syntheticBodies(t, synthetic, 1)[0], fullHandler(t, synthetic), maxDiagnosisAllocations},
		{"/v3/parse", parseRequestBody("I have a headache for two days, no fever but it burns when I pee"), fullHandler(t, openLibrary(t)), maxParseAllocations},
	} {
		if fewest := minAllocations(t, test.handler, test.path, test.body); fewest > test.ceiling {
			t.Errorf("%s: %v allocations, ceiling %v", test.path, fewest, test.ceiling)
		}
	}
}

// minAllocations returns the minimum over many calls: a garbage collection during a call
// empties the pools. The race detector makes pools drop items, so it is not used here.
func minAllocations(t *testing.T, handler http.Handler, path, body string) float64 {
	send := func() {
		request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		benchHeaders(request)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Errorf("%s: got status %d: %s", path, recorder.Code, recorder.Body)
		}
	}
	fewest := math.Inf(1)
	for range 200 {
		fewest = min(fewest, testing.AllocsPerRun(1, send))
	}
	return fewest
}
