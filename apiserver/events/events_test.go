// SPDX-License-Identifier: Apache-2.0

package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
)

var moment = time.Date(2026, time.November, 23, 10, 0, 0, 0, time.UTC)

// TestIsPure: what is decided about events knows neither HTTP nor SQL, nor clock or
// chance but by what it is given.
func TestIsPure(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"net/http", "database/sql", "log/slog"} {
		if slices.Contains(strings.Fields(string(output)), banned) {
			t.Errorf("%s is imported, at least by what is imported", banned)
		}
	}
	output, err = exec.Command("go", "list", "-f", `{{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"math/rand/v2", "crypto/rand", "os"} {
		if slices.Contains(strings.Fields(string(output)), banned) {
			t.Errorf("%s is imported", banned)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event Event
		want  string
	}{
		{NewSurveyFinished("e1", "s1"), `{"event_type":"survey_finished","content":{"survey_id":"s1"}}`},
		{NewNotification("e2", "s1", "u1"), `{"event_type":"notification","content":{"survey_id":"s1","user_id":"u1"}}`},
		{NewPing("e3"), `{"event_type":"ping","content":{}}`},
	} {
		if diff := cmp.Diff(test.want, string(test.event.Body())); diff != "" {
			t.Error(diff)
		}
		if other := (Event{Type: Notification, Content: json.RawMessage(`{"user_id": "u1", "survey_id":"s1"}`)}); test.event.Type == Notification && string(other.Body()) != test.want {
			t.Errorf("in another order it is %s", other.Body())
		}
		kept, err := json.Marshal(test.event)
		var again Event
		if err := errors.Join(err, json.Unmarshal(kept, &again)); err != nil || string(again.Body()) != test.want {
			t.Errorf("after it was kept it is %+v, %v", again, err)
		}
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		subscribed []Type
		kind       Type
		want       bool
	}{
		{nil, SurveyFinished, true},
		{[]Type{}, SurveyFinished, false},
		{[]Type{Notification}, SurveyFinished, false},
		{[]Type{Notification}, Notification, true},
		{[]Type{}, Ping, true},
	} {
		if got := Wants(test.subscribed, test.kind); got != test.want {
			t.Errorf("%v wants %s: %t", test.subscribed, test.kind, got)
		}
	}
}

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		attempt    int
		retryAfter time.Duration
		chance     float64
		want       time.Duration
		again      bool
	}{
		{1, 0, 0, 5 * time.Second, true},
		{1, 0, .5, 5500 * time.Millisecond, true},
		{2, 0, 0, 5 * time.Minute, true},
		{9, 0, 0, 24 * time.Hour, true},
		{10, 0, 0, 0, false},
		{0, 0, 0, 0, false},
		{1, time.Minute, 0, time.Minute, true},
		{3, time.Minute, 0, 30 * time.Minute, true},
		{1, 1000 * time.Hour, 0, 24 * time.Hour, true},
	} {
		pause, again := PauseAfter(test.attempt, test.retryAfter, test.chance)
		if pause != test.want || again != test.again {
			t.Errorf("after attempt %d, asked to wait for %v, by chance %v: %v, %t", test.attempt, test.retryAfter, test.chance, pause, again)
		}
	}
	if MostAttempts() != 10 {
		t.Errorf("tried %d times", MostAttempts())
	}
}

var errSilent = errors.New("no answer")

func TestHealth(t *testing.T) {
	t.Parallel()
	fail, ok, gone := Result{Status: 500}, Result{Status: 204}, Result{Status: http.StatusGone}
	type step struct {
		result Result
		want   Status
		sends  bool
	}
	for name, steps := range map[string][]step{
		"five failures open it, and a success closes it": {
			{fail, Active, true}, {fail, Active, true}, {Result{Err: errSilent}, Active, true}, {fail, Active, true},
			{fail, Failing, false}, {ok, Active, true}, {fail, Active, true},
		},
		"a success between": {{fail, Active, true}, {fail, Active, true}, {fail, Active, true}, {fail, Active, true}, {ok, Active, true}, {fail, Active, true}},
		"gone":              {{fail, Active, true}, {gone, Disabled, false}, {ok, Disabled, false}},
	} {
		var health Health
		for i, step := range steps {
			health = health.After(step.result, moment)
			if health.Status() != step.want || health.Sends(moment) != step.sends {
				t.Errorf("%s: after step %d it is %s, and sends: %t", name, i, health.Status(), health.Sends(moment))
			}
		}
	}
}

// A receiver that fails is left alone for longer and longer, but never for long.
func TestRests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		failures := rapid.IntRange(1, 100).Draw(r, "failures")
		var health Health
		now, before := moment, time.Duration(0)
		for range failures {
			health = health.After(Result{Err: errSilent}, now)
			if under := health.After(Result{Err: errSilent}, now); !health.Sends(now) && under != health {
				r.Fatalf("what was under way makes %+v of %+v", under, health)
			}
			rests := max(health.ClosedUntil.Sub(now), 0)
			if rests < before || rests > longestRest || health.Failures >= mostFailures && rests < shortestRest {
				r.Fatalf("after %d failures it rests for %v, before for %v", health.Failures, rests, before)
			}
			if rests > 0 && health.Sends(now.Add(rests-1)) || !health.Sends(now.Add(rests)) {
				r.Fatalf("it does not rest for %v", rests)
			}
			now, before = now.Add(rests), rests
		}
	})
}

// A receiver built with the library of Standard Webhooks verifies deliveries while the
// secret turns, and no others.
func TestSignatures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		first, second := drawSecret(r, "first"), drawSecret(r, "second")
		now := time.Now() // which the library compares with its own
		event := NewNotification(rapid.StringMatching(`[a-z0-9-]{1,36}`).Draw(r, "id"), "s1", "u1")
		before := Secrets{Token: "t", Signing: first}
		after := before.Rotate(second, now)
		verify(r, first, event, before, now, true)
		verify(r, second, event, before, now, false)
		verify(r, first, event, after, now, true)
		verify(r, second, event, after, now, true)
		after.FormerUntil = now
		verify(r, first, event, after, now, false)
		verify(r, second, event, after, now, true)
	})
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	secrets := Secrets{Token: "the-token", Signing: SigningSecret([32]byte{1}), Former: SigningSecret([32]byte{2})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if text := fmt.Sprintf(verb, secrets); text != "secrets of a receiver" {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func drawSecret(r *rapid.T, label string) string {
	random := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, label)
	return SigningSecret([32]byte(random))
}

func verify(r *rapid.T, secret string, event Event, signed Secrets, now time.Time, want bool) {
	receiver, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		r.Fatal(err)
	}
	header := http.Header{}
	header.Set("webhook-id", event.ID)
	header.Set("webhook-timestamp", Timestamp(now))
	header.Set("webhook-signature", signed.Signatures(event.ID, now, event.Body()))
	same := signed.Signing == secret || signed.Former == secret
	if err := receiver.Verify(event.Body(), header); (err == nil) != want && (want || !same) {
		r.Fatalf("verified: %v, want %t", err, want)
	}
	if receiver.Verify(append(event.Body(), ' '), header) == nil {
		r.Fatal("another body is taken for it")
	}
}

func FuzzReadURL(f *testing.F) {
	for _, text := range []string{"https://one.example/events?a=b", "http://x", "https://u:p@x/#", "https://[::1]:443", "https:///x", "https://x:99999", "https:x", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		url, err := ReadURL("url", text, false)
		if err == nil && (url != text || !strings.HasPrefix(strings.ToLower(text), "https://") || strings.Contains(text, "#") || len(text) > longestURL) {
			t.Errorf("%q is taken as %q", text, url)
		}
		if _, requestErr := http.NewRequest(http.MethodPost, url, nil); err == nil && requestErr != nil {
			t.Errorf("%q is taken and cannot be called: %v", text, requestErr)
		}
	})
}
