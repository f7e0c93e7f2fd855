// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"regexp"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pagePattern matches a page object in a PDF created by Chromium.
var pagePattern = regexp.MustCompile(`/Type /Page\b`)

// Print prints the page on A4 to the file name.pdf, next to the screenshots, and returns the
// number of sheets.
func (tab *Tab) Print(name string) int {
	tab.t.Helper()
	const width, height = 8.27, 11.69 // inches
	document := runAction(tab, "print the page", func(ctx context.Context, target *chromedp.Target) ([]byte, error) {
		printed, err := cdp.Call(ctx, target, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: width, PaperHeight: height})
		if err != nil {
			return nil, err
		}
		return printed.Data, nil
	})
	tab.writeArtifact(name+".pdf", document)
	return len(pagePattern.FindAll(document, -1))
}
