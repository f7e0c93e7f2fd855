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

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// Replicas that find an empty database at once all get to use it.
func testRacingMigrations(t *testing.T, fresh Fresh) {
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
			err = store.AddUsage(t.Context(), batch(count("portal", "GET /v3/info", 1)))
			if err := errors.Join(err, store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	wantKept(t, opened(t, url), count("portal", "GET /v3/info", replicas))
}

// A server that was put back to an older release goes on with the database
// that the newer one left.
func testNewerDatabase(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	add(t, store, count("portal", "GET /v3/info", 1))
	execute(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	store = opened(t, url)
	add(t, store, count("portal", "GET /v3/info", 1))
	wantKept(t, store, count("portal", "GET /v3/info", 2))
}

// dropPeople undoes the migrations from the fifth on.
func dropPeople(url string) string {
	const tables = "DROP TABLE survey_notifications; DROP TABLE webhook_attempts; DROP TABLE webhooks;" +
		"DROP TABLE river_notification; DROP TABLE river_queue; DROP TABLE river_leader; DROP TABLE river_job;" +
		"DROP TABLE survey_counts; DROP TABLE survey_results; DROP TABLE survey_steps; DROP TABLE surveys;" +
		"DROP TABLE owner; DROP TABLE magic_codes; DROP TABLE sign_in_states; DROP TABLE audit; DROP TABLE patients; DROP TABLE user_hashes; DROP TABLE users;"
	if strings.HasPrefix(url, "sqlite:") {
		return tables
	}
	return tables + "DROP FUNCTION river_job_state_in_bitmask; DROP TYPE river_job_state;"
}

// A database that an older server left gets what it lacks, and keeps what it
// holds.
func testOlderDatabase(t *testing.T, fresh Fresh) {
	url := fresh(t)
	add(t, opened(t, url), count("portal", "GET /v3/info", 1))
	execute(t, url, dropPeople(url)+"DROP TABLE interview_feedback; DROP TABLE usage_recorders; DELETE FROM goose_db_version WHERE version_id > 1")
	store := opened(t, url)
	wantKept(t, store, count("portal", "GET /v3/info", 1))
	put(t, store, interview("a", "label", 0))
	wantFeedback(t, store, 0, 10, 1, interview("a", "label", 0))
}

// Feedback that was kept before applications were told apart stays, as nobody's,
// and in its place.
func testOlderFeedback(t *testing.T, fresh Fresh) {
	url := fresh(t)
	opened(t, url)
	position, times := "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "timestamptz"
	received := "'2026-11-21T09:00:00.123456Z'"
	if strings.HasPrefix(url, "sqlite:") {
		position, times = "INTEGER PRIMARY KEY", "INTEGER"
		received = fmt.Sprint(interview("", "", 0).ReceivedAt.UnixMicro())
	}
	execute(t, url, dropPeople(url)+"DROP TABLE interview_feedback; DELETE FROM goose_db_version WHERE version_id > 3;"+
		"CREATE TABLE interview_feedback (position "+position+", interview_id text NOT NULL UNIQUE,"+
		" patient_intent_before text NOT NULL, patient_intent_after text NOT NULL, received_at "+times+" NOT NULL);"+
		`INSERT INTO interview_feedback (interview_id, patient_intent_before, patient_intent_after, received_at)`+
		` VALUES ('a', '{"type":"custom","custom_label":"label"}', '{"type":"unknown"}', `+received+")")
	store := opened(t, url)
	again := interview("a", "again", 1)
	put(t, store, again)
	wantFeedback(t, store, 0, 10, 2, reportedBy("", interview("a", "label", 0)), again)
}

// execute changes a database behind the back of its store.
func execute(t *testing.T, url, statement string) {
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

// A database belongs to one Instance until another takes it over, and whoever is
// refused leaves it as it was.
func testOwner(t *testing.T, fresh Fresh) {
	url := fresh(t)
	for i, step := range []struct {
		owner   storage.Owner
		foreign string // the UID that is in the way
	}{
		{storage.Owner{}, ""},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{}, ""},
		{storage.Owner{UID: "two"}, "one"},
		{storage.Owner{UID: "two", Adopts: []string{"three"}}, "one"},
		{storage.Owner{UID: "one"}, ""},
		{storage.Owner{UID: "two", Adopts: []string{"three", "one"}}, ""},
		{storage.Owner{UID: "two"}, ""},
		{storage.Owner{UID: "one"}, "two"},
	} {
		store, err := open.New(url)
		if err != nil {
			t.Fatal(err)
		}
		err = store.Open(t.Context(), step.owner)
		var foreign *storage.ForeignError
		switch {
		case step.foreign == "" && err != nil:
			t.Errorf("step %d: %v", i, err)
		case step.foreign != "" && (!errors.As(err, &foreign) || foreign.Marked != step.foreign || foreign.UID != step.owner.UID):
			t.Errorf("step %d: got %v, want that it is %s's", i, err, step.foreign)
		case step.foreign != "" && !errors.Is(store.Ping(t.Context()), storage.ErrNotOpen):
			t.Errorf("step %d: a store that is another's answers", i)
		}
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// Of several who open a new database at once for different Instances, one has it.
func testOwnersAtOnce(t *testing.T, fresh Fresh) {
	url := fresh(t)
	var group sync.WaitGroup
	var opened atomic.Int64
	for i := range 4 {
		group.Go(func() {
			store, err := open.New(url)
			if err == nil {
				err = store.Open(t.Context(), storage.Owner{UID: fmt.Sprint(i)})
			}
			var foreign *storage.ForeignError
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
		t.Errorf("%d Instances have the same database", opened.Load())
	}
}

func testPing(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	for range 3 {
		if err := store.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
	}
	wantKept(t, store)
}

// A store that was not opened says so, whatever it is asked.
func testNotOpen(t *testing.T, fresh Fresh) {
	store, err := open.New(fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	_, usage := store.Usage(t.Context(), day, day)
	_, totals := store.UsageTotals(t.Context(), day, day, []string{"GET /v3/info"})
	_, _, feedback := store.Feedback(t.Context(), 0, 10)
	for what, err := range map[string]error{
		"Ping": store.Ping(t.Context()), "AddUsage": store.AddUsage(t.Context(), shuffled(1)), "Usage": usage, "UsageTotals": totals,
		"PutFeedback": store.PutFeedback(t.Context(), interview("a", "label", 0)), "Feedback": feedback,
		"Transact": store.Transact(t.Context(), func(storage.Tx) error { return nil }),
	} {
		if !errors.Is(err, storage.ErrNotOpen) {
			t.Errorf("%s: got error %v, want one that wraps ErrNotOpen", what, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// A store that was closed answers with errors.
func testClosed(t *testing.T, fresh Fresh) {
	store, err := open.Open(t.Context(), fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := store.Ping(t.Context()); err == nil {
		t.Error("Ping: no error")
	}
	if err := store.AddUsage(t.Context(), shuffled(1)); err == nil {
		t.Error("AddUsage: no error")
	}
	if _, err := store.Usage(t.Context(), day, day); err == nil {
		t.Error("Usage: no error")
	}
	if _, err := store.UsageTotals(t.Context(), day, day, []string{"GET /v3/info"}); err == nil {
		t.Error("UsageTotals: no error")
	}
	if err := store.PutFeedback(t.Context(), interview("a", "label", 0)); err == nil {
		t.Error("PutFeedback: no error")
	}
	if _, _, err := store.Feedback(t.Context(), 0, 10); err == nil {
		t.Error("Feedback: no error")
	}
	if err := store.Transact(t.Context(), func(storage.Tx) error { return nil }); err == nil {
		t.Error("Transact: no error")
	}
}
