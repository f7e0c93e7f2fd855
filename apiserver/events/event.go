// SPDX-License-Identifier: Apache-2.0

package events

import (
	"encoding/json"
	"slices"
)

// Type is the kind of an event.
type Type string

// The events. A ping is sent to try a receiver out, and nobody subscribes to it.
const (
	SurveyFinished Type = "survey_finished"
	Notification   Type = "notification"
	Ping           Type = "ping"
)

// Types are those that can be subscribed to.
func Types() []Type { return []Type{SurveyFinished, Notification} }

// Event is something that happened. It carries ids, and nothing of a patient.
type Event struct {
	ID      string          `json:"id"` // the same however often it is told
	Type    Type            `json:"type"`
	Content json.RawMessage `json:"content"`
}

// NewSurveyFinished says, by an id of its own, that a survey was completed.
func NewSurveyFinished(id, surveyID string) Event {
	return newEvent(id, SurveyFinished, map[string]string{"survey_id": surveyID})
}

// NewNotification says that the notification date of a user's survey is reached.
func NewNotification(id, surveyID, userID string) Event {
	return newEvent(id, Notification, map[string]string{"survey_id": surveyID, "user_id": userID})
}

// NewPing tries a receiver out.
func NewPing(id string) Event { return newEvent(id, Ping, map[string]string{}) }

func newEvent(id string, kind Type, ids map[string]string) Event {
	content, err := json.Marshal(ids)
	if err != nil {
		panic(err) // a map of texts always has a form in JSON
	}
	return Event{ID: id, Type: kind, Content: content}
}

// Body is what a receiver is sent of an event, in JSON. It is some hundred bytes long, and
// the same whatever a store made of the order of the ids.
func (e Event) Body() []byte {
	said := struct {
		Type    Type              `json:"event_type"`
		Content map[string]string `json:"content"`
	}{Type: e.Type}
	err := json.Unmarshal(e.Content, &said.Content)
	body, encodeErr := json.Marshal(said)
	if err != nil || encodeErr != nil {
		panic("an event whose content newEvent did not make")
	}
	return body
}

// Wants says whether a receiver that subscribed to events, or to all for nil, is told of
// a kind of them.
func Wants(subscribed []Type, kind Type) bool {
	return kind == Ping || subscribed == nil || slices.Contains(subscribed, kind)
}
