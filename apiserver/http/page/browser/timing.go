// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"time"

	"github.com/chromedp/chromedp"
)

// FirstPaint returns the time from navigation to the first text or image.
func (tab *Tab) FirstPaint() time.Duration {
	tab.t.Helper()
	return tab.waitForTiming("first paint", `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`)
}

// Loaded returns the time from navigation until the document and its resources are loaded.
func (tab *Tab) Loaded() time.Duration {
	tab.t.Helper()
	return tab.waitForTiming("load", `performance.getEntriesByType("navigation")[0]?.loadEventEnd ?? 0`)
}

// waitForTiming waits until a timing is available and returns it. It works with JavaScript
// disabled.
func (tab *Tab) waitForTiming(what, milliseconds string) time.Duration {
	tab.t.Helper()
	return runAction(tab, "wait for the "+what, func(ctx context.Context, target *chromedp.Target) (time.Duration, error) {
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
