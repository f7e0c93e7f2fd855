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

	"github.com/anamnesis-dev/anamnesis/api/contrast"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
)

//go:embed assets
var assets embed.FS

// A look is how the pages of a tenant look, ready to be written into each of them: the
// styles stand in the page, so that it is painted after one request.
type look struct {
	config.Page
	// HelpURL is that of the page; it may be a telephone number, which templates take for
	// dangerous elsewhere.
	HelpURL template.URL
	Styles  template.CSS
	// policy is the Content-Security-Policy that lets in these styles and nothing else.
	policy string
	// LogoPath is where the logo is, with a part that changes with it; empty for none.
	LogoPath string
}

// darkBackground is that of pages in the dark, as page.css has it.
const darkBackground = "#121417"

// newLook prepares the look of a tenant.
func newLook(wanted config.Page) *look {
	l := &look{Page: wanted, HelpURL: template.URL(wanted.HelpURL)} //nolint:gosec // the configuration checked it
	styles := fmt.Sprintf(":root{--primary:%s;--accent:%s;--primary-dark:%s;--accent-dark:%s}",
		wanted.Primary, wanted.Accent, lightened(wanted.Primary), lightened(wanted.Accent)) + fileOf("assets/page.css")
	l.Styles = template.CSS(styles) //nolint:gosec // ours, with colours that the configuration checked
	hash := sha256.Sum256([]byte(styles))
	l.policy = strings.Join([]string{
		"default-src 'none'", "style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'",
		"script-src 'self'", "connect-src 'self'", "img-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
	}, "; ")
	if len(wanted.Logo.Data) > 0 {
		l.LogoPath = logoPath + versionOf(wanted.Logo.Data)
	}
	return l
}

// lightened is a colour mixed with as little white as makes it readable in the dark.
func lightened(text string) string {
	color, err := contrast.Parse(text)
	background, backgroundErr := contrast.Parse(darkBackground)
	if err != nil || backgroundErr != nil {
		return text
	}
	mixed := color
	for white := 0; white <= 100 && contrast.Between(mixed, background) < contrast.ForText; white++ {
		mixed = contrast.Color{R: whiter(color.R, white), G: whiter(color.G, white), B: whiter(color.B, white)}
	}
	return mixed.String()
}

// whiter is a channel with so many per cent of white.
func whiter(channel uint8, white int) uint8 {
	return uint8((int(channel)*(100-white) + 255*white) / 100)
}

func fileOf(name string) string {
	content, err := assets.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("a file that is built in: %v", err))
	}
	return string(content)
}

// versionOf changes with a content.
func versionOf(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

// serveLogo answers with the logo. It may be an SVG, which is a document of its own
// where somebody opens it: nothing in it runs.
func (h *handlers) serveLogo(w http.ResponseWriter, r *http.Request) {
	logo := h.looks.now().Logo
	if len(logo.Data) == 0 {
		h.missing(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	serveKept(w, logo.Type, logo.Data)
}

func (h *handlers) serveScript(w http.ResponseWriter, _ *http.Request) {
	serveKept(w, "text/javascript; charset=utf-8", script)
}

// serveKept answers with what has its version in its address.
func serveKept(w http.ResponseWriter, contentType string, content []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(content)
}

// looks prepares a look once for as long as the configuration is the same.
type looks struct {
	wanted func() *config.Page
	made   atomic.Pointer[madeLook]
}

type madeLook struct {
	of   *config.Page
	look *look
}

// now is the look that the configuration asks for.
func (l *looks) now() *look {
	wanted := l.wanted()
	if made := l.made.Load(); made != nil && made.of == wanted {
		return made.look
	}
	made := &madeLook{wanted, newLook(*wanted)}
	l.made.Store(made)
	return made.look
}
