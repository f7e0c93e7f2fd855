// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// text reads a string, whose length is that in code points. Where an answer is
// required, blanks are none. The error does not repeat what patients write.
func (j judge) text(sent json.RawMessage) (guidance.Answer, error) {
	var text string
	if err := json.Unmarshal(sent, &text); err != nil {
		return guidance.Answer{}, j.misfit(field, kind(sent))
	}
	switch length := utf8.RuneCountInString(text); {
	case length > j.Meta.MaxLength:
		return guidance.Answer{}, j.misfit(field, fmt.Sprintf("%d", length))
	case j.Meta.Required && strings.TrimSpace(text) == "":
		return guidance.Answer{}, j.misfit(field, "nothing but blanks")
	case strings.ContainsRune(text, 0): // which databases do not keep
		return guidance.Answer{}, j.misfit(field, "one with the character U+0000")
	}
	return guidance.Answer{Form: guidance.SomeText, Text: text}, nil
}
