// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strconv"

	"github.com/chromedp/chromedp"
)

// Text is what is to be read in the first element that the CSS selector finds,
// without what is hidden.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return do(tab, "read "+selector, chromedp.Text(chromedp.CSS(selector)))
}

// Exists reports whether the CSS selector finds anything now.
func (tab *Tab) Exists(selector string) bool {
	tab.t.Helper()
	return Evaluate[bool](tab, `document.querySelector(`+strconv.Quote(selector)+`) !== null`)
}

// Evaluate is the value of an expression of JavaScript in the page, or what it
// promises, also where the page's own scripts do not run.
func Evaluate[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return do(tab, "evaluate "+expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}
