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

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// numbered is a batch with one call to an endpoint.
func numbered(recorder string, number int64, endpoint string) storage.UsageBatch {
	return storage.UsageBatch{Recorder: recorder, Number: number, Counts: []storage.UsageCount{count("portal", endpoint, 1)}}
}

// A batch is added once, however often it is sent, and none that is older than
// the last.
func testBatches(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	for _, sent := range []storage.UsageBatch{
		numbered("a", 1, "a1"), numbered("a", 1, "a1"), numbered("b", 1, "b1"), numbered("a", 2, "a2"), numbered("a", 1, "a1"),
		numbered("A", 7, "A7"), numbered("b", 1, "b1"), numbered("a", math.MaxInt64, "a max"), numbered("a", 3, "a3"),
	} {
		if err := store.AddUsage(t.Context(), sent); err != nil {
			t.Fatalf("%v: %v", sent, err)
		}
		store = opened(t, url)
	}
	wantKept(t, store,
		count("portal", "A7", 1), count("portal", "a max", 1), count("portal", "a1", 1), count("portal", "a2", 1), count("portal", "b1", 1))
	for _, bad := range []storage.UsageBatch{numbered("", 1, "x"), numbered("a\x00", 1, "x"), numbered("c", 0, "x"), numbered("c", -1, "x")} {
		if err := store.AddUsage(t.Context(), bad); !errors.Is(err, storage.ErrInvalidUsage) {
			t.Errorf("%v: got error %v, want one that wraps ErrInvalidUsage", bad, err)
		}
	}
	// A batch that failed takes up no number.
	failing := storage.UsageBatch{Recorder: "d", Number: 1, Counts: []storage.UsageCount{count("portal", "a1", math.MaxInt64)}}
	if err := store.AddUsage(t.Context(), failing); err == nil {
		t.Errorf("%v: no error", failing)
	}
	if err := store.AddUsage(t.Context(), numbered("d", 1, "d1")); err != nil {
		t.Fatal(err)
	}
	wantKept(t, store,
		count("portal", "A7", 1), count("portal", "a max", 1), count("portal", "a1", 1), count("portal", "a2", 1),
		count("portal", "b1", 1), count("portal", "d1", 1))
}

// A batch that is sent many times at once is added once, and whoever is told
// that it is added can read it.
func testBatchConcurrent(t *testing.T, fresh Fresh) {
	const replicas, senders, batches, endpoints = 2, 4, 10, 20
	url := fresh(t)
	store := opened(t, url)
	recorder := uuid.NewString()
	for number := int64(1); number <= batches; number++ {
		var group sync.WaitGroup
		for range replicas {
			store := opened(t, url)
			for range senders {
				group.Go(func() {
					sent := shuffled(endpoints)
					sent.Recorder, sent.Number = recorder, number
					if err := store.AddUsage(t.Context(), sent); err != nil {
						t.Errorf("add: %v", err)
					}
					wantSame(t, kept(t, store), endpoints, number)
				})
			}
		}
		group.Wait()
		if calls := wantSame(t, kept(t, store), endpoints, number); calls != number {
			t.Fatalf("%d batches were sent and %d are there", number, calls)
		}
	}
}

// Whoever does not know what became of a batch sends it until it is added, and
// it counts once.
func testBatchUntilAdded(t *testing.T, fresh Fresh) {
	const batches, endpoints = 30, 200
	store := opened(t, fresh(t))
	began := time.Now()
	add(t, store, shuffled(endpoints).Counts...)
	usual := time.Since(began)
	recorder := uuid.NewString()
	for number := int64(1); number <= batches; number++ {
		sent := shuffled(endpoints)
		sent.Recorder, sent.Number = recorder, number
		for try := 0; ; try++ {
			ctx, cancel := context.WithTimeout(t.Context(), usual*time.Duration(number+int64(try))/batches)
			err := store.AddUsage(ctx, sent)
			cancel()
			if err == nil {
				break
			}
		}
	}
	if calls := wantSame(t, kept(t, store), endpoints, batches+1); calls != batches+1 {
		t.Errorf("%d batches were added and %d are there", batches+1, calls)
	}
}

// Who has added nothing for a month is forgotten when another recorder begins,
// so that the table does not grow with every process there ever was.
func testForgottenRecorder(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	for _, recorder := range []string{"old", "new"} {
		if err := store.AddUsage(t.Context(), numbered(recorder, 1, recorder)); err != nil {
			t.Fatal(err)
		}
	}
	old := "now() - interval '31 days'"
	if strings.HasPrefix(url, "sqlite:") {
		old = "unixepoch('now', '-31 days')"
	}
	execute(t, url, "UPDATE usage_recorders SET seen_at = "+old+" WHERE id = 'old'")
	for _, recorder := range []string{"another", "old", "new"} {
		if err := store.AddUsage(t.Context(), numbered(recorder, 1, recorder)); err != nil {
			t.Fatal(err)
		}
	}
	wantKept(t, store, count("portal", "another", 1), count("portal", "new", 1), count("portal", "old", 2))
}
