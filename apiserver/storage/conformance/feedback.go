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

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// interview is feedback of an interview, received some minutes past nine.
func interview(id, label string, minutes int) feedback.Interview {
	return feedback.Interview{
		Application: "portal",
		ID:          id,
		Before:      feedback.Intent{Type: "custom", CustomLabel: label},
		After:       feedback.Intent{Type: "unknown"},
		ReceivedAt:  time.Date(2026, 11, 21, 9, minutes, 0, 123456000, time.UTC),
	}
}

func put(t testing.TB, store storage.Feedback, interviews ...feedback.Interview) {
	t.Helper()
	for _, interview := range interviews {
		if err := store.PutFeedback(t.Context(), interview); err != nil {
			t.Fatalf("put %v: %v", interview, err)
		}
	}
}

// wantFeedback wants a page and how many interviews there are in all.
func wantFeedback(t testing.TB, store storage.Feedback, skipped, atMost, total int64, want ...feedback.Interview) {
	t.Helper()
	page, all, err := store.Feedback(context.WithoutCancel(t.Context()), skipped, atMost)
	if err != nil {
		t.Fatalf("feedback: %v", err)
	}
	if all != total {
		t.Errorf("%d interviews in all, want %d", all, total)
	}
	if diff := cmp.Diff(want, page); len(want)+len(page) > 0 && diff != "" {
		t.Errorf("at most %d after %d (-want +got):\n%s", atMost, skipped, diff)
	}
}

// An interview keeps its place when its feedback is replaced, so that pages
// hold the same interviews each time they are read.
func testFeedback(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	wantFeedback(t, store, 0, 10, 0)
	whole := feedback.Interview{
		Application: "portal", ID: "a",
		Before: feedback.Intent{
			Type:    "consultation",
			Channel: &feedback.Channel{Category: "custom", CustomLabel: "a letter"},
			SubType: &feedback.SubType{Category: "custom", CustomLabel: "a friend"},
		},
		After:      feedback.Intent{Type: "emergency_care", SubType: &feedback.SubType{Category: "with_ambulance"}},
		ReceivedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
	}
	first, second, third := interview("Z", "first", 3), interview("é", "second", 2), interview("b", "third", 1)
	put(t, store, first, second, third)
	wantFeedback(t, store, 0, 10, 3, first, second, third)
	second.Before.CustomLabel, second.ReceivedAt = "again", second.ReceivedAt.Add(time.Hour)
	put(t, store, second, whole)
	for range 2 {
		wantFeedback(t, store, 0, 10, 4, first, second, third, whole)
		wantFeedback(t, store, 0, 2, 4, first, second)
		wantFeedback(t, store, 2, 2, 4, third, whole)
		wantFeedback(t, store, 3, 2, 4, whole)
		wantFeedback(t, store, 4, 2, 4)
		wantFeedback(t, store, 1<<40, 1<<40, 4)
		wantFeedback(t, store, 0, 0, 4)
		store = opened(t, url)
	}
}

func reportedBy(application string, interview feedback.Interview) feedback.Interview {
	interview.Application = application
	return interview
}

// Applications that call an interview the same keep what each reported of it.
func testFeedbackByApplication(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	ours, theirs := interview("a", "ours", 1), reportedBy("kiosk", interview("a", "theirs", 2))
	put(t, store, ours, theirs)
	ours.Before.CustomLabel = "ours again"
	put(t, store, ours)
	wantFeedback(t, store, 0, 10, 2, ours, theirs)
}

// Labels and ids come back as they went in, times to the microsecond in UTC.
func testFeedbackText(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	texts := []string{
		"'; DROP TABLE interview_feedback; --", `"quoted"`, `back\slash`, "NULL", "%s $1 ?", "tab\tline\n", "<b>&amp;",
		"e\u0301", "\u202e", "\ufffd", "\u2028", "🙂", strings.Repeat("é", 160),
	}
	want := make([]feedback.Interview, 0, len(texts)+1)
	for i, text := range texts {
		want = append(want, interview(text, text, i))
	}
	nul := interview("nul", "a\x00b", 30)
	nul.ReceivedAt = time.Date(2026, 11, 21, 14, 0, 0, 999_999_999, time.FixedZone("east", 5*3600))
	put(t, store, append(slices.Clone(want), nul)...)
	nul.ReceivedAt = time.Date(2026, 11, 21, 9, 0, 0, 999_999_000, time.UTC)
	wantFeedback(t, store, 0, 100, int64(len(want)+1), append(want, nul)...)
}

func testFeedbackInvalid(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	for _, id := range []string{"", "a\x00", "\xff"} {
		if err := store.PutFeedback(t.Context(), interview(id, "label", 0)); !errors.Is(err, storage.ErrInvalidFeedback) {
			t.Errorf("%q: got error %v, want one that wraps ErrInvalidFeedback", id, err)
		}
		if err := store.PutFeedback(t.Context(), reportedBy(id, interview("a", "label", 0))); !errors.Is(err, storage.ErrInvalidFeedback) {
			t.Errorf("of application %q: got error %v, want one that wraps ErrInvalidFeedback", id, err)
		}
	}
	wantFeedback(t, store, 0, 10, 0)
}

// Replicas that put feedback of the same interviews at the same time leave one
// whole record of each.
func testFeedbackConcurrent(t *testing.T, fresh Fresh) {
	const replicas, writers, interviews = 2, 4, 10
	url := fresh(t)
	var group sync.WaitGroup
	for replica := range replicas {
		store := opened(t, url)
		for writer := range writers {
			group.Go(func() {
				for i := range interviews {
					label := fmt.Sprintf("%d of %d", writer, replica)
					written := interview(fmt.Sprint((i+writer)%interviews), label, 0)
					written.After = written.Before
					if err := store.PutFeedback(t.Context(), written); err != nil {
						t.Errorf("put: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
	page, total, err := opened(t, url).Feedback(t.Context(), 0, 100)
	if err != nil || total != interviews || len(page) != interviews {
		t.Fatalf("%d of %d interviews, %v; want %d", len(page), total, err, interviews)
	}
	for _, kept := range page {
		if diff := cmp.Diff(kept.Before, kept.After); diff != "" {
			t.Errorf("%s holds halves of two: %s", kept.ID, diff)
		}
	}
}

// A context that has ended keeps nothing and says why.
func testFeedbackCancelled(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.PutFeedback(ctx, interview("a", "label", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("PutFeedback: got error %v", err)
	}
	if _, _, err := store.Feedback(ctx, 0, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("Feedback: got error %v", err)
	}
	wantFeedback(t, store, 0, 10, 0)
}

// Whatever is put and however pages are cut, the store holds what a list would
// that keeps the places of what it replaces.
func testFeedbackModel(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	var list []feedback.Interview
	rapid.Check(t, func(r *rapid.T) {
		for range rapid.IntRange(0, 5).Draw(r, "puts") {
			put := interview(rapid.StringMatching(`[a-c][a-c]?`).Draw(r, "id"), rapid.String().Draw(r, "label"), rapid.IntRange(0, 59).Draw(r, "minutes"))
			put.Before.CustomLabel = strings.ToValidUTF8(put.Before.CustomLabel, "")
			if err := store.PutFeedback(t.Context(), put); err != nil {
				r.Fatal(err)
			}
			if i := slices.IndexFunc(list, func(kept feedback.Interview) bool { return kept.ID == put.ID }); i >= 0 {
				list[i] = put
			} else {
				list = append(list, put)
			}
		}
		if rapid.IntRange(0, 9).Draw(r, "reopen") == 0 {
			store = opened(t, url)
		}
		skipped, atMost := rapid.IntRange(0, 14).Draw(r, "skipped"), rapid.IntRange(0, 14).Draw(r, "at most")
		from := min(skipped, len(list))
		wantFeedback(t, store, int64(skipped), int64(atMost), int64(len(list)), list[from:min(from+atMost, len(list))]...)
	})
}
