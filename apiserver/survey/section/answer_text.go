// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseText parses a string and checks its length in code points. A blank string does not
// satisfy a required question. Errors do not reveal the patient's text.
func (p answerParser) parseText(raw json.RawMessage) (record.Answer, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return record.Answer{}, p.fieldError(answerField, describeJSON(raw))
	}
	switch length := utf8.RuneCountInString(text); {
	case length > p.Meta.MaxLength:
		return record.Answer{}, p.fieldError(answerField, fmt.Sprintf("%d characters", length))
	case p.Meta.Required && strings.TrimSpace(text) == "":
		return record.Answer{}, p.fieldError(answerField, "only whitespace")
	case strings.ContainsRune(text, 0): // databases do not store NUL
		return record.Answer{}, p.fieldError(answerField, "a string containing U+0000")
	}
	return record.Answer{Kind: record.KindText, Text: text}, nil
}
