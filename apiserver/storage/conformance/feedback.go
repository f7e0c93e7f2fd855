// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// newInterview returns feedback on an interview, received the given number of minutes
// after 09:00.
func newInterview(id, label string, minutes int) feedback.InterviewFeedback {
	return feedback.InterviewFeedback{
		Application: "portal",
		ID:          id,
		Before:      feedback.Intent{Type: "custom", CustomLabel: label},
		After:       feedback.Intent{Type: "unknown"},
		ReceivedAt:  time.Date(2026, 11, 21, 9, minutes, 0, 123456000, time.UTC),
	}
}

func putFeedback(t testing.TB, store storage.FeedbackStore, interviews ...feedback.InterviewFeedback) {
	t.Helper()
	for _, interview := range interviews {
		if err := store.PutFeedback(t.Context(), interview); err != nil {
			t.Fatalf("put %v: %v", interview, err)
		}
	}
}

// expectFeedback checks a page and the total number of interviews.
func expectFeedback(t testing.TB, store storage.FeedbackStore, offset, limit, total int64, want ...feedback.InterviewFeedback) {
	t.Helper()
	page, got, err := store.ListFeedback(context.WithoutCancel(t.Context()), offset, limit)
	if err != nil {
		t.Fatalf("ListFeedback: %v", err)
	}
	if got != total {
		t.Errorf("got total %d, want %d", got, total)
	}
	if diff := cmp.Diff(want, page); len(want)+len(page) > 0 && diff != "" {
		t.Errorf("offset %d, limit %d (-want +got):\n%s", offset, limit, diff)
	}
}

// testFeedback checks that replacing feedback keeps an interview's position, so that
// pages are stable.
func testFeedback(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	expectFeedback(t, store, 0, 10, 0)
	complete := feedback.InterviewFeedback{
		Application: "portal", ID: "a",
		Before: feedback.Intent{
			Type:    "consultation",
			Channel: &feedback.Channel{Category: "custom", CustomLabel: "a letter"},
			SubType: &feedback.SubType{Category: "custom", CustomLabel: "a friend"},
		},
		After:      feedback.Intent{Type: "emergency_care", SubType: &feedback.SubType{Category: "with_ambulance"}},
		ReceivedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
	}
	first, second, third := newInterview("Z", "first", 3), newInterview("é", "second", 2), newInterview("b", "third", 1)
	putFeedback(t, store, first, second, third)
	expectFeedback(t, store, 0, 10, 3, first, second, third)
	second.Before.CustomLabel, second.ReceivedAt = "again", second.ReceivedAt.Add(time.Hour)
	putFeedback(t, store, second, complete)
	for range 2 {
		expectFeedback(t, store, 0, 10, 4, first, second, third, complete)
		expectFeedback(t, store, 0, 2, 4, first, second)
		expectFeedback(t, store, 2, 2, 4, third, complete)
		expectFeedback(t, store, 3, 2, 4, complete)
		expectFeedback(t, store, 4, 2, 4)
		expectFeedback(t, store, 1<<40, 1<<40, 4)
		expectFeedback(t, store, 0, 0, 4)
		store = openStore(t, url)
	}
}

func withApplication(application string, interview feedback.InterviewFeedback) feedback.InterviewFeedback {
	interview.Application = application
	return interview
}

// testFeedbackByApplication checks that applications using the same interview id keep
// separate feedback.
func testFeedbackByApplication(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ours, theirs := newInterview("a", "ours", 1), withApplication("kiosk", newInterview("a", "theirs", 2))
	putFeedback(t, store, ours, theirs)
	ours.Before.CustomLabel = "ours again"
	putFeedback(t, store, ours)
	expectFeedback(t, store, 0, 10, 2, ours, theirs)
}

// testFeedbackText checks that labels and ids round-trip unchanged, and times to the
// microsecond in UTC.
func testFeedbackText(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	texts := []string{
		"'; DROP TABLE interview_feedback; --", `"quoted"`, `back\slash`, "NULL", "%s $1 ?", "tab\tline\n", "<b>&amp;",
		"e\u0301", "\u202e", "\ufffd", "\u2028", "🙂", strings.Repeat("é", 160),
	}
	want := make([]feedback.InterviewFeedback, 0, len(texts)+1)
	for i, text := range texts {
		want = append(want, newInterview(text, text, i))
	}
	nul := newInterview("nul", "a\x00b", 30)
	nul.ReceivedAt = time.Date(2026, 11, 21, 14, 0, 0, 999_999_999, time.FixedZone("east", 5*3600))
	putFeedback(t, store, append(slices.Clone(want), nul)...)
	nul.ReceivedAt = time.Date(2026, 11, 21, 9, 0, 0, 999_999_000, time.UTC)
	expectFeedback(t, store, 0, 100, int64(len(want)+1), append(want, nul)...)
}

func testFeedbackInvalid(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	for _, id := range []string{"", "a\x00", "\xff"} {
		if err := store.PutFeedback(t.Context(), newInterview(id, "label", 0)); !errors.Is(err, storage.ErrInvalidFeedback) {
			t.Errorf("id %q: got error %v, want ErrInvalidFeedback", id, err)
		}
		if err := store.PutFeedback(t.Context(), withApplication(id, newInterview("a", "label", 0))); !errors.Is(err, storage.ErrInvalidFeedback) {
			t.Errorf("application %q: got error %v, want ErrInvalidFeedback", id, err)
		}
	}
	expectFeedback(t, store, 0, 10, 0)
}

// testFeedbackConcurrent checks that replicas writing feedback of the same interviews
// concurrently leave one complete record of each.
func testFeedbackConcurrent(t *testing.T, fresh NewDatabase) {
	const replicas, writers, interviews = 2, 4, 10
	url := fresh(t)
	var group sync.WaitGroup
	for replica := range replicas {
		store := openStore(t, url)
		for writer := range writers {
			group.Go(func() {
				for i := range interviews {
					label := fmt.Sprintf("%d of %d", writer, replica)
					written := newInterview(fmt.Sprint((i+writer)%interviews), label, 0)
					written.After = written.Before
					if err := store.PutFeedback(t.Context(), written); err != nil {
						t.Errorf("put: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
	page, total, err := openStore(t, url).ListFeedback(t.Context(), 0, 100)
	if err != nil || total != interviews || len(page) != interviews {
		t.Fatalf("got %d interviews, total %d, error %v; want %d", len(page), total, err, interviews)
	}
	for _, stored := range page {
		if diff := cmp.Diff(stored.Before, stored.After); diff != "" {
			t.Errorf("interview %s mixes two writes: %s", stored.ID, diff)
		}
	}
}

// testFeedbackCanceledContext checks that a call with a canceled context stores nothing
// and returns the context's error.
func testFeedbackCanceledContext(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.PutFeedback(ctx, newInterview("a", "label", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("PutFeedback: got error %v, want context.Canceled", err)
	}
	if _, _, err := store.ListFeedback(ctx, 0, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("ListFeedback: got error %v, want context.Canceled", err)
	}
	expectFeedback(t, store, 0, 10, 0)
}

// testFeedbackModel compares the store with an in-memory list under random writes and
// page sizes.
func testFeedbackModel(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	var list []feedback.InterviewFeedback
	rapid.Check(t, func(r *rapid.T) {
		for range rapid.IntRange(0, 5).Draw(r, "puts") {
			put := newInterview(rapid.StringMatching(`[a-c][a-c]?`).Draw(r, "id"), rapid.String().Draw(r, "label"), rapid.IntRange(0, 59).Draw(r, "minutes"))
			put.Before.CustomLabel = strings.ToValidUTF8(put.Before.CustomLabel, "")
			if err := store.PutFeedback(t.Context(), put); err != nil {
				r.Fatal(err)
			}
			if i := slices.IndexFunc(list, func(kept feedback.InterviewFeedback) bool { return kept.ID == put.ID }); i >= 0 {
				list[i] = put
			} else {
				list = append(list, put)
			}
		}
		if rapid.IntRange(0, 9).Draw(r, "reopen") == 0 {
			store = openStore(t, url)
		}
		offset, limit := rapid.IntRange(0, 14).Draw(r, "offset"), rapid.IntRange(0, 14).Draw(r, "limit")
		from := min(offset, len(list))
		expectFeedback(t, store, int64(offset), int64(limit), int64(len(list)), list[from:min(from+limit, len(list))]...)
	})
}
