// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// triageFunc calls /v3/triage as an application and returns the response.
type triageFunc func(application string, header ...string) testResponse

func newTriageFunc(t *testing.T, a *testCA, r *runningServer) triageFunc {
	c := newClient(t, a, "h2")
	return func(application string, header ...string) testResponse {
		t.Helper()
		return mustSend(t, c, "POST", "https://"+r.tenant+"/v3/triage", headacheBody, appHeaders(application, header...)...)
	}
}

// TestPlans checks that a plan limits its applications across restarts, follows the
// configuration, and rejects calls with errors that clients can act on.
func TestPlans(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	writeFile(t, filepath.Join(directory, "credentials/kiosk.json"), `{"id": "kiosk", "key": "kiosk-key", "scopes": ["knowledge:read"], "plan": "trial", "devMode": true}`)
	writeFile(t, command.Config, "plans: {trial: {triage: 3}}")
	r := startServer(t, command)
	triage := newTriageFunc(t, a, r)
	for i := range 3 {
		triage("kiosk", "Dev-Mode", "true") // does not count
		if got := triage("kiosk"); got.status != http.StatusOK {
			t.Fatalf("call %d: got status %d: %s", i, got.status, got.body)
		}
	}
	for _, header := range [][]string{nil, {"Dev-Mode", "true"}, {"Content-Type", "text/plain"}} {
		got := triage("kiosk", header...)
		wait, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.status != http.StatusTooManyRequests || err != nil || wait < 1 || wait > 31*24*60*60 || !strings.Contains(got.body, `{"message":`) {
			t.Errorf("call beyond the limit with header %v: got status %d, Retry-After %q: %s", header, got.status, got.header.Get("Retry-After"), got.body)
		}
	}
	if got := triage("portal"); got.status != http.StatusOK {
		t.Errorf("application without a plan: got status %d, want 200", got.status)
	}
	metrics := func() string { return mustSend(t, newPlainClient(t), "GET", "http://"+r.admin+"/metrics", "").body }
	if want := `anamnesis_quota_exceeded_total{plan="trial",service="triage"} 3`; !strings.Contains(metrics(), want) {
		t.Errorf("metrics do not contain %s", want)
	}
	writeFile(t, command.Config, "plans: {trial: {triage: 4}}")
	eventually(t, "the plan allows one more call", func() bool { return triage("kiosk").status == http.StatusOK })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if calls := storedCalls(t, command, "kiosk"); calls != 4 {
		t.Errorf("%d calls are stored, want the 4 accepted calls", calls)
	}
	r = startServer(t, command)
	if got := newTriageFunc(t, a, r)("kiosk"); got.status != http.StatusTooManyRequests {
		t.Errorf("after a restart: got status %d: %s", got.status, got.body)
	}
}

// storedCalls returns the number of an application's calls to /v3/triage in the embedded
// database.
func storedCalls(t *testing.T, command Command, application string) (calls int64) {
	t.Helper()
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(command.DataDir, "anamnesis.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	today := civil.DateOf(time.Now())
	counts, err := store.ListUsage(t.Context(), today.AddDays(-1), today)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range counts {
		if count.Application == application && count.Endpoint == "POST /v3/triage" {
			calls += count.Calls
		}
	}
	return calls
}

// TestPlansWhileStorageIsDown checks that storage failures do not cause rejections.
func TestPlansWhileStorageIsDown(t *testing.T) {
	t.Parallel()
	a, directory, store := newTestCA(t), t.TempDir(), &flakyStore{}
	command := writeTenantFiles(t, a, directory)
	command.Database = "postgres://db"
	writeFile(t, filepath.Join(directory, "credentials/kiosk.json"), `{"id": "kiosk", "key": "kiosk-key", "scopes": ["knowledge:read"], "plan": "trial", "devMode": true}`)
	writeFile(t, command.Config, "plans: {trial: {triage: 1}}")
	r := startServer(t, command, func(o *options) { o.newStore = store.newStore })
	triage := newTriageFunc(t, a, r)
	eventually(t, "the limit is reached", func() bool { return triage("kiosk").status == http.StatusTooManyRequests })
	store.setError(errors.New("connection reset"))
	triage("portal") // triggers a flush, which fails
	eventually(t, "calls are admitted", func() bool { return triage("kiosk").status == http.StatusOK })
	for range 5 {
		if got := triage("kiosk"); got.status != http.StatusOK {
			t.Errorf("got status %d: %s", got.status, got.body)
		}
	}
	store.setError(nil)
	eventually(t, "the limit is reached again", func() bool { return triage("kiosk").status == http.StatusTooManyRequests })
}
