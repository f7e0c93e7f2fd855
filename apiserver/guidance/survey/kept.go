// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
)

// readKept reads a value that is kept as it came, without the blanks around it; null
// is none.
func readKept(field string, sent json.RawMessage) (json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, sent); err != nil {
		return nil, &assessment.FieldError{Field: field, Problem: "expected JSON"}
	}
	switch value := compact.Bytes(); {
	case len(value) > mostKept:
		return nil, &assessment.FieldError{Field: field, Problem: fmt.Sprintf("expected at most %d bytes of JSON, got %d", mostKept, len(value))}
	case bytes.Contains(value, []byte(`\u0000`)): // which databases do not keep
		return nil, &assessment.FieldError{Field: field, Problem: "expected JSON without the character U+0000"}
	case string(value) == "null":
		return nil, nil
	default:
		return value, nil
	}
}
