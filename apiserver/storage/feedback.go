// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
)

// ValidateFeedback says, in an error that wraps ErrInvalidFeedback, what every
// store would refuse. What the intents mean is not judged.
func ValidateFeedback(interview feedback.Interview) error {
	if !storable(interview.Application) {
		return fmt.Errorf("%w: the application %q has to be UTF-8 without NUL, and not empty", ErrInvalidFeedback, interview.Application)
	}
	if !storable(interview.ID) {
		return fmt.Errorf("%w: the id %q has to be UTF-8 without NUL, and not empty", ErrInvalidFeedback, interview.ID)
	}
	return nil
}

// Intent is an intent as a database has it: JSON of the contract's form.
type Intent feedback.Intent

// Value gives a database the intent as JSON text.
func (i Intent) Value() (driver.Value, error) {
	text, err := json.Marshal(feedback.Intent(i))
	return string(text), err
}

// Scan takes the intent from a database, as JSON text.
func (i *Intent) Scan(value any) error {
	*i = Intent{}
	switch value := value.(type) {
	case string:
		return json.Unmarshal([]byte(value), (*feedback.Intent)(i))
	case []byte:
		return json.Unmarshal(value, (*feedback.Intent)(i))
	}
	return fmt.Errorf("cannot read an intent from a %T", value)
}
