// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
)

// parseClientData validates a JSON value, which is stored as sent except for surrounding
// whitespace. It returns nil for null.
func parseClientData(field string, sent json.RawMessage) (json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, sent); err != nil {
		return nil, &assessment.FieldError{Field: field, Problem: "expected JSON"}
	}
	switch value := compact.Bytes(); {
	case len(value) > maxClientDataBytes:
		return nil, &assessment.FieldError{Field: field, Problem: fmt.Sprintf("expected at most %d bytes of JSON, got %d", maxClientDataBytes, len(value))}
	case bytes.Contains(value, []byte(`\u0000`)): // databases do not store it
		return nil, &assessment.FieldError{Field: field, Problem: "expected JSON without the character U+0000"}
	case string(value) == "null":
		return nil, nil
	default:
		return value, nil
	}
}
