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

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// Replicas that add the same counts in different orders lose none and do not
// deadlock.
func testConcurrent(t *testing.T, fresh Fresh) {
	const replicas, writers, rounds, endpoints = 2, 4, 10, 12
	url := fresh(t)
	var group sync.WaitGroup
	for range replicas {
		store := opened(t, url)
		for range writers {
			group.Go(func() {
				for range rounds {
					if err := store.AddUsage(t.Context(), shuffled(endpoints)); err != nil {
						t.Errorf("add: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
	wantSame(t, kept(t, opened(t, url)), endpoints, replicas*writers*rounds)
}

// shuffled is a batch of one call to each of some endpoints, in any order.
func shuffled(endpoints int) storage.UsageBatch {
	counts := make([]storage.UsageCount, 0, endpoints)
	for _, i := range rand.Perm(endpoints) { //nolint:gosec // an order is no secret
		counts = append(counts, count("portal", fmt.Sprintf("endpoint %03d", i), 1))
	}
	return batch(counts...)
}

// wantSame wants as many calls of every endpoint, at least so many.
func wantSame(t *testing.T, counts []storage.UsageCount, endpoints int, atLeast int64) (calls int64) {
	t.Helper()
	if len(counts) == 0 && atLeast == 0 {
		return 0
	}
	if len(counts) != endpoints {
		t.Fatalf("%d endpoints are counted, want %d: a batch was added in part", len(counts), endpoints)
	}
	calls = counts[0].Calls
	for _, counted := range counts {
		if counted.Calls != calls {
			t.Errorf("%s has %d calls and %s has %d: a batch was added in part",
				counts[0].Endpoint, calls, counted.Endpoint, counted.Calls)
		}
	}
	if calls < atLeast {
		t.Errorf("%d batches were added and only %d are there", atLeast, calls)
	}
	return calls
}

// A context that has ended adds nothing and says why.
func testCancelled(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for _, ctx := range []context.Context{cancelled, late} {
		if err := store.AddUsage(ctx, shuffled(3)); !errors.Is(err, ctx.Err()) {
			t.Errorf("AddUsage: got error %v, want one that wraps %v", err, ctx.Err())
		}
		if _, err := store.Usage(ctx, day, day); !errors.Is(err, ctx.Err()) {
			t.Errorf("Usage: got error %v, want one that wraps %v", err, ctx.Err())
		}
		if _, err := store.UsageTotals(ctx, day, day, nil); !errors.Is(err, ctx.Err()) {
			t.Errorf("UsageTotals: got error %v, want one that wraps %v", err, ctx.Err())
		}
		if err := store.Ping(ctx); !errors.Is(err, ctx.Err()) {
			t.Errorf("Ping: got error %v, want one that wraps %v", err, ctx.Err())
		}
	}
	wantKept(t, store)
	add(t, store, count("portal", "afterwards", 1))
	wantKept(t, store, count("portal", "afterwards", 1))
}

// A context that ends at any moment leaves all of a batch or nothing, and the
// store usable.
func testCancelledMidway(t *testing.T, fresh Fresh) {
	const batches, endpoints = 60, 200
	store := opened(t, fresh(t))
	began := time.Now()
	add(t, store, shuffled(endpoints).Counts...)
	usual := time.Since(began)
	added := int64(1)
	for i := range batches {
		ctx, cancel := context.WithTimeout(t.Context(), usual*time.Duration(i)/(batches*2/3))
		if store.AddUsage(ctx, shuffled(endpoints)) == nil {
			added++
		}
		cancel()
	}
	calls := wantSame(t, kept(t, store), endpoints, added)
	t.Logf("%d of %d batches were reported as added, %d were", added, batches+1, calls)
	add(t, store, shuffled(endpoints).Counts...)
	wantSame(t, kept(t, store), endpoints, calls+1)
}

// childVariable names the store to which a child process adds.
const childVariable = "ANAMNESIS_TEST_CHILD"

const childEndpoints = 100

// Child makes a process that testKilled started add batches, and feedback and people
// after each, until it is killed, with a line for each time that all were reported
// as kept. In every other process it does nothing. TestMain calls it first.
func Child() {
	url := os.Getenv(childVariable)
	if url == "" {
		return
	}
	store, err := open.Open(context.Background(), url)
	for err == nil {
		err = store.AddUsage(context.Background(), shuffled(childEndpoints))
		if err == nil {
			err = store.PutFeedback(context.Background(), interview(uuid.NewString(), "label", 0))
		}
		if err == nil {
			err = addPeople(store)
		}
		if err == nil {
			fmt.Println("added")
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// addPeople makes a user with a patient and records it, and then changes and records
// that: two transactions.
func addPeople(store storage.Store) error {
	ctx, user := context.Background(), aUser("g1")
	act := func(action audit.Action) audit.Record {
		return audit.Record{At: moment, Action: action, Resource: audit.User, ResourceID: user.ID}
	}
	err := store.Transact(ctx, func(tx storage.Tx) error {
		return errors.Join(
			tx.InsertUser(ctx, user, []storage.ContactHash{emailHash(user.ID)}), tx.InsertPatient(ctx, aPatient(user.ID)),
			tx.InsertAudit(ctx, act(audit.Create)))
	})
	if err != nil {
		return err
	}
	return store.Transact(ctx, func(tx storage.Tx) error {
		user.Generation = "g2"
		return errors.Join(tx.UpdateUser(ctx, user, []storage.ContactHash{emailHash(user.ID)}), tx.InsertAudit(ctx, act(audit.Change)))
	})
}

// wantWholePeople wants each user with a hash, a patient and records of what was
// done, and at least so many of them changed.
func wantWholePeople(t *testing.T, store storage.Store, atLeast int64) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		users, total, err := tx.Users(t.Context(), 0, 1<<31)
		if err != nil {
			return err
		}
		changed := int64(0)
		for _, user := range users {
			found, hashed := tx.UserByHash(t.Context(), []storage.ContactHash{emailHash(user.ID)})
			patients, _, listed := tx.Patients(t.Context(), user.ID, 0, 10)
			records, recorded := tx.AuditOfUser(t.Context(), user.ID, 10)
			if err := errors.Join(hashed, listed, recorded); err != nil {
				return err
			}
			wantRecords := map[string]int{"g1": 1, "g2": 2}[user.Generation]
			if found.ID != user.ID || len(patients) != 1 || len(records) != wantRecords {
				t.Errorf("of the user %s of %s there are %d patients and %d records", user.ID, user.Generation, len(patients), len(records))
			}
			if wantRecords == 2 {
				changed++
			}
		}
		_, patients, err := tx.Patients(t.Context(), "", 0, 0)
		if changed < atLeast || patients != total {
			t.Errorf("%d users were made and changed, %d of %d are, with %d patients", atLeast, changed, total, patients)
		}
		return err
	})
}

// kills is how often a process is killed: of the twenty times that CI has for both
// storages, half.
func kills(t *testing.T) int {
	t.Helper()
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// A process that is killed while it adds leaves whole batches and whole people only,
// and all that was reported as kept.
func testKilled(t *testing.T, fresh Fresh) {
	url := fresh(t)
	var added int64
	for range kills(t) {
		added += addUntilKilled(t, url)
		store := opened(t, url)
		wantWholePeople(t, store, added)
		wantSame(t, kept(t, store), childEndpoints, added)
		if _, total, err := store.Feedback(t.Context(), 0, 0); err != nil || total < added {
			t.Errorf("the feedback of %d interviews was kept and that of %d is there, %v", added, total, err)
		}
	}
}

// addUntilKilled starts a child, kills it at any moment after some batches, and
// returns how many it reported.
func addUntilKilled(t *testing.T, url string) (added int64) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	command.Env = append(os.Environ(), childVariable+"="+url)
	var failure strings.Builder
	command.Stderr = &failure
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
			after := rand.N(30 * time.Millisecond)                       //nolint:gosec // a moment is no secret
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // it may have failed before
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if added < 3 {
		t.Fatalf("the child added %d batches: %s", added, failure.String())
	}
	return added
}
