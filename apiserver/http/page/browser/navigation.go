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
	tab.runNavigation("go to "+url, chromedp.Navigate(url))
}

// Back navigates back one page.
func (tab *Tab) Back() {
	tab.t.Helper()
	tab.runNavigation("go back", chromedp.NavigateBack())
}

// Reload reloads the page.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.runNavigation("reload", chromedp.Reload())
}

// Submit clicks an element that navigates, and waits until the new document is loaded.
func (tab *Tab) Submit(selector string) {
	tab.t.Helper()
	tab.runNavigation("submit "+selector, awaitNavigation(click(selector)))
}

// SubmitKeys presses keys like Press, the last of which navigates, and waits until the new
// document is loaded.
func (tab *Tab) SubmitKeys(keys ...string) {
	tab.t.Helper()
	tab.runNavigation("press "+strings.Join(keys, ", "), awaitNavigation(press(keys)))
}

// URL returns the URL of the tab.
func (tab *Tab) URL() string {
	tab.t.Helper()
	return runAction(tab, "read the URL", chromedp.Location())
}

// Status returns the HTTP status of the document.
func (tab *Tab) Status() int {
	tab.t.Helper()
	return Evaluate[int](tab, `performance.getEntriesByType("navigation")[0].responseStatus`)
}

// runNavigation runs an action that navigates. It resets the request log.
func (tab *Tab) runNavigation(what string, action chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	tab.network.reset()
	runAction(tab, what, action)
}

// awaitNavigation returns an action that also waits until the new document is loaded.
func awaitNavigation(action chromedp.Action[chromedp.Void]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.RunResponse(ctx, action); err != nil {
			return fmt.Errorf("wait for the next document: %w", err)
		}
		return nil
	})
}
