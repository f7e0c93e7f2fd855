// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strconv"

	"github.com/chromedp/chromedp"
)

// Text returns the visible text of the first element that the CSS selector matches.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return runAction(tab, "read "+selector, chromedp.Text(chromedp.CSS(selector)))
}

// Exists reports whether the CSS selector currently matches an element.
func (tab *Tab) Exists(selector string) bool {
	tab.t.Helper()
	return Evaluate[bool](tab, `document.querySelector(`+strconv.Quote(selector)+`) !== null`)
}

// Evaluate returns the value of a JavaScript expression, or the result of its promise. It
// works even if the page's own scripts are disabled.
func Evaluate[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return runAction(tab, "evaluate "+expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}
