// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeMeter rejects calls if wait is set and admits them otherwise, and records its calls.
type fakeMeter struct {
	wait   time.Duration
	events []string
}

func (meter *fakeMeter) Begin(application, endpoint string, counts bool) (func(bool), time.Duration) {
	meter.events = append(meter.events, fmt.Sprintf("%s %s counts %v", application, endpoint, counts))
	if meter.wait > 0 {
		return nil, meter.wait
	}
	return func(counted bool) { meter.events = append(meter.events, fmt.Sprintf("counted %v", counted)) }, 0
}

// serve handles a call of the portal to /v3/triage, and returns the panic value.
func (meter *fakeMeter) serve(handler http.HandlerFunc, devMode bool) (recorder *httptest.ResponseRecorder, panicked any) {
	reject := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
	known := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := RequestInfoFrom(r.Context())
			info.Application, info.Endpoint, info.DevMode = "portal", "POST /v3/triage", devMode
			next.ServeHTTP(w, r)
		})
	}
	request := httptest.NewRequest(http.MethodPost, "/v3/triage", nil)
	recorder = httptest.NewRecorder()
	defer func() { panicked = recover() }()
	WithRequestInfo(known(MeterUsage(meter, reject)(handler))).ServeHTTP(recorder, request)
	return recorder, nil
}

// TestMeterUsage checks that each call begins and ends once, and is counted by its outcome.
func TestMeterUsage(t *testing.T) {
	t.Parallel()
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, test := range map[string]struct {
		handler         http.HandlerFunc
		devMode         bool
		counts, counted bool
	}{
		"a good answer":           {answers(200), false, true, true},
		"a body without a status": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, false, true, true},
		"nothing at all":          {func(http.ResponseWriter, *http.Request) {}, false, true, true},
		"a mistake of the client": {answers(400), false, true, true},
		"a fault":                 {answers(500), false, true, false},
		"storage away":            {answers(503), false, true, false},
		"a panic":                 {func(http.ResponseWriter, *http.Request) { panic("fault") }, false, true, false},
		"a panic after an answer": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK); panic("fault") }, false, true, false},
		"development":             {answers(200), true, false, false},
		"development that fails":  {answers(500), true, false, false},
	} {
		meter := &fakeMeter{}
		_, panicked := meter.serve(test.handler, test.devMode)
		want := []string{fmt.Sprintf("portal POST /v3/triage counts %v", test.counts), fmt.Sprintf("counted %v", test.counted)}
		if diff := cmp.Diff(want, meter.events); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if panicked != nil && panicked != "fault" {
			t.Errorf("%s: panicked with %v", name, panicked)
		}
	}
}

// TestMeterUsageRejectsOverLimit checks that a rejected call reaches no handler and gets a
// Retry-After in whole seconds, rounded up.
func TestMeterUsageRejectsOverLimit(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		1: "1", time.Second: "1", time.Second + 1: "2", 30 * 24 * time.Hour: "2592000", 30*24*time.Hour - time.Millisecond: "2592000",
	} {
		meter := &fakeMeter{wait: wait}
		recorder, _ := meter.serve(func(http.ResponseWriter, *http.Request) { t.Error("handler was called") }, false)
		if recorder.Code != http.StatusTooManyRequests || recorder.Header().Get("Retry-After") != want || len(meter.events) != 1 {
			t.Errorf("%v: got status %d, Retry-After %q, want %s; got events %v", wait, recorder.Code, recorder.Header().Get("Retry-After"), want, meter.events)
		}
	}
}

// TestOnAuthenticated checks that the callback is called for authenticated callers, including
// end users.
func TestOnAuthenticated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call RequestInfo
		want bool
	}{
		"anonymous":      {RequestInfo{Endpoint: "GET /v3/info"}, false},
		"an application": {RequestInfo{Application: "portal"}, true},
		"an end user":    {RequestInfo{EndUser: true}, true},
	} {
		known := false
		proves := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { *RequestInfoFrom(r.Context()) = test.call })
		handler := WithRequestInfo(OnAuthenticated(func(context.Context) { known = true })(proves))
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if known != test.want {
			t.Errorf("%s: callback called: %v", name, known)
		}
	}
}
