// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// unquote is a value of the protocol as it is read: a string without its
// quotes, or else as JSON.
func unquote(value jsonv2.Value) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
