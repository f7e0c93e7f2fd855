// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// testConcurrentMigrations checks that replicas can open an empty database concurrently.
func testConcurrentMigrations(t *testing.T, fresh NewDatabase) {
	const replicas = 6
	url := fresh(t)
	var group sync.WaitGroup
	for range replicas {
		group.Go(func() {
			store, err := open.Open(t.Context(), url)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			err = store.AddUsage(t.Context(), newBatch(newCount("portal", "GET /v3/info", 1)))
			if err := errors.Join(err, store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	expectUsage(t, openStore(t, url), newCount("portal", "GET /v3/info", replicas))
}

// testNewerDatabase checks that a server rolled back to an older release works with the
// database of the newer one.
func testNewerDatabase(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	addUsage(t, store, newCount("portal", "GET /v3/info", 1))
	execSQL(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	store = openStore(t, url)
	addUsage(t, store, newCount("portal", "GET /v3/info", 1))
	expectUsage(t, store, newCount("portal", "GET /v3/info", 2))
}

// dropUserTables reverts the migrations from the fifth on.
func dropUserTables(url string) string {
	const tables = "DROP TABLE survey_notifications; DROP TABLE webhook_attempts; DROP TABLE webhooks;" +
		"DROP TABLE river_notification; DROP TABLE river_queue; DROP TABLE river_leader; DROP TABLE river_job;" +
		"DROP TABLE survey_counts; DROP TABLE survey_results; DROP TABLE survey_steps; DROP TABLE surveys;" +
		"DROP TABLE owner; DROP TABLE magic_codes; DROP TABLE sign_in_states; DROP TABLE audit; DROP TABLE patients; DROP TABLE user_hashes; DROP TABLE users;"
	if strings.HasPrefix(url, "sqlite:") {
		return tables
	}
	return tables + "DROP FUNCTION river_job_state_in_bitmask; DROP TYPE river_job_state;"
}

// testOlderDatabase checks that the database of an older server is migrated and keeps
// its data.
func testOlderDatabase(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	addUsage(t, openStore(t, url), newCount("portal", "GET /v3/info", 1))
	execSQL(t, url, dropUserTables(url)+"DROP TABLE interview_feedback; DROP TABLE usage_recorders; DELETE FROM goose_db_version WHERE version_id > 1")
	store := openStore(t, url)
	expectUsage(t, store, newCount("portal", "GET /v3/info", 1))
	putFeedback(t, store, newInterview("a", "label", 0))
	expectFeedback(t, store, 0, 10, 1, newInterview("a", "label", 0))
}

// testOlderFeedback checks that feedback stored before applications were recorded is
// kept without an application, in its position.
func testOlderFeedback(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	openStore(t, url)
	position, times := "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "timestamptz"
	received := "'2026-11-21T09:00:00.123456Z'"
	if strings.HasPrefix(url, "sqlite:") {
		position, times = "INTEGER PRIMARY KEY", "INTEGER"
		received = fmt.Sprint(newInterview("", "", 0).ReceivedAt.UnixMicro())
	}
	execSQL(t, url, dropUserTables(url)+"DROP TABLE interview_feedback; DELETE FROM goose_db_version WHERE version_id > 3;"+
		"CREATE TABLE interview_feedback (position "+position+", interview_id text NOT NULL UNIQUE,"+
		" patient_intent_before text NOT NULL, patient_intent_after text NOT NULL, received_at "+times+" NOT NULL);"+
		`INSERT INTO interview_feedback (interview_id, patient_intent_before, patient_intent_after, received_at)`+
		` VALUES ('a', '{"type":"custom","custom_label":"label"}', '{"type":"unknown"}', `+received+")")
	store := openStore(t, url)
	again := newInterview("a", "again", 1)
	putFeedback(t, store, again)
	expectFeedback(t, store, 0, 10, 2, withApplication("", newInterview("a", "label", 0)), again)
}

// execSQL changes a database directly, bypassing its store.
func execSQL(t *testing.T, url, statement string) {
	t.Helper()
	driver, name := "pgx", url
	if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		driver, name = "sqlite", path
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// testOwner checks that a database belongs to one Instance until another adopts it, and
// that a rejected open changes nothing.
func testOwner(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	for i, step := range []struct {
		owner   storage.Owner
		foreign string // UID of the current owner
	}{
		{storage.Owner{}, ""},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{}, ""},
		{storage.Owner{UID: "two"}, "one"},
		{storage.Owner{UID: "two", AdoptUIDs: []string{"three"}}, "one"},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{UID: "two", AdoptUIDs: []string{"three", "one"}}, ""},
		{storage.Owner{UID: "two"}, ""},
		{storage.Owner{UID: "one"}, "two"},
	} {
		store, err := open.New(url)
		if err != nil {
			t.Fatal(err)
		}
		err = store.Open(t.Context(), step.owner)
		var foreign *storage.WrongOwnerError
		switch {
		case step.foreign == "" && err != nil:
			t.Errorf("step %d: %v", i, err)
		case step.foreign != "" && (!errors.As(err, &foreign) || foreign.OwnerUID != step.foreign || foreign.RequestedUID != step.owner.UID):
			t.Errorf("step %d: got %v, want a WrongOwnerError for owner %s", i, err, step.foreign)
		case step.foreign != "" && !errors.Is(store.Ping(t.Context()), record.ErrNotOpen):
			t.Errorf("step %d: Ping on a store with another owner: want ErrNotOpen", i)
		}
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// testConcurrentOwners checks that exactly one of several Instances that open a new
// database concurrently becomes its owner.
func testConcurrentOwners(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	var group sync.WaitGroup
	var opened atomic.Int64
	for i := range 4 {
		group.Go(func() {
			store, err := open.New(url)
			if err == nil {
				err = store.Open(t.Context(), storage.Owner{UID: fmt.Sprint(i)})
			}
			var foreign *storage.WrongOwnerError
			switch {
			case err == nil:
				opened.Add(1)
			case !errors.As(err, &foreign):
				t.Error(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if opened.Load() != 1 {
		t.Errorf("%d Instances opened the database, want 1", opened.Load())
	}
}

func testPing(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	for range 3 {
		if err := store.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
	}
	expectUsage(t, store)
}

// testNotOpen checks that every method of an unopened store returns ErrNotOpen.
func testNotOpen(t *testing.T, fresh NewDatabase) {
	store, err := open.New(fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	_, usage := store.ListUsage(t.Context(), day, day)
	_, totals := store.ListUsageTotals(t.Context(), day, day, []string{"GET /v3/info"})
	_, _, feedback := store.ListFeedback(t.Context(), 0, 10)
	for method, err := range map[string]error{
		"Ping": store.Ping(t.Context()), "AddUsage": store.AddUsage(t.Context(), shuffledBatch(1)), "ListUsage": usage, "ListUsageTotals": totals,
		"PutFeedback": store.PutFeedback(t.Context(), newInterview("a", "label", 0)), "ListFeedback": feedback,
		"Transact": store.Transact(t.Context(), func(storage.Tx) error { return nil }),
		"View":     store.View(t.Context(), func(storage.Reader) error { return nil }),
	} {
		if !errors.Is(err, record.ErrNotOpen) {
			t.Errorf("%s: got error %v, want ErrNotOpen", method, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// testClosed checks that a closed store returns errors.
func testClosed(t *testing.T, fresh NewDatabase) {
	store, err := open.Open(t.Context(), fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := store.Ping(t.Context()); err == nil {
		t.Error("Ping: got no error, want one")
	}
	if err := store.AddUsage(t.Context(), shuffledBatch(1)); err == nil {
		t.Error("AddUsage: got no error, want one")
	}
	if _, err := store.ListUsage(t.Context(), day, day); err == nil {
		t.Error("ListUsage: got no error, want one")
	}
	if _, err := store.ListUsageTotals(t.Context(), day, day, []string{"GET /v3/info"}); err == nil {
		t.Error("ListUsageTotals: got no error, want one")
	}
	if err := store.PutFeedback(t.Context(), newInterview("a", "label", 0)); err == nil {
		t.Error("PutFeedback: got no error, want one")
	}
	if _, _, err := store.ListFeedback(t.Context(), 0, 10); err == nil {
		t.Error("ListFeedback: got no error, want one")
	}
	if err := store.Transact(t.Context(), func(storage.Tx) error { return nil }); err == nil {
		t.Error("Transact: got no error, want one")
	}
	if err := store.View(t.Context(), func(storage.Reader) error { return nil }); err == nil {
		t.Error("View: got no error, want one")
	}
}
