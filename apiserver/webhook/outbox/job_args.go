// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// Delivery is the job that delivers an event to a receiver.
type Delivery struct {
	ReceiverID string      `json:"receiver"` // webhook id
	Event      event.Event `json:"event"`

	// retryAt is when the failed job is retried.
	retryAt time.Time
}

// Kind implements river.JobArgs.
func (Delivery) Kind() string { return "delivery" }

// Notification is the job that publishes the notification event of a survey when it is
// due.
type Notification struct {
	SurveyID string    `json:"survey_id"`
	DueAt    time.Time `json:"at"`
}

// Kind implements river.JobArgs.
func (Notification) Kind() string { return "notification" }

// maxNotificationAttempts limits the attempts of a notification. It is high because a
// notification fails only when storage fails.
const maxNotificationAttempts = 1000

// notificationQueue is the queue of all notifications.
const notificationQueue = "notifications"

// queueName returns the queue name of a receiver.
func queueName(receiver string) string { return "webhook-" + receiver }

// receiverIDFromQueue returns the receiver id in a queue name, or "" for other queues.
func receiverIDFromQueue(queue string) string {
	if len(queue) <= len("webhook-") || queue[:len("webhook-")] != "webhook-" {
		return ""
	}
	return queue[len("webhook-"):]
}

// QueueStats counts the unfinished jobs of a queue.
type QueueStats struct {
	// Queue is the queue of a receiver or of notifications.
	Queue string
	Jobs  int64
	// NextDueAt is the time at which the first job is due. It may be in the past.
	NextDueAt time.Time
	// Running counts the jobs that are running, including jobs of killed servers.
	Running int64
}

// ReceiverID returns the receiver of the queue, or "" for notifications.
func (s QueueStats) ReceiverID() string { return receiverIDFromQueue(s.Queue) }
