// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
)

//go:embed assets
var assets embed.FS

// Branding is the appearance of a tenant's pages and the targets of their links. It has been
// validated with the configuration.
type Branding struct {
	// Name is the provider's name as known to patients.
	Name string
	// Logo is shown next to the name; optional.
	Logo branding.Logo
	// Primary and Accent are colors, each #rrggbb in lower case, with enough contrast
	// against white both as background and as text.
	Primary, Accent string
	// PrivacyURL and HelpURL link to the privacy notice and to help; optional. PrivacyURL is
	// https; HelpURL may also be tel or mailto.
	PrivacyURL, HelpURL string
	// EmergencyNumber and CrisisLine are phone numbers in the usual local notation; optional.
	EmergencyNumber, CrisisLine string
}

// A theme is the prepared appearance of a tenant's pages. The styles are inlined, so that the
// browser renders a page after a single request.
type theme struct {
	Branding
	// HelpURL may be a tel URL, which html/template would otherwise reject as unsafe.
	HelpURL template.URL
	Styles  template.CSS
	// policy is the Content-Security-Policy that allows only these styles.
	policy string
	// LogoPath is the path of the logo, including a content hash; empty without a logo.
	LogoPath string
}

// darkBackground is the background color of the dark theme, as in page.css.
const darkBackground = "#121417"

// newTheme prepares the appearance of a tenant's pages.
func newTheme(config Branding) *theme {
	t := &theme{Branding: config, HelpURL: template.URL(config.HelpURL)} //nolint:gosec // the configuration checked it
	styles := fmt.Sprintf(":root{--primary:%s;--accent:%s;--primary-dark:%s;--accent-dark:%s}",
		config.Primary, config.Accent, lighten(config.Primary), lighten(config.Accent)) + mustReadAsset("assets/page.css")
	t.Styles = template.CSS(styles) //nolint:gosec // ours, with colors that the configuration checked
	hash := sha256.Sum256([]byte(styles))
	t.policy = strings.Join([]string{
		"default-src 'none'", "style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'",
		"script-src 'self'", "connect-src 'self'", "img-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
	}, "; ")
	if len(config.Logo.Data) > 0 {
		t.LogoPath = logoPath + contentHash(config.Logo.Data)
	}
	return t
}

// lighten mixes a color with the minimum amount of white that makes it readable on the dark
// background.
func lighten(text string) string {
	color, err := branding.ParseColor(text)
	background, backgroundErr := branding.ParseColor(darkBackground)
	if err != nil || backgroundErr != nil {
		return text
	}
	mixed := color
	for white := 0; white <= 100 && branding.Contrast(mixed, background) < branding.MinTextContrast; white++ {
		mixed = branding.Color{R: mixWhite(color.R, white), G: mixWhite(color.G, white), B: mixWhite(color.B, white)}
	}
	return mixed.String()
}

// mixWhite mixes a color channel with this percentage of white.
func mixWhite(channel uint8, white int) uint8 {
	return uint8((int(channel)*(100-white) + 255*white) / 100)
}

func mustReadAsset(name string) string {
	content, err := assets.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("embedded file: %v", err))
	}
	return string(content)
}

// contentHash returns a short hash of the content.
func contentHash(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

// serveLogo serves the logo. An SVG that is opened directly is a separate document, so its
// policy forbids scripts.
func (h *handlers) serveLogo(w http.ResponseWriter, r *http.Request) {
	logo := h.themes.current().Logo
	if len(logo.Data) == 0 {
		h.notFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	serveImmutable(w, logo.MediaType, logo.Data)
}

func (h *handlers) serveScript(w http.ResponseWriter, _ *http.Request) {
	serveImmutable(w, "text/javascript; charset=utf-8", script)
}

// serveImmutable serves content whose URL contains its version.
func serveImmutable(w http.ResponseWriter, contentType string, content []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(content)
}

// themeCache prepares a theme once per configuration.
type themeCache struct {
	config func() *Branding
	cached atomic.Pointer[cachedTheme]
}

type cachedTheme struct {
	config *Branding
	theme  *theme
}

// current returns the theme for the current configuration.
func (c *themeCache) current() *theme {
	config := c.config()
	if cached := c.cached.Load(); cached != nil && cached.config == config {
		return cached.theme
	}
	cached := &cachedTheme{config, newTheme(*config)}
	c.cached.Store(cached)
	return cached.theme
}
