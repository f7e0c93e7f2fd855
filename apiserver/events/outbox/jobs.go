// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
)

// Delivery is an event that a receiver is to be told of.
type Delivery struct {
	Receiver string       `json:"receiver"` // the id of its configuration
	Event    events.Event `json:"event"`

	// retryAt is when a try that failed is followed by another.
	retryAt time.Time
}

// Kind implements river.JobArgs.
func (Delivery) Kind() string { return "delivery" }

// Notification is a survey of which those who subscribed are told at some time.
type Notification struct {
	SurveyID string    `json:"survey_id"`
	At       time.Time `json:"at"`
}

// Kind implements river.JobArgs.
func (Notification) Kind() string { return "notification" }

// mostNotifications is how often a notification is tried. It fails only where storage
// does.
const mostNotifications = 1000

// notifications is the queue of all notifications.
const notifications = "notifications"

// queueOf is the queue of a receiver.
func queueOf(receiver string) string { return "webhook-" + receiver }

// receiverOf is the receiver whose queue it is, or empty for no receiver's.
func receiverOf(queue string) string {
	if len(queue) <= len("webhook-") || queue[:len("webhook-")] != "webhook-" {
		return ""
	}
	return queue[len("webhook-"):]
}

// Waiting says how much of a queue is still to be done.
type Waiting struct {
	// Queue is a receiver's, or that of notifications.
	Queue string
	Jobs  int64
	// Next is when the first of them is due, which may be past.
	Next time.Time
	// Running says that some of them are being done, or were when a server was killed.
	Running int64
}

// Receiver is whose deliveries wait, or empty for notifications.
func (w Waiting) Receiver() string { return receiverOf(w.Queue) }
