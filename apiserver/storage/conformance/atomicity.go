// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// testConcurrentAddUsage checks that replicas adding the same counts in different orders
// lose none and do not deadlock.
func testConcurrentAddUsage(t *testing.T, fresh NewDatabase) {
	const replicas, writers, rounds, endpoints = 2, 4, 10, 12
	url := fresh(t)
	var group sync.WaitGroup
	for range replicas {
		store := openStore(t, url)
		for range writers {
			group.Go(func() {
				for range rounds {
					if err := store.AddUsage(t.Context(), shuffledBatch(endpoints)); err != nil {
						t.Errorf("add: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
	expectEqualCalls(t, listAllUsage(t, openStore(t, url)), endpoints, replicas*writers*rounds)
}

// shuffledBatch returns a batch with one call to each endpoint, in random order.
func shuffledBatch(endpoints int) usage.Batch {
	counts := make([]usage.Count, 0, endpoints)
	for _, i := range rand.Perm(endpoints) { //nolint:gosec // not security-sensitive
		counts = append(counts, newCount("portal", fmt.Sprintf("endpoint %03d", i), 1))
	}
	return newBatch(counts...)
}

// expectEqualCalls checks that every endpoint has the same number of calls, at least
// atLeast, and returns it.
func expectEqualCalls(t *testing.T, counts []usage.Count, endpoints int, atLeast int64) (calls int64) {
	t.Helper()
	if len(counts) == 0 && atLeast == 0 {
		return 0
	}
	if len(counts) != endpoints {
		t.Fatalf("got counts of %d endpoints, want %d: a batch was added partially", len(counts), endpoints)
	}
	calls = counts[0].Calls
	for _, counted := range counts {
		if counted.Calls != calls {
			t.Errorf("%s has %d calls and %s has %d: a batch was added partially",
				counts[0].Endpoint, calls, counted.Endpoint, counted.Calls)
		}
	}
	if calls < atLeast {
		t.Errorf("%d batches are stored, want at least %d", calls, atLeast)
	}
	return calls
}

// testCanceledContext checks that calls with a done context add nothing and return its error.
func testCanceledContext(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancelExpired := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelExpired()
	for _, ctx := range []context.Context{canceled, expired} {
		if err := store.AddUsage(ctx, shuffledBatch(3)); !errors.Is(err, ctx.Err()) {
			t.Errorf("AddUsage: got error %v, want %v", err, ctx.Err())
		}
		if _, err := store.ListUsage(ctx, day, day); !errors.Is(err, ctx.Err()) {
			t.Errorf("ListUsage: got error %v, want %v", err, ctx.Err())
		}
		if _, err := store.ListUsageTotals(ctx, day, day, nil); !errors.Is(err, ctx.Err()) {
			t.Errorf("ListUsageTotals: got error %v, want %v", err, ctx.Err())
		}
		if err := store.Ping(ctx); !errors.Is(err, ctx.Err()) {
			t.Errorf("Ping: got error %v, want %v", err, ctx.Err())
		}
	}
	expectUsage(t, store)
	addUsage(t, store, newCount("portal", "afterwards", 1))
	expectUsage(t, store, newCount("portal", "afterwards", 1))
}

// testContextCanceledMidway checks that canceling a context at any time leaves all of
// a batch or nothing, and the store usable.
func testContextCanceledMidway(t *testing.T, fresh NewDatabase) {
	const batches, endpoints = 60, 200
	store := openStore(t, fresh(t))
	start := time.Now()
	addUsage(t, store, shuffledBatch(endpoints).Counts...)
	typical := time.Since(start)
	added := int64(1)
	for i := range batches {
		ctx, cancel := context.WithTimeout(t.Context(), typical*time.Duration(i)/(batches*2/3))
		if store.AddUsage(ctx, shuffledBatch(endpoints)) == nil {
			added++
		}
		cancel()
	}
	calls := expectEqualCalls(t, listAllUsage(t, store), endpoints, added)
	t.Logf("AddUsage succeeded for %d of %d batches; %d are stored", added, batches+1, calls)
	addUsage(t, store, shuffledBatch(endpoints).Counts...)
	expectEqualCalls(t, listAllUsage(t, store), endpoints, calls+1)
}

// childEnv holds the URL of the store that a child process writes to.
const childEnv = "ANAMNESIS_TEST_CHILD"

const childEndpoints = 100

// RunChild turns a process started by testCrash into a writer that adds batches, each
// followed by feedback and users, until it is killed. It prints a line after each round
// that the store reported as stored. In every other process it does nothing. TestMain
// must call it first.
func RunChild() {
	url := os.Getenv(childEnv)
	if url == "" {
		return
	}
	store, err := open.Open(context.Background(), url)
	for err == nil {
		err = store.AddUsage(context.Background(), shuffledBatch(childEndpoints))
		if err == nil {
			err = store.PutFeedback(context.Background(), newInterview(uuid.NewString(), "label", 0))
		}
		if err == nil {
			err = addUser(store)
		}
		if err == nil {
			fmt.Println("added")
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// addUser inserts a user with a patient and audit records, then updates the user with
// further audit records: two transactions.
func addUser(store storage.Store) error {
	ctx, user := context.Background(), newUser("g1")
	newRecord := func(action audit.Action) audit.Record {
		return audit.Record{At: testTime, Action: action, Resource: audit.User, ResourceID: user.ID}
	}
	err := store.Transact(ctx, func(tx storage.Tx) error {
		return errors.Join(
			tx.InsertUser(ctx, user, []record.ContactHash{emailHash(user.ID)}), tx.InsertPatient(ctx, newPatient(user.ID)),
			tx.InsertAuditRecord(ctx, newRecord(audit.Create)))
	})
	if err != nil {
		return err
	}
	return store.Transact(ctx, func(tx storage.Tx) error {
		user.KeyVersion = "g2"
		return errors.Join(tx.UpdateUser(ctx, user, []record.ContactHash{emailHash(user.ID)}), tx.InsertAuditRecord(ctx, newRecord(audit.Change)))
	})
}

// expectCompleteUsers checks that each user has a hash, a patient and audit records, and
// that at least atLeast of them were updated.
func expectCompleteUsers(t *testing.T, store storage.Store, atLeast int64) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		users, total, err := tx.ListUsers(t.Context(), 0, 1<<31)
		if err != nil {
			return err
		}
		changed := int64(0)
		for _, user := range users {
			found, hashed := tx.GetUserByHash(t.Context(), []record.ContactHash{emailHash(user.ID)})
			patients, _, listed := tx.ListPatients(t.Context(), user.ID, 0, 10)
			records, recorded := tx.ListUserAuditRecords(t.Context(), user.ID, 10)
			if err := errors.Join(hashed, listed, recorded); err != nil {
				return err
			}
			wantRecords := map[string]int{"g1": 1, "g2": 2}[user.KeyVersion]
			if found.ID != user.ID || len(patients) != 1 || len(records) != wantRecords {
				t.Errorf("user %s with key version %s has %d patients and %d audit records", user.ID, user.KeyVersion, len(patients), len(records))
			}
			if wantRecords == 2 {
				changed++
			}
		}
		_, patients, err := tx.ListPatients(t.Context(), "", 0, 0)
		if changed < atLeast || patients != total {
			t.Errorf("%d of %d users were updated, with %d patients in total; want at least %d updated", changed, total, patients, atLeast)
		}
		return err
	})
}

// killCount returns how often to kill a process: half of the 20 kills that CI runs for
// both storages together.
func killCount(t *testing.T) int {
	t.Helper()
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// testCrash checks that killing a writing process leaves only complete batches and
// users, including everything reported as stored.
func testCrash(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	var added int64
	for range killCount(t) {
		added += runChildUntilKilled(t, url)
		store := openStore(t, url)
		expectCompleteUsers(t, store, added)
		expectEqualCalls(t, listAllUsage(t, store), childEndpoints, added)
		if _, total, err := store.ListFeedback(t.Context(), 0, 0); err != nil || total < added {
			t.Errorf("feedback of %d interviews is stored, error %v; want at least %d", total, err, added)
		}
	}
}

// runChildUntilKilled starts a child, kills it at a random moment after some batches,
// and returns how many it reported.
func runChildUntilKilled(t *testing.T, url string) (added int64) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // runs this test binary
	command.Env = append(os.Environ(), childEnv+"="+url)
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		added++
		if added == 3 {
			after := rand.N(30 * time.Millisecond)                       //nolint:gosec // not security-sensitive
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // may have exited earlier
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if added < 3 {
		t.Fatalf("the child added %d batches, want at least 3: %s", added, stderr.String())
	}
	return added
}
