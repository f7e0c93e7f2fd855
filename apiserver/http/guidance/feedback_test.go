// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
)

// feedbackPage is a page in the response format of the specification.
type feedbackPage struct {
	Self, First, Last string
	Prev, Next        *string
	Items             []map[string]any
}

const feedbackPath = "/api/mgp/v1/interviews/feedback"

// storeFeedback stores feedback for the given number of interviews, identified by number.
func (f *fixture) storeFeedback(count int) {
	f.t.Helper()
	for i := range count {
		err := f.store.PutFeedback(f.t.Context(), feedback.InterviewFeedback{
			Application: "portal", ID: fmt.Sprint("interview ", i), Before: feedback.Intent{Type: "not_sure"}, After: feedback.Intent{Type: "unknown"},
			ReceivedAt: testNow.Add(time.Duration(i) * time.Minute),
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestInterviewFeedback(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.storeFeedback(1)
	err := r.store.PutFeedback(t.Context(), feedback.InterviewFeedback{
		Application: "kiosk", ID: "3f0c",
		Before: feedback.Intent{
			Type:    "consultation",
			Channel: &feedback.Channel{Category: "custom", CustomLabel: "<a letter>"},
			SubType: &feedback.SubType{Category: "specialist_doctor"},
		},
		After:      feedback.Intent{Type: "custom", CustomLabel: "to wait"},
		ReceivedAt: time.Date(2026, 11, 21, 11, 0, 0, 120_000_000, time.FixedZone("east", 3600)),
	})
	if err != nil {
		t.Fatal(err)
	}
	response, text := r.call("GET", feedbackPath, "", "Authorization", "Bearer "+r.token("kiosk", "kiosk/key+=", "survey:read"))
	if response.StatusCode != http.StatusOK {
		t.Fatalf("got status %d: %s", response.StatusCode, text)
	}
	only := r.baseURL + feedbackPath + "?cursor=0&limit=10"
	want := map[string]any{
		"self": only, "first": only, "prev": nil, "next": nil, "last": only,
		"items": []any{
			map[string]any{
				"application": "portal", "interview_id": "interview 0", "patient_intent_before": map[string]any{"type": "not_sure"},
				"patient_intent_after": map[string]any{"type": "unknown"}, "received_at": "2026-11-21T09:30:00Z",
			},
			map[string]any{
				"application": "kiosk", "interview_id": "3f0c",
				"patient_intent_before": map[string]any{
					"type": "consultation", "channel": map[string]any{"category": "custom", "custom_label": "<a letter>"},
					"sub_type": map[string]any{"category": "specialist_doctor"},
				},
				"patient_intent_after": map[string]any{"type": "custom", "custom_label": "to wait"},
				"received_at":          "2026-11-21T10:00:00.12Z",
			},
		},
	}
	if diff := cmp.Diff(want, decode[map[string]any](t, text)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestInterviewFeedbackPagination checks that following the page links visits every interview
// once, forward and backward.
func TestInterviewFeedbackPagination(t *testing.T) {
	t.Parallel()
	const interviews = 23
	r := newFixture(t)
	bearer := "Bearer " + r.token("portal", "portal-key", "")
	read := func(address string) feedbackPage {
		t.Helper()
		response, text := r.call("GET", strings.TrimPrefix(address, r.baseURL), "", "Authorization", bearer)
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: got status %d: %s", address, response.StatusCode, text)
		}
		return decode[feedbackPage](t, text)
	}
	if empty := read(feedbackPath); len(empty.Items) != 0 || empty.Prev != nil || empty.Next != nil || empty.Last != empty.Self {
		t.Errorf("without interviews: %+v", empty)
	}
	r.storeFeedback(interviews)
	for query, pages := range map[string]int{"": 3, "?limit=&cursor=": 3, "?limit=1": 23, "?limit=22": 2, "?limit=23": 1, "?limit=50": 1, "?limit=5&x=1": 5} {
		first := read(feedbackPath + query)
		var seen []any
		for current, number := first, 1; ; number++ {
			for _, item := range current.Items {
				seen = append(seen, item["interview_id"])
			}
			if current.First != first.Self || read(current.Self).Self != current.Self {
				t.Errorf("%q: page %d has the links %+v", query, number, current)
			}
			if current.Next == nil {
				if number != pages || current.Self != current.Last {
					t.Errorf("%q: %d pages, want %d; the last is %s", query, number, pages, current.Last)
				}
				break
			}
			next := read(*current.Next)
			if next.Prev == nil || *next.Prev != current.Self {
				t.Errorf("%q: got link %[3]v to the page before page %[2]d", query, number+1, next.Prev)
			}
			current = next
		}
		if len(seen) != interviews || seen[0] != "interview 0" || seen[interviews-1] != fmt.Sprint("interview ", interviews-1) {
			t.Errorf("%q: got interviews %v", query, seen)
		}
	}
}

// TestLinksUseRequestHost checks that links use the host of the request.
func TestLinksUseRequestHost(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	handler := guidance.New(guidance.Options{Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}, TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(t), Usage: r.store, Feedback: r.store, Scheme: "https", Now: time.Now})
	bearer := "Bearer " + r.token("portal", "portal-key", "")
	for _, host := range []string{"acme.example", "10.0.0.7:8443", "localhost:443", "[2001:db8::1]:8443"} {
		request := httptest.NewRequest(http.MethodGet, feedbackPath, nil)
		request.Host = host
		request.Header.Set("Authorization", bearer)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		want := "https://" + host + feedbackPath + "?cursor=0&limit=10"
		if self := decode[feedbackPage](t, recorder.Body.String()).Self; self != want {
			t.Errorf("got link %s, want %s", self, want)
		}
	}
}

func TestInterviewFeedbackValidation(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.storeFeedback(11)
	bearer := "Bearer " + r.token("portal", "portal-key", "")
	for query, want := range map[string]string{
		"?limit=0":                           "limit: expected a whole number from 1 to 50",
		"?limit=51":                          "limit: expected a whole number from 1 to 50",
		"?limit=-1":                          "limit: expected a whole number from 1 to 50",
		"?limit=ten":                         "limit: expected a whole number from 1 to 50",
		"?limit=1.5":                         "limit: expected a whole number from 1 to 50",
		"?limit=99999999999999999999":        "limit: expected a whole number from 1 to 50",
		"?limit=5&limit=6":                   "limit: must be specified once",
		"?cursor=2":                          "cursor: expected 0 to 1, the number of the last page",
		"?limit=11&cursor=1":                 "cursor: expected 0 to 0, the number of the last page",
		"?cursor=-1":                         "cursor: expected a page number, as in the pagination links",
		"?cursor=eyJhIjoxfQ":                 "cursor: expected a page number, as in the pagination links",
		"?cursor=9223372036854775807":        "cursor: expected a page number, as in the pagination links",
		"?cursor=1125899906842624&limit=50":  "cursor: expected 0 to 0, the number of the last page",
		"?cursor=x&limit=0":                  "limit: expected a whole number from 1 to 50; cursor: expected a page number, as in the pagination links",
		"?cursor=1&limit=10&cursor=1&limit=": "limit: must be specified once",
	} {
		response, text := r.call("GET", feedbackPath+query, "", "Authorization", bearer)
		decoded := decode[struct {
			Errors []struct{ Field, Message string }
		}](t, text)
		var fields []string
		for _, fieldErr := range decoded.Errors {
			fields = append(fields, fieldErr.Field+": "+fieldErr.Message)
		}
		if got := strings.Join(fields, "; "); response.StatusCode != http.StatusUnprocessableEntity || got != want {
			t.Errorf("%s: got status %d, %s; want %s", query, response.StatusCode, got, want)
		}
	}
}

func TestInterviewFeedbackAuthorization(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for name, test := range map[string]struct {
		header []string
		status int
		want   string
	}{
		"no token":      {nil, 401, "missing Authorization header"},
		"garbage":       {[]string{"Authorization", "Bearer hunter2"}, 401, "not a JWT"},
		"without scope": {[]string{"Authorization", "Bearer " + r.token("portal", "portal-key", "config:read survey:write")}, 403, "survey:read"},
	} {
		response, text := r.call("GET", feedbackPath+"?limit=0", "", test.header...)
		if response.StatusCode != test.status || !strings.Contains(text, test.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got status %d: %s", name, response.StatusCode, text)
		}
	}
}

func (s failingStore) ListFeedback(context.Context, int64, int64) ([]feedback.InterviewFeedback, int64, error) {
	return nil, 0, s.err
}

func TestInterviewFeedbackStorageDown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, func(o *guidance.Options) { o.Feedback = failingStore{errors.New("disk failure")} })
	response, text := r.call("GET", feedbackPath, "", "Authorization", "Bearer "+r.token("portal", "portal-key", ""), "X-Request-Id", "lost-8")
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "5" || strings.Contains(text, "disk") {
		t.Errorf("got status %d, Retry-After %q: %s", response.StatusCode, response.Header.Get("Retry-After"), text)
	}
	if log := r.log.String(); strings.Count(log, "disk failure") != 1 || !strings.Contains(log, "requestId=lost-8") {
		t.Errorf("got log %q, want the cause once", log)
	}
}

// FuzzFeedbackQuery checks that every query gets a response allowed by the contract.
func FuzzFeedbackQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=5&cursor=1", "limit=0", "cursor=-1", "limit=%31", "limit", "cursor=9223372036854775807", "%zz", "a=b;c"} {
		f.Add(seed)
	}
	r := newFixture(f)
	r.storeFeedback(30)
	handler := guidance.New(guidance.Options{Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}, TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(f), Usage: r.store, Feedback: r.store, Now: time.Now})
	bearer := "Bearer " + r.token("portal", "portal-key", "")
	checked, err := parsedContract()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		request := httptest.NewRequest(http.MethodGet, feedbackPath, nil)
		request.URL.RawQuery = query
		request.Header.Set("Authorization", bearer)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if err := checked.ValidateResponse(request, recorder.Code, recorder.Header(), recorder.Body.Bytes()); err != nil || recorder.Code >= 500 {
			t.Errorf("%q: got status %d %s: %v", query, recorder.Code, recorder.Body, err)
		}
	})
}
