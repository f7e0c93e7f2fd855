// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// A Tab is a browser tab for one test. Its methods fail the test immediately if an action
// fails, so they must be called from the test's goroutine.
type Tab struct {
	t             testing.TB
	options       Options
	context       context.Context //nolint:containedctx // it is the tab: the library keeps the session in it
	network       networkLog
	consoleErrors consoleErrors
}

// Open opens an empty tab in a separate profile, without shared cookies or caches. The tab
// closes when the test ends, and fails the test for each browser error that is not ignored
// with IgnoreErrors.
func Open(t testing.TB, options Options) *Tab {
	t.Helper()
	browser, err := browserContext()
	if err != nil {
		t.Fatalf("browser is not available: %v", err)
	}
	tab := &Tab{t: t, options: options.withDefaults()}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.handleEvent))
	tab.context = ctx
	t.Cleanup(cancel)
	// The first action must not have a deadline, because the tab would end with it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening tab: %v", err)
	}
	t.Cleanup(tab.reportErrors)
	runAction(tab, "emulate a device", tab.options.emulate())
	return tab
}

// handleEvent receives all events of the tab, one at a time.
func (tab *Tab) handleEvent(event any) {
	tab.network.handleEvent(event)
	tab.consoleErrors.handleEvent(event)
}

// runAction runs an action in the tab. The tab survives a timeout.
func runAction[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.context, timeout)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v; the browser is at %s", what, err, tab.location())
	}
	return result
}

// location returns the URL of the tab, for messages.
func (tab *Tab) location() string {
	ctx, cancel := context.WithTimeout(tab.context, timeout)
	defer cancel()
	location, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "page does not respond: " + err.Error()
	}
	return location
}
