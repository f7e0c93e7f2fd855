// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"time"

	"github.com/chromedp/chromedp"
)

// FirstPaint is how long after the navigation began the first text or image was
// drawn.
func (tab *Tab) FirstPaint() time.Duration {
	tab.t.Helper()
	return tab.moment("first paint", `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`)
}

// Loaded is how long after the navigation began the document was there with all
// that it needs.
func (tab *Tab) Loaded() time.Duration {
	tab.t.Helper()
	return tab.moment("load", `performance.getEntriesByType("navigation")[0]?.loadEventEnd ?? 0`)
}

// moment waits until something has happened, and is then when that was. Scripts
// of the page need not run for it.
func (tab *Tab) moment(what, milliseconds string) time.Duration {
	tab.t.Helper()
	return do(tab, "wait for the "+what, func(ctx context.Context, target *chromedp.Target) (time.Duration, error) {
		for {
			at, err := chromedp.Evaluate[float64](milliseconds)(ctx, target)
			if err != nil || at > 0 {
				return time.Duration(at * float64(time.Millisecond)), err
			}
			if _, err := chromedp.Sleep(10*time.Millisecond)(ctx, target); err != nil {
				return 0, err
			}
		}
	})
}
