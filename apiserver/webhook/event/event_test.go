// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
)

var testTime = time.Date(2026, time.November, 23, 10, 0, 0, 0, time.UTC)

func TestEventBody(t *testing.T) {
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
			t.Errorf("body of reordered content is %s", other.Body())
		}
		kept, err := json.Marshal(test.event)
		var again Event
		if err := errors.Join(err, json.Unmarshal(kept, &again)); err != nil || string(again.Body()) != test.want {
			t.Errorf("event after a round trip is %+v, error %v", again, err)
		}
	}
}

func TestIsSubscribed(t *testing.T) {
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
		if got := IsSubscribed(test.subscribed, test.kind); got != test.want {
			t.Errorf("IsSubscribed(%v, %s) = %t", test.subscribed, test.kind, got)
		}
	}
}

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		attempt    int
		retryAfter time.Duration
		jitter     float64
		want       time.Duration
		retry      bool
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
		delay, retry := RetryDelay(test.attempt, test.retryAfter, test.jitter)
		if delay != test.want || retry != test.retry {
			t.Errorf("RetryDelay(%d, %v, %v) = %v, %t", test.attempt, test.retryAfter, test.jitter, delay, retry)
		}
	}
	if MaxAttempts() != 10 {
		t.Errorf("MaxAttempts() = %d, want 10", MaxAttempts())
	}
}

var errNoResponse = errors.New("no response")

func TestReceiverHealthTransitions(t *testing.T) {
	t.Parallel()
	fail, ok, gone := DeliveryResult{StatusCode: 500}, DeliveryResult{StatusCode: 204}, DeliveryResult{StatusCode: http.StatusGone}
	type step struct {
		result  DeliveryResult
		want    ReceiverStatus
		canSend bool
	}
	for name, steps := range map[string][]step{
		"five failures open it, and a success closes it": {
			{fail, StatusActive, true}, {fail, StatusActive, true}, {DeliveryResult{Err: errNoResponse}, StatusActive, true}, {fail, StatusActive, true},
			{fail, StatusFailing, false}, {ok, StatusActive, true}, {fail, StatusActive, true},
		},
		"a success between": {{fail, StatusActive, true}, {fail, StatusActive, true}, {fail, StatusActive, true}, {fail, StatusActive, true}, {ok, StatusActive, true}, {fail, StatusActive, true}},
		"gone":              {{fail, StatusActive, true}, {gone, StatusDisabled, false}, {ok, StatusDisabled, false}},
	} {
		var health ReceiverHealth
		for i, step := range steps {
			health = health.WithResult(step.result, testTime)
			if health.Status() != step.want || health.CanSend(testTime) != step.canSend {
				t.Errorf("%s: after step %d: status %s, CanSend %t", name, i, health.Status(), health.CanSend(testTime))
			}
		}
	}
}

// TestCooldownDoublesUpToMaximum checks that the cooldown doubles with each failed
// probe, up to maxCooldown.
func TestCooldownDoublesUpToMaximum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		failures := rapid.IntRange(1, 100).Draw(r, "failures")
		var health ReceiverHealth
		now, before := testTime, time.Duration(0)
		for range failures {
			health = health.WithResult(DeliveryResult{Err: errNoResponse}, now)
			if again := health.WithResult(DeliveryResult{Err: errNoResponse}, now); !health.CanSend(now) && again != health {
				r.Fatalf("failure of an attempt in flight changed %+v to %+v", health, again)
			}
			cooldown := max(health.CircuitOpenUntil.Sub(now), 0)
			if cooldown < before || cooldown > maxCooldown || health.ConsecutiveFailures >= failureThreshold && cooldown < minCooldown {
				r.Fatalf("cooldown after %d failures is %v, previous cooldown was %v", health.ConsecutiveFailures, cooldown, before)
			}
			if cooldown > 0 && health.CanSend(now.Add(cooldown-1)) || !health.CanSend(now.Add(cooldown)) {
				r.Fatalf("circuit does not stay open for %v", cooldown)
			}
			now, before = now.Add(cooldown), cooldown
		}
	})
}

// TestSignaturesVerifyDuringRotation checks with the Standard Webhooks library that
// deliveries verify during a secret rotation, and others do not.
func TestSignaturesVerifyDuringRotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		first, second := drawSecret(r, "first"), drawSecret(r, "second")
		now := time.Now() // the library compares it with the system clock
		event := NewNotification(rapid.StringMatching(`[a-z0-9-]{1,36}`).Draw(r, "id"), "s1", "u1")
		before := Secrets{Token: "t", SigningSecret: first}
		after := before.Rotate(second, now)
		checkSignature(r, first, event, before, now, true)
		checkSignature(r, second, event, before, now, false)
		checkSignature(r, first, event, after, now, true)
		checkSignature(r, second, event, after, now, true)
		after.PreviousValidUntil = now
		checkSignature(r, first, event, after, now, false)
		checkSignature(r, second, event, after, now, true)
	})
}

func TestSecretsFormatIsRedacted(t *testing.T) {
	t.Parallel()
	secrets := Secrets{Token: "the-token", SigningSecret: EncodeSigningSecret([32]byte{1}), PreviousSigningSecret: EncodeSigningSecret([32]byte{2})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if text := fmt.Sprintf(verb, secrets); text != "[redacted receiver secrets]" {
			t.Errorf("verb %s prints %s", verb, text)
		}
	}
}

func drawSecret(r *rapid.T, label string) string {
	random := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, label)
	return EncodeSigningSecret([32]byte(random))
}

func checkSignature(r *rapid.T, secret string, event Event, signed Secrets, now time.Time, want bool) {
	receiver, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		r.Fatal(err)
	}
	header := http.Header{}
	header.Set("webhook-id", event.ID)
	header.Set("webhook-timestamp", Timestamp(now))
	header.Set("webhook-signature", signed.Signatures(event.ID, now, event.Body()))
	same := signed.SigningSecret == secret || signed.PreviousSigningSecret == secret
	if err := receiver.Verify(event.Body(), header); (err == nil) != want && (want || !same) {
		r.Fatalf("signature verification: error %v, want success %t", err, want)
	}
	if receiver.Verify(append(event.Body(), ' '), header) == nil {
		r.Fatal("signature verifies for a modified body")
	}
}

func FuzzValidateURL(f *testing.F) {
	for _, text := range []string{"https://one.example/events?a=b", "http://x", "https://u:p@x/#", "https://[::1]:443", "https:///x", "https://x:99999", "https:x", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		url, err := ValidateURL("url", text, false)
		if err == nil && (url != text || !strings.HasPrefix(strings.ToLower(text), "https://") || strings.Contains(text, "#") || len(text) > maxURLLength) {
			t.Errorf("ValidateURL accepted %q as %q", text, url)
		}
		if _, requestErr := http.NewRequest(http.MethodPost, url, nil); err == nil && requestErr != nil {
			t.Errorf("ValidateURL accepted %q, which is not a valid request URL: %v", text, requestErr)
		}
	})
}
