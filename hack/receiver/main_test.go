// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	eventsdelivery "github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// TestReceiverVerifiesSignatures checks that the receiver accepts only deliveries signingSecret
// with its secret, including while the secret is being rotated.
func TestReceiverVerifiesSignatures(t *testing.T) {
	t.Parallel()
	secret := event.EncodeSigningSecret([32]byte{1})
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		signingSecret string
		status        int
	}{
		"own secret":      {secret, 204},
		"other secret":    {event.EncodeSigningSecret([32]byte{2}), 403},
		"during rotation": {secret, 204},
	} {
		var printed bytes.Buffer
		server := httptest.NewServer(&receiver{status: 204, verifier: verifier, out: json.NewEncoder(&printed)})
		settings := eventsdelivery.Settings{AddressPolicy: eventsdelivery.AddressPolicy{AllowLoopback: true, AllowAnyPort: true}}
		sender := &eventsdelivery.Sender{Settings: func() eventsdelivery.Settings { return settings }, Now: time.Now}
		secrets := event.Secrets{Token: "t", SigningSecret: test.signingSecret}
		if name == "during rotation" {
			secrets = secrets.Rotate(event.EncodeSigningSecret([32]byte{3}), time.Now())
		}
		result := sender.Send(context.Background(), eventsdelivery.Receiver{URL: server.URL, Secrets: secrets}, event.NewPing("e1"))
		sender.Close()
		server.Close()
		var received delivery
		if err := json.Unmarshal(printed.Bytes(), &received); err != nil {
			t.Fatal(err)
		}
		if result.StatusCode != test.status || received.WebhookID != "e1" || received.Token != "t" || received.Verified != (test.status == 204) {
			t.Errorf("%s: got result %+v and output %s", name, result, printed.String())
		}
	}
}
