// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// assessmentCalls are the calls that run an assessment.
var assessmentCalls = []string{
	"/v3/diagnosis", "/v3/triage", "/v3/recommend_specialist", "/v3/explain", "/v3/rationale", "/v3/suggest", "/v3/red_flags",
}

// withoutCallCapacity admits no calls.
func withoutCallCapacity(g *limiter.Limiter) { g.Calls = closedLimiter().Calls }

// TestOverloadReturnsRetryAfter checks that exceeding the limit on assessments or bytes
// yields Retry-After and not a client error.
func TestOverloadReturnsRetryAfter(t *testing.T) {
	t.Parallel()
	body := explainBody("c_4", "s_1 present initial")
	for name, test := range map[string]struct {
		edit func(*limiter.Limiter)
		want string
	}{
		"calls": {withoutCallCapacity, "overloaded"},
		"assessments": {func(g *limiter.Limiter) {
			calls, bodies := g.Calls, g.BodyBytes
			*g = *closedLimiter()
			g.Calls, g.BodyBytes = calls, bodies
		}, "too many concurrent assessments"},
		"body_bytes": {func(g *limiter.Limiter) { g.BodyBytes = closedLimiter().BodyBytes }, "too many request bodies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startServer(t, test.edit)
			for _, path := range assessmentCalls {
				got := r.do(t, post(path, body))
				expectError(t, got, http.StatusServiceUnavailable, test.want)
				if got.header.Get("Retry-After") != "2" {
					t.Errorf("%s: got Retry-After %q", path, got.header.Get("Retry-After"))
				}
			}
			if counted := r.usage.all(); len(counted) != 0 {
				t.Errorf("rejected calls were counted as usage: %v", counted)
			}
			if log := r.log.String(); strings.Contains(log, `"level":"ERROR"`) {
				t.Errorf("overload was logged as a server fault: %s", log)
			}
		})
	}
}

// TestCapacityIsReleased checks that a call releases its capacity regardless of its outcome.
func TestCapacityIsReleased(t *testing.T) {
	t.Parallel()
	limits := limiter.LimitsForMemory(0, 1)
	limits.Calls, limits.BodyBytes = 1, 200
	r := startServer(t, func(g *limiter.Limiter) { *g = *limiter.New(limits, func(limiter.Reason) {}) })
	good := interviewBody("s_1 present initial")
	panics := func() error { panic("fault") }
	for range 20 {
		r.do(t, post("/v3/diagnosis", good))
		r.do(t, post("/v3/diagnosis", interviewBody("s_99 present")))
		r.do(t, post("/v3/diagnosis", good+"rubbish"))
		expectError(t, r.do(t, post("/v3/diagnosis", good+strings.Repeat(" ", 200))), http.StatusServiceUnavailable, "too many request bodies")
		r.models.err.Store(&panics)
		r.do(t, post("/v3/diagnosis", good))
		r.models.err.Store(nil)
	}
	if got := r.do(t, post("/v3/diagnosis", good)); got.status != http.StatusOK {
		t.Errorf("got status %d: %s", got.status, got.body)
	}
}

// TestLightAssessmentsAreNotBlocked checks that assessments with much evidence are queued
// separately and do not delay others.
func TestLightAssessmentsAreNotBlocked(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, findings := range []int{11, 11, 21} { // there are two processors
		if err := r.limiter.Assessments(findings).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range assessmentCalls {
		if got := r.do(t, post(path, explainBody("c_4", "s_1 present initial"))); got.status != http.StatusOK {
			t.Errorf("%s: got status %d behind patients with much evidence", path, got.status)
		}
	}
}

// TestTooMuchEvidence checks that evidence up to the limit is accepted, and that the error
// for more evidence contains the limit and the actual number.
func TestTooMuchEvidence(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, path := range assessmentCalls {
		for want, items := range map[string][]string{
			"evidence: expected at most 500 items, got 501":                      repeat(501, "s_1 unknown"),
			"evidence: expected at most 500 items, got 9000":                     repeat(9000, "s_99 nonsense"),
			"evidence: expected at most 100 items that are present, got 101":     repeat(101, "s_1 present"),
			"evidence: expected at most 100 items that are present, got 500":     repeat(500, "s_1 present"),
			"evidence[0].choice_id: expected present, absent or unknown, got \"": repeat(101, "s_1 nonsense"),
		} {
			expectError(t, r.do(t, post(path, explainBody("c_4", items...))), http.StatusBadRequest, want)
		}
	}
	for _, items := range [][]string{repeat(500, "s_1 unknown"), append(repeat(100, "s_1 present initial"), repeat(400, "s_8 absent")...)} {
		if got := r.do(t, post("/v3/diagnosis", interviewBody(items...))); got.status != http.StatusOK {
			t.Errorf("%d items answered %d: %s", len(items), got.status, got.body)
		}
	}
}
