// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
)

// newNumberedBatch returns a batch with one call to an endpoint.
func newNumberedBatch(recorder string, number int64, endpoint string) usage.Batch {
	return usage.Batch{Recorder: recorder, Sequence: number, Counts: []usage.Count{newCount("portal", endpoint, 1)}}
}

// testBatchIsAddedOnce checks that a batch is added once however often it is sent, and
// that batches older than the last are ignored.
func testBatchIsAddedOnce(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	for _, sent := range []usage.Batch{
		newNumberedBatch("a", 1, "a1"), newNumberedBatch("a", 1, "a1"), newNumberedBatch("b", 1, "b1"), newNumberedBatch("a", 2, "a2"), newNumberedBatch("a", 1, "a1"),
		newNumberedBatch("A", 7, "A7"), newNumberedBatch("b", 1, "b1"), newNumberedBatch("a", math.MaxInt64, "a max"), newNumberedBatch("a", 3, "a3"),
	} {
		if err := store.AddUsage(t.Context(), sent); err != nil {
			t.Fatalf("%v: %v", sent, err)
		}
		store = openStore(t, url)
	}
	expectUsage(t, store,
		newCount("portal", "A7", 1), newCount("portal", "a max", 1), newCount("portal", "a1", 1), newCount("portal", "a2", 1), newCount("portal", "b1", 1))
	for _, bad := range []usage.Batch{newNumberedBatch("", 1, "x"), newNumberedBatch("a\x00", 1, "x"), newNumberedBatch("c", 0, "x"), newNumberedBatch("c", -1, "x")} {
		if err := store.AddUsage(t.Context(), bad); !errors.Is(err, usage.ErrInvalid) {
			t.Errorf("%v: got error %v, want ErrInvalid", bad, err)
		}
	}
	// A failed batch does not use up its sequence number.
	failing := usage.Batch{Recorder: "d", Sequence: 1, Counts: []usage.Count{newCount("portal", "a1", math.MaxInt64)}}
	if err := store.AddUsage(t.Context(), failing); err == nil {
		t.Errorf("%v: got no error, want one", failing)
	}
	if err := store.AddUsage(t.Context(), newNumberedBatch("d", 1, "d1")); err != nil {
		t.Fatal(err)
	}
	expectUsage(t, store,
		newCount("portal", "A7", 1), newCount("portal", "a max", 1), newCount("portal", "a1", 1), newCount("portal", "a2", 1),
		newCount("portal", "b1", 1), newCount("portal", "d1", 1))
}

// testConcurrentBatchIsAddedOnce checks that a batch sent concurrently is added once,
// and that every sender can read it when AddUsage returns.
func testConcurrentBatchIsAddedOnce(t *testing.T, fresh NewDatabase) {
	const replicas, senders, batches, endpoints = 2, 4, 10, 20
	url := fresh(t)
	store := openStore(t, url)
	recorder := uuid.NewString()
	for number := int64(1); number <= batches; number++ {
		var group sync.WaitGroup
		for range replicas {
			store := openStore(t, url)
			for range senders {
				group.Go(func() {
					sent := shuffledBatch(endpoints)
					sent.Recorder, sent.Sequence = recorder, number
					if err := store.AddUsage(t.Context(), sent); err != nil {
						t.Errorf("add: %v", err)
					}
					expectEqualCalls(t, listAllUsage(t, store), endpoints, number)
				})
			}
		}
		group.Wait()
		if calls := expectEqualCalls(t, listAllUsage(t, store), endpoints, number); calls != number {
			t.Fatalf("%d batches are stored, want %d", calls, number)
		}
	}
}

// testBatchIsRetriedUntilAdded checks that a batch with an unknown outcome can be retried
// until it is added, and counts once.
func testBatchIsRetriedUntilAdded(t *testing.T, fresh NewDatabase) {
	const batches, endpoints = 30, 200
	store := openStore(t, fresh(t))
	start := time.Now()
	addUsage(t, store, shuffledBatch(endpoints).Counts...)
	typical := time.Since(start)
	recorder := uuid.NewString()
	for number := int64(1); number <= batches; number++ {
		sent := shuffledBatch(endpoints)
		sent.Recorder, sent.Sequence = recorder, number
		for try := 0; ; try++ {
			ctx, cancel := context.WithTimeout(t.Context(), typical*time.Duration(number+int64(try))/batches)
			err := store.AddUsage(ctx, sent)
			cancel()
			if err == nil {
				break
			}
		}
	}
	if calls := expectEqualCalls(t, listAllUsage(t, store), endpoints, batches+1); calls != batches+1 {
		t.Errorf("%d batches are stored, want %d", calls, batches+1)
	}
}

// testStaleRecorderIsDeleted checks that recorders inactive for a month are deleted when
// a new recorder starts, so that the table does not grow with every process.
func testStaleRecorderIsDeleted(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	for _, recorder := range []string{"old", "new"} {
		if err := store.AddUsage(t.Context(), newNumberedBatch(recorder, 1, recorder)); err != nil {
			t.Fatal(err)
		}
	}
	old := "now() - interval '31 days'"
	if strings.HasPrefix(url, "sqlite:") {
		old = "unixepoch('now', '-31 days')"
	}
	execSQL(t, url, "UPDATE usage_recorders SET seen_at = "+old+" WHERE id = 'old'")
	for _, recorder := range []string{"another", "old", "new"} {
		if err := store.AddUsage(t.Context(), newNumberedBatch(recorder, 1, recorder)); err != nil {
			t.Fatal(err)
		}
	}
	expectUsage(t, store, newCount("portal", "another", 1), newCount("portal", "new", 1), newCount("portal", "old", 2))
}
