// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"slices"
)

// Type is the type of an event.
type Type string

// Event types. Ping tests a receiver and cannot be subscribed to.
const (
	SurveyFinished Type = "survey_finished"
	Notification   Type = "notification"
	Ping           Type = "ping"
)

// SubscribableTypes returns the event types that receivers can subscribe to.
func SubscribableTypes() []Type { return []Type{SurveyFinished, Notification} }

// Event is a webhook event. It carries ids only, no patient data.
type Event struct {
	ID      string          `json:"id"` // stable across retries and redeliveries
	Type    Type            `json:"type"`
	Content json.RawMessage `json:"content"`
}

// NewSurveyFinished returns the event for a completed survey.
func NewSurveyFinished(id, surveyID string) Event {
	return newEvent(id, SurveyFinished, map[string]string{"survey_id": surveyID})
}

// NewNotification returns the event for a survey whose notification date has been
// reached.
func NewNotification(id, surveyID, userID string) Event {
	return newEvent(id, Notification, map[string]string{"survey_id": surveyID, "user_id": userID})
}

// NewPing returns an event that tests a receiver.
func NewPing(id string) Event { return newEvent(id, Ping, map[string]string{}) }

func newEvent(id string, kind Type, ids map[string]string) Event {
	content, err := json.Marshal(ids)
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return Event{ID: id, Type: kind, Content: content}
}

// Body returns the JSON payload. It is deterministic even if a store reorders the ids.
func (e Event) Body() []byte {
	payload := struct {
		Type    Type              `json:"event_type"`
		Content map[string]string `json:"content"`
	}{Type: e.Type}
	err := json.Unmarshal(e.Content, &payload.Content)
	body, encodeErr := json.Marshal(payload)
	if err != nil || encodeErr != nil {
		panic("invalid event content")
	}
	return body
}

// IsSubscribed reports whether a receiver with these subscriptions gets events of a
// type. Nil subscribes to all types.
func IsSubscribed(subscribed []Type, kind Type) bool {
	return kind == Ping || subscribed == nil || slices.Contains(subscribed, kind)
}
