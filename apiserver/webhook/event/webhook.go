// SPDX-License-Identifier: Apache-2.0

package event

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// Webhook is the stored form of a webhook configuration. Its secrets are encrypted.
type Webhook struct {
	ID               string
	Settings         WebhookSettings
	EncryptedSecrets []byte // encrypted secrets
	KeyVersion       string // version of the keys that encrypted them
	Health           ReceiverHealth
}

// WebhookSettings are the tenant's settings of a webhook.
type WebhookSettings struct {
	URL       string `json:"url"`
	Events    []Type `json:"events"` // null means all
	Reference string `json:"reference,omitempty"`
}

// Attempt is an attempt to deliver an event to a webhook.
type Attempt struct {
	ID            string    `json:"-"`
	WebhookID     string    `json:"-"` // webhook of the receiver
	At            time.Time `json:"-"`
	Event         Event     `json:"event"`
	Number        int       `json:"number"`           // counted from 1
	StatusCode    int       `json:"status,omitempty"` // response status; zero if there was no response
	Error         string    `json:"error,omitempty"`  // empty if the attempt succeeded
	NextAttemptAt time.Time `json:"next_at,omitzero"` // time of the next attempt; zero if none
}

// GroupByWebhook groups attempts by webhook, ordered by webhook id, so that concurrent
// writers lock webhooks in the same order and do not deadlock.
func GroupByWebhook(attempts []Attempt) iter.Seq2[string, []Attempt] {
	sorted := slices.SortedStableFunc(slices.Values(attempts), func(a, b Attempt) int {
		return strings.Compare(a.WebhookID, b.WebhookID)
	})
	return func(yield func(string, []Attempt) bool) {
		for len(sorted) > 0 {
			id := sorted[0].WebhookID
			end := slices.IndexFunc(sorted, func(a Attempt) bool { return a.WebhookID != id })
			if end < 0 {
				end = len(sorted)
			}
			if !yield(id, sorted[:end]) {
				return
			}
			sorted = sorted[end:]
		}
	}
}
