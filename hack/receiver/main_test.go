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

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
)

// It takes what the server sends with the right secret, and nothing else.
func TestReceiver(t *testing.T) {
	t.Parallel()
	secret := events.SigningSecret([32]byte{1})
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		signed string
		status int
	}{
		"with the secret":     {secret, 204},
		"with another":        {events.SigningSecret([32]byte{2}), 403},
		"while it was turned": {secret, 204},
	} {
		var printed bytes.Buffer
		server := httptest.NewServer(&receiver{answer: 204, verifier: verifier, out: json.NewEncoder(&printed)})
		settings := deliver.Settings{Reach: deliver.Reach{Loopback: true, AnyPort: true}}
		sender := &deliver.Sender{Settings: func() deliver.Settings { return settings }, Now: time.Now}
		secrets := events.Secrets{Token: "t", Signing: test.signed}
		if name == "while it was turned" {
			secrets = secrets.Rotate(events.SigningSecret([32]byte{3}), time.Now())
		}
		result := sender.Send(context.Background(), deliver.Receiver{URL: server.URL, Secrets: secrets}, events.NewPing("e1"))
		sender.Close()
		server.Close()
		var taken delivery
		if err := json.Unmarshal(printed.Bytes(), &taken); err != nil {
			t.Fatal(err)
		}
		if result.Status != test.status || taken.WebhookID != "e1" || taken.Token != "t" || taken.Verified != (test.status == 204) {
			t.Errorf("%s: answered %+v, and printed %s", name, result, printed.String())
		}
	}
}
