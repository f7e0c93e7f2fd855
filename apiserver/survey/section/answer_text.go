// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseText parses a string and checks its length in code points. A blank string does
// not satisfy a required question. The error does not repeat what the patient wrote.
func (j answerParser) parseText(sent json.RawMessage) (record.Answer, error) {
	var text string
	if err := json.Unmarshal(sent, &text); err != nil {
		return record.Answer{}, j.fieldError(answerField, describeJSON(sent))
	}
	switch length := utf8.RuneCountInString(text); {
	case length > j.Meta.MaxLength:
		return record.Answer{}, j.fieldError(answerField, fmt.Sprintf("%d", length))
	case j.Meta.Required && strings.TrimSpace(text) == "":
		return record.Answer{}, j.fieldError(answerField, "only whitespace")
	case strings.ContainsRune(text, 0): // databases do not store NUL
		return record.Answer{}, j.fieldError(answerField, "a string containing U+0000")
	}
	return record.Answer{Kind: record.KindText, Text: text}, nil
}
