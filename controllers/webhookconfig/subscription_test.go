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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// TestExplain tells answers of an Instance apart: what passes, what somebody has to
// change, and what is an accident.
func TestExplain(t *testing.T) {
	t.Parallel()
	refusal := func(status int) error {
		return fmt.Errorf("a wrapper: %w", &anamnesis.Error{
			Status: status, Message: "no, t0ken", RequestID: "different each time",
			Fields: []guidance.FieldError{{Field: "url", Message: "is none"}},
		})
	}
	for name, test := range map[string]struct {
		err                   error
		kind, reason, message string
	}{
		"no access":      {refusal(401), "waiting", reasonCredentialsAwaited, "subscribing: the server does not take the operator's key yet, which reaches its pods within two minutes: no, (the token); url: is none"},
		"no scope":       {refusal(403), "waiting", reasonCredentialsAwaited, "subscribing: the server does not take the operator's key yet, which reaches its pods within two minutes: no, (the token); url: is none"},
		"too many":       {refusal(409), "waiting", reasonTooManySubscriptions, "subscribing: no, (the token); url: is none; delete others of this Instance, or WebhookConfigs that are not needed"},
		"not taken":      {refusal(422), "stalled", reasonRefusedByInstance, "subscribing: no, (the token); url: is none"},
		"not there":      {refusal(404), "accident", "", "subscribing: the Instance says that there is no such thing"},
		"not well":       {refusal(503), "accident", "", "subscribing: the Instance answered with 503: no, (the token); url: is none"},
		"not reached":    {&net.OpError{Op: "dial", Net: "tcp", Source: &net.TCPAddr{Port: 40123}, Err: errors.New("connection refused")}, "accident", "", "subscribing: dial: connection refused"},
		"not understood": {errors.New("no JSON"), "accident", "", "subscribing: no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := subscriptions{token: "t0ken"}.explain("subscribing", test.err)
			kind, reason := "accident", ""
			if found := problem.Of(err); found != nil {
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

func TestAnswersAreCutShort(t *testing.T) {
	t.Parallel()
	err := subscriptions{}.explain("subscribing", &anamnesis.Error{Status: 500, Message: strings.Repeat("ä", 10_000) + "\xff"})
	if len(err.Error()) > longestAnswer+100 {
		t.Errorf("%d bytes of an answer are shown", len(err.Error()))
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]bool{
		"t0ken": true, "!~": true, strings.Repeat("a", 512): true,
		"": false, "two words": false, "t0ken\n": false, "tökén": false, "\x7f": false, strings.Repeat("a", 513): false,
	} {
		if got := isToken(token); got != want {
			t.Errorf("%q: got %v", token, got)
		}
	}
	if hashToken("whsec_one", "t0ken") == hashToken("whsec_other", "t0ken") || hashToken("whsec_one", "t0ken") == hashToken("whsec_one", "other") {
		t.Error("hashes do not tell tokens and signing secrets apart")
	}
}

func TestSigningSecretsAreChecked(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]bool{
		someSecret: true,
		"":         false, "secret": false, "whsec_": false, "whsec_short": false, someSecret + "\n": false, "whsec_" + strings.Repeat("a", 300): false,
	} {
		if got := checkSecret(secret) == nil; got != want {
			t.Errorf("%q: got %v", secret, got)
		}
	}
}

func TestCountConditions(t *testing.T) {
	t.Parallel()
	well, stuck := configTo("a", somePlace, 0), configTo("b", somePlace, 0)
	(&visit{config: &well, began: noon}).summarize(nil)
	(&visit{config: &stuck, began: noon}).summarize([]error{problem.Stalled("", reasonDisabled, "x")})
	want := map[conditionKey]int{
		{"Ready", metav1.ConditionTrue, reasonSubscribed}: 1, {"Ready", metav1.ConditionFalse, reasonDisabled}: 1, {"Stalled", metav1.ConditionTrue, reasonDisabled}: 1,
	}
	if diff := cmp.Diff(want, countConditions([]v1alpha1.WebhookConfig{well, stuck})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	config, suspended := configTo("a", somePlace, 0), configTo("b", somePlace, 0)
	suspended.Spec.Suspend = true
	for want, failures := range map[outcome][]error{
		outcomeReady:     nil,
		outcomeWaiting:   {errors.New("x"), problem.Waiting("", "X", "x")},
		outcomeStalled:   {problem.Waiting("", "X", "x"), problem.Stalled("", "X", "x")},
		outcomeTransient: {errors.New("x")},
	} {
		if got := outcomeOf(&config, failures); got != want {
			t.Errorf("%v: got %s, want %s", failures, got, want)
		}
		if got := outcomeOf(&suspended, failures); got != outcomeSuspended {
			t.Errorf("%v, suspended: got %s", failures, got)
		}
	}
}
