// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
)

const testLogo = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`

// logoURL returns the URL of the logo in a page.
func logoURL(s pageResponse) string {
	_, after, _ := strings.Cut(s.body, `<img src="`)
	address, _, _ := strings.Cut(after, `"`)
	return address
}

// TestThemeReload checks that a changed theme applies from the next page on, with a matching
// policy.
func TestThemeReload(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.newVisitor()
	before := v.get("/survey")
	before.expect(t, http.StatusOK, "Lakeside Clinic")
	if !strings.Contains(before.body, "--primary:#005ea5;--accent:#00703c;--primary-dark:") || logoURL(before) != "" {
		t.Errorf("got page\n%.500s", before.body)
	}
	c.theme.Store(&page.Branding{
		Name: "Hillside & Sons", Primary: "#7a0019", Accent: "#4b2e83", Logo: branding.Logo{MediaType: "image/svg+xml", Data: []byte(testLogo)},
		PrivacyURL: "https://hillside.example/privacy?a=1&b=2", HelpURL: "tel:+49-30-1234567",
	})
	after := v.get("/survey")
	after.expect(t, http.StatusOK, "Hillside & Sons", "What happens to your answers", "Help")
	if !strings.Contains(after.body, "--primary:#7a0019;--accent:#4b2e83;") {
		t.Errorf("got page\n%.500s", after.body)
	}
	var links []string
	for node := range after.tree().Descendants() {
		if attribute(node, "rel") == "noreferrer" {
			links = append(links, attribute(node, "href"))
		}
	}
	if want := []string{"https://hillside.example/privacy?a=1&b=2", "tel:+49-30-1234567"}; !slices.Equal(links, want) {
		t.Errorf("got links %v, want %v", links, want)
	}
	policy := after.header.Get("Content-Security-Policy")
	if policy == before.header.Get("Content-Security-Policy") || !strings.Contains(policy, styleHash(t, after)) {
		t.Errorf("got policy %s", policy)
	}
}

// TestLogo checks that a logo is served with its media type, is cacheable, and runs no
// scripts if opened directly.
func TestLogo(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.newVisitor()
	wanted := page.Branding{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c", Logo: branding.Logo{MediaType: "image/svg+xml", Data: []byte(testLogo)}}
	c.theme.Store(&wanted)
	address := logoURL(v.get("/survey"))
	logo := v.get(address)
	logo.expect(t, http.StatusOK)
	for header, want := range map[string]string{
		"Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
	} {
		if got := logo.header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	if logo.body != testLogo {
		t.Errorf("got logo %q", logo.body)
	}
	other := wanted
	other.Logo.Data = []byte(strings.Replace(testLogo, "1", "2", 1))
	c.theme.Store(&other)
	if again := logoURL(v.get("/survey")); again == address || !strings.HasPrefix(again, "/survey/assets/logo/") {
		t.Errorf("changed logo has URL %s", again)
	}
}
