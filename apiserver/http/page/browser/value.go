// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// decodeString returns a protocol value as text: a string without quotes, or JSON.
func decodeString(value jsonv2.Value) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
