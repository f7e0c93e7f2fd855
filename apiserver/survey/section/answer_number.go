// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseNumber parses a whole number within the bounds, in any JSON notation: 34 and
// 3.4e1 are equal.
func (p answerParser) parseNumber(raw json.RawMessage) (record.Answer, error) {
	var number float64
	if err := json.Unmarshal(raw, &number); err != nil || math.Trunc(number) != number ||
		number < float64(p.Meta.Bounds.Min) || number > float64(p.Meta.Bounds.Max) {
		return record.Answer{}, p.fieldError(answerField, describeJSON(raw))
	}
	return record.Answer{Kind: record.KindNumber, Number: int(number)}, nil
}
