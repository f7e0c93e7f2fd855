// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	anamnesis "github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// TestClassifyError distinguishes responses of an Instance: temporary states, rejections
// that a user must resolve, and transient errors.
func TestClassifyError(t *testing.T) {
	t.Parallel()
	refusal := func(status int) error {
		return fmt.Errorf("wrapped: %w", &anamnesis.Error{
			Status: status, Message: "no, t0ken", RequestID: "different each time",
			Fields: []guidance.FieldError{{Field: "url", Message: "is none"}},
		})
	}
	for name, test := range map[string]struct {
		err                   error
		kind, reason, message string
	}{
		"no access":      {refusal(401), "waiting", reasonCredentialsPropagating, "subscribing: the server does not accept the operator's key yet; the key reaches the pods within two minutes: no, [redacted]; url: is none"},
		"no scope":       {refusal(403), "waiting", reasonCredentialsPropagating, "subscribing: the server does not accept the operator's key yet; the key reaches the pods within two minutes: no, [redacted]; url: is none"},
		"too many":       {refusal(409), "waiting", reasonSubscriptionLimitReached, "subscribing: no, [redacted]; url: is none; delete unused subscriptions or WebhookConfigs of this Instance"},
		"not taken":      {refusal(422), "stalled", reasonSubscriptionRejected, "subscribing: no, [redacted]; url: is none"},
		"not there":      {refusal(404), "accident", "", "subscribing: the Instance responded with 404 Not Found"},
		"not well":       {refusal(503), "accident", "", "subscribing: the Instance responded with status 503: no, [redacted]; url: is none"},
		"not reached":    {&net.OpError{Op: "dial", Net: "tcp", Source: &net.TCPAddr{Port: 40123}, Err: errors.New("connection refused")}, "accident", "", "subscribing: dial: connection refused"},
		"not understood": {errors.New("no JSON"), "accident", "", "subscribing: no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := subscriptionClient{token: "t0ken"}.classifyError("subscribing", test.err)
			kind, reason := "accident", ""
			if found := problem.FromError(err); found != nil {
				reason = found.Reason
				if kind = "waiting"; found.Stalled {
					kind = "stalled"
				}
			}
			if diff := cmp.Diff([]string{test.kind, test.reason, test.message}, []string{kind, reason, err.Error()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorMessagesAreTruncated(t *testing.T) {
	t.Parallel()
	err := subscriptionClient{}.classifyError("subscribing", &anamnesis.Error{Status: 500, Message: strings.Repeat("ä", 10_000) + "\xff"})
	if len(err.Error()) > maxErrorLength+100 {
		t.Errorf("error message has %d bytes", len(err.Error()))
	}
}

func TestIsValidToken(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]bool{
		"t0ken": true, "!~": true, strings.Repeat("a", 512): true,
		"": false, "two words": false, "t0ken\n": false, "tökén": false, "\x7f": false, strings.Repeat("a", 513): false,
	} {
		if got := isValidToken(token); got != want {
			t.Errorf("%q: got %v", token, got)
		}
	}
	if hashToken("whsec_one", "t0ken") == hashToken("whsec_other", "t0ken") || hashToken("whsec_one", "t0ken") == hashToken("whsec_one", "other") {
		t.Error("hashes of different tokens or signing secrets are equal")
	}
}

func TestValidateSigningSecret(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]bool{
		testSigningSecret: true,
		"":                false, "secret": false, "whsec_": false, "whsec_short": false, testSigningSecret + "\n": false, "whsec_" + strings.Repeat("a", 300): false,
	} {
		if got := validateSigningSecret(secret) == nil; got != want {
			t.Errorf("%q: got %v", secret, got)
		}
	}
}

func TestCountConditions(t *testing.T) {
	t.Parallel()
	well, stuck := newConfig("a", receiverURL, 0), newConfig("b", receiverURL, 0)
	(&scope{config: &well, startedAt: noon}).setConditions(nil)
	(&scope{config: &stuck, startedAt: noon}).setConditions([]error{problem.Stalled("", reasonReceiverGone, "x")})
	want := map[conditionKey]int{
		{"Ready", metav1.ConditionTrue, reasonSubscribed}: 1, {"Ready", metav1.ConditionFalse, reasonReceiverGone}: 1, {"Stalled", metav1.ConditionTrue, reasonReceiverGone}: 1,
	}
	if diff := cmp.Diff(want, countConditions([]v1alpha1.WebhookConfig{well, stuck})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClassifyOutcome(t *testing.T) {
	t.Parallel()
	config, suspended := newConfig("a", receiverURL, 0), newConfig("b", receiverURL, 0)
	suspended.Spec.Suspend = true
	for want, failures := range map[outcome.Outcome][]error{
		outcome.Ready:     nil,
		outcome.Waiting:   {errors.New("x"), problem.Waiting("", "X", "x")},
		outcome.Stalled:   {problem.Waiting("", "X", "x"), problem.Stalled("", "X", "x")},
		outcome.Transient: {errors.New("x")},
	} {
		if got := classifyOutcome(&config, failures); got != want {
			t.Errorf("%v: got %s, want %s", failures, got, want)
		}
		if got := classifyOutcome(&suspended, failures); got != outcome.Suspended {
			t.Errorf("%v while suspended: got %s", failures, got)
		}
	}
}
