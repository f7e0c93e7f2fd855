// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// Tab is a tab for one test, and used by it alone. What cannot be done ends
// the test at once, so its methods are called by the test's own goroutine.
type Tab struct {
	t       testing.TB
	options Options
	context context.Context //nolint:containedctx // it is the tab: the library keeps the session in it
	traffic traffic
	faults  faults
}

// Open opens an empty tab for the test, in a profile of its own: no cookie and
// no cached file is shared with another. It closes with the test, which then
// fails for each error the browser told of and Allow did not.
func Open(t testing.TB, options Options) *Tab {
	t.Helper()
	browser, err := running()
	if err != nil {
		t.Fatalf("no browser to test with: %v", err)
	}
	tab := &Tab{t: t, options: options.complete()}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.hear))
	tab.context = ctx
	t.Cleanup(cancel)
	// What comes first has no deadline: the tab would end with it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	t.Cleanup(tab.report)
	do(tab, "emulate a device", tab.options.emulate())
	return tab
}

// hear is told of all that happens in the tab, one thing after the other.
func (tab *Tab) hear(event any) {
	tab.traffic.hear(event)
	tab.faults.hear(event)
}

// do does something in the tab, which outlives what runs out of time.
func do[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.context, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v; the browser is at %s", what, err, tab.location())
	}
	return result
}

// location is where the tab is, for messages.
func (tab *Tab) location() string {
	ctx, cancel := context.WithTimeout(tab.context, patience)
	defer cancel()
	location, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "no page that answers: " + err.Error()
	}
	return location
}
