// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The page observes exactly the requested options.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options    Options
		conditions []string // true in the page
	}{
		"none": {Options{}, []string{
			`innerWidth === 1280 && innerHeight === 800 && devicePixelRatio === 1 && navigator.maxTouchPoints === 0`,
			`matchMedia("(prefers-color-scheme: light) and (prefers-reduced-motion: no-preference) and (forced-colors: none)").matches`,
			`navigator.language === "en"`,
			`getComputedStyle(document.querySelector("p")).fontSize === "16px"`,
			`!document.body.innerText.includes("no scripts")`,
		}},
		"all": {Options{
			Width: 600, Height: 500, NoJavaScript: true, ReducedMotion: true, Dark: true, ForcedColors: true, Language: "de", TextScale: 2,
		}, []string{
			`innerWidth === 600 && innerHeight === 500`,
			`matchMedia("(prefers-color-scheme: dark)").matches`,
			`matchMedia("(prefers-reduced-motion: reduce)").matches`,
			`matchMedia("(forced-colors: active)").matches`,
			`navigator.language === "de"`,
			`getComputedStyle(document.querySelector("p")).fontSize === "32px"`,
			`document.body.innerText.includes("no scripts")`,
		}},
		"phone": {Options{Mobile: true}, []string{`innerWidth === 390 && matchMedia("(pointer: coarse)").matches`}},
		"zoom":  {Options{Zoom: 4}, []string{`innerWidth === 320 && innerHeight === 200 && devicePixelRatio === 4`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := openPage(t, test.options, `<p>text</p><noscript>no scripts</noscript>`)
			for _, condition := range test.conditions {
				if !Evaluate[bool](tab, condition) {
					t.Errorf("condition is false: %s", condition)
				}
			}
		})
	}
}

// A server with an untrusted certificate is reachable if certificate errors are ignored, and its
// cookies work.
func TestIgnoreCertificateErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "been", Value: "here", Secure: true, HttpOnly: true})
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>" + r.Header.Get("Cookie") + "</p>"))
	}))
	t.Cleanup(server.Close)
	tab := Open(t, Options{IgnoreCertificateErrors: true})
	tab.Go(server.URL)
	tab.Reload()
	if got := tab.Text("p"); got != "been=here" || tab.Status() != http.StatusOK {
		t.Errorf("got page %q with status %d", got, tab.Status())
	}
}
