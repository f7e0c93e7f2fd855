// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// ValidateFeedback returns an error that wraps ErrInvalidFeedback if a store cannot hold
// the feedback. It does not interpret the intents.
func ValidateFeedback(interview feedback.InterviewFeedback) error {
	if !record.IsStorable(interview.Application) {
		return fmt.Errorf("%w: application %q: expected non-empty UTF-8 without NUL", ErrInvalidFeedback, interview.Application)
	}
	if !record.IsStorable(interview.ID) {
		return fmt.Errorf("%w: id %q: expected non-empty UTF-8 without NUL", ErrInvalidFeedback, interview.ID)
	}
	return nil
}

// Intent is an intent as stored in a database: JSON in the format of the API.
type Intent feedback.Intent

// Value implements driver.Valuer and returns the intent as JSON text.
func (i Intent) Value() (driver.Value, error) {
	text, err := json.Marshal(feedback.Intent(i))
	return string(text), err
}

// Scan implements sql.Scanner and reads the intent from JSON text.
func (i *Intent) Scan(value any) error {
	*i = Intent{}
	switch value := value.(type) {
	case string:
		return json.Unmarshal([]byte(value), (*feedback.Intent)(i))
	case []byte:
		return json.Unmarshal(value, (*feedback.Intent)(i))
	}
	return fmt.Errorf("unsupported feedback intent of type %T", value)
}
