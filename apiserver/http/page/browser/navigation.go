// SPDX-License-Identifier: Apache-2.0

package browser

import "github.com/chromedp/chromedp"

// Go opens a page and waits until it is loaded.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	tab.runNavigation("go to "+url, chromedp.Navigate(url))
}

// Reload reloads the page.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.runNavigation("reload", chromedp.Reload())
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
