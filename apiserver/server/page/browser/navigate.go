// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// Go opens a page and waits until it is loaded.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	tab.load("go to "+url, chromedp.Navigate(url))
}

// Back goes one page back.
func (tab *Tab) Back() {
	tab.t.Helper()
	tab.load("go back", chromedp.NavigateBack())
}

// Reload loads the page anew.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.load("reload", chromedp.Reload())
}

// Submit clicks what leads to another document, and waits until that is loaded.
func (tab *Tab) Submit(selector string) {
	tab.t.Helper()
	tab.load("submit "+selector, next(click(selector)))
}

// SubmitKeys presses keys, as Press does, of which the last leads to another
// document, and waits until that is loaded.
func (tab *Tab) SubmitKeys(keys ...string) {
	tab.t.Helper()
	tab.load("press "+strings.Join(keys, ", "), next(press(keys)))
}

// URL is where the tab is.
func (tab *Tab) URL() string {
	tab.t.Helper()
	return do(tab, "read the URL", chromedp.Location())
}

// Status is the HTTP status of the document.
func (tab *Tab) Status() int {
	tab.t.Helper()
	return Evaluate[int](tab, `performance.getEntriesByType("navigation")[0].responseStatus`)
}

// load does what leads to another document. Requests are counted from here.
func (tab *Tab) load(what string, action chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	tab.traffic.forget()
	do(tab, what, action)
}

// next waits until the document is loaded that an action leads to.
func next(action chromedp.Action[chromedp.Void]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.RunResponse(ctx, action); err != nil {
			return fmt.Errorf("wait for the next document: %w", err)
		}
		return nil
	})
}
