// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// Click waits until the first element that the CSS selector matches is visible, and clicks
// its center.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	runAction(tab, "click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Fill replaces the value of a field by typing.
func (tab *Tab) Fill(selector, text string) {
	tab.t.Helper()
	field := chromedp.CSS(selector)
	runAction(tab, "find "+selector, chromedp.WaitVisible(field))
	Evaluate[string](tab, fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)) // Clear fails for an empty textarea
	runAction(tab, "fill "+selector, chromedp.SendKeys(field, text))
}

// WaitVisible waits until an element is visible, such as one that a script shows.
func (tab *Tab) WaitVisible(selector string) {
	tab.t.Helper()
	runAction(tab, "wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}
