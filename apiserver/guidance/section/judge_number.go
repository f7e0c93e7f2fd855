// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// number reads a whole number within the bounds, however it is written: 34 and
// 3.4e1 alike.
func (j judge) number(sent json.RawMessage) (guidance.Answer, error) {
	var number float64
	if err := json.Unmarshal(sent, &number); err != nil || math.Trunc(number) != number ||
		number < float64(j.Meta.Bounds.Min) || number > float64(j.Meta.Bounds.Max) {
		return guidance.Answer{}, j.misfit(field, kind(sent))
	}
	return guidance.Answer{Form: guidance.OneNumber, Number: int(number)}, nil
}
