// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// Click clicks the middle of the first element that the CSS selector finds,
// once it is visible.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	do(tab, "click "+selector, click(selector))
}

func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// Fill types into a field in place of what it held.
func (tab *Tab) Fill(selector, text string) {
	tab.t.Helper()
	field := chromedp.CSS(selector)
	do(tab, "find "+selector, chromedp.WaitVisible(field))
	Evaluate[string](tab, fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)) // Clear wants a text in a textarea
	do(tab, "fill "+selector, chromedp.SendKeys(field, text))
}

// Await waits until an element is there to be seen, as one that a script of
// the page shows.
func (tab *Tab) Await(selector string) {
	tab.t.Helper()
	do(tab, "wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}
