// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
)

// everyInterview are the calls that are assessed.
var everyInterview = []string{
	"/v3/diagnosis", "/v3/triage", "/v3/recommend_specialist", "/v3/explain", "/v3/rationale", "/v3/suggest", "/v3/red_flags",
}

// noCalls has no room for any call.
func noCalls(g *guard.Guard) { g.Calls = closed().Calls }

// Where there are too many assessments, and where there are too many bytes, it
// is said when to come back, and not that anything is wrong.
func TestBusy(t *testing.T) {
	t.Parallel()
	body := targeted("c_4", "s_1 present initial")
	for name, test := range map[string]struct {
		edit func(*guard.Guard)
		want string
	}{
		"calls": {noCalls, "too many calls"},
		"assessments": {func(g *guard.Guard) {
			calls, bodies := g.Calls, g.Bodies
			*g = *closed()
			g.Calls, g.Bodies = calls, bodies
		}, "too many assessments"},
		"body_bytes": {func(g *guard.Guard) { g.Bodies = closed().Bodies }, "too many bodies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, test.edit)
			for _, path := range everyInterview {
				got := r.do(t, post(path, body))
				expectError(t, got, http.StatusServiceUnavailable, test.want)
				if got.header.Get("Retry-After") != "2" {
					t.Errorf("%s: Retry-After is %q", path, got.header.Get("Retry-After"))
				}
			}
			if counted := r.usage.all(); len(counted) != 0 {
				t.Errorf("calls that were turned away are counted as usage: %v", counted)
			}
			if log := r.log.String(); strings.Contains(log, `"level":"ERROR"`) {
				t.Errorf("being busy is logged as a fault: %s", log)
			}
		})
	}
}

// A call gives back what it took, however it ends.
func TestRoomIsGivenBack(t *testing.T) {
	t.Parallel()
	limits := guard.LimitsFor(0, 1)
	limits.Calls, limits.BodyBytes = 1, 200
	r := start(t, func(g *guard.Guard) { *g = *guard.New(limits, func(guard.Reason) {}) })
	good := interview("s_1 present initial")
	panics := func() error { panic("fault") }
	for range 20 {
		r.do(t, post("/v3/diagnosis", good))
		r.do(t, post("/v3/diagnosis", interview("s_99 present")))
		r.do(t, post("/v3/diagnosis", good+"rubbish"))
		expectError(t, r.do(t, post("/v3/diagnosis", good+strings.Repeat(" ", 200))), http.StatusServiceUnavailable, "too many bodies")
		r.models.fault.Store(&panics)
		r.do(t, post("/v3/diagnosis", good))
		r.models.fault.Store(nil)
	}
	if got := r.do(t, post("/v3/diagnosis", good)); got.status != http.StatusOK {
		t.Errorf("answered %d: %s", got.status, got.body)
	}
}

// Patients with much evidence wait for each other, and the others pass them by.
func TestLittleEvidencePasses(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, findings := range []int{11, 11, 21} { // there are two processors
		if err := r.guard.Lane(findings).Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range everyInterview {
		if got := r.do(t, post(path, targeted("c_4", "s_1 present initial"))); got.status != http.StatusOK {
			t.Errorf("%s answered %d behind patients with much evidence", path, got.status)
		}
	}
}

// So much evidence is taken, and the answer to more names the limit and what
// was sent.
func TestTooMuchEvidence(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, path := range everyInterview {
		for want, items := range map[string][]string{
			"evidence: expected at most 500 items, got 501":                      repeated(501, "s_1 unknown"),
			"evidence: expected at most 500 items, got 9000":                     repeated(9000, "s_99 nonsense"),
			"evidence: expected at most 100 items that are present, got 101":     repeated(101, "s_1 present"),
			"evidence: expected at most 100 items that are present, got 500":     repeated(500, "s_1 present"),
			"evidence[0].choice_id: expected present, absent or unknown, got \"": repeated(101, "s_1 nonsense"),
		} {
			expectError(t, r.do(t, post(path, targeted("c_4", items...))), http.StatusBadRequest, want)
		}
	}
	for _, items := range [][]string{repeated(500, "s_1 unknown"), append(repeated(100, "s_1 present initial"), repeated(400, "s_8 absent")...)} {
		if got := r.do(t, post("/v3/diagnosis", interview(items...))); got.status != http.StatusOK {
			t.Errorf("%d items answered %d: %s", len(items), got.status, got.body)
		}
	}
}
