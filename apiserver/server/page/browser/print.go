// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"regexp"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// paper is a page in a PDF of Chromium's.
var paper = regexp.MustCompile(`/Type /Page\b`)

// Print prints the page on A4 into the file name.pdf, beside the screenshots, and
// returns how many sheets that takes.
func (tab *Tab) Print(name string) int {
	tab.t.Helper()
	const width, height = 8.27, 11.69 // inches
	document := do(tab, "print the page", func(ctx context.Context, target *chromedp.Target) ([]byte, error) {
		printed, err := cdp.Call(ctx, target, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: width, PaperHeight: height})
		if err != nil {
			return nil, err
		}
		return printed.Data, nil
	})
	tab.keep(name+".pdf", document)
	return len(paper.FindAll(document, -1))
}
