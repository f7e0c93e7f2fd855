// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// Options say who looks at the page, and with what. The zero value is a window
// of 1280 by 800 pixels of somebody who reads English.
type Options struct {
	Width, Height int  // of the window in CSS pixels, before Zoom
	Mobile        bool // a telephone with a touch screen, 390 by 844 when Width is 0

	NoJavaScript  bool   // scripts of the page do not run
	ReducedMotion bool   // prefers-reduced-motion
	Dark          bool   // prefers-color-scheme: dark
	ForcedColors  bool   // the colours are the system's, as of high contrast
	Language      string // of the browser, as of Accept-Language; "en" when empty

	// AnyCertificate has the browser take servers for who they say they are. It knows the
	// authorities of public servers only, and no server of a test is one.
	AnyCertificate bool

	// TextScale is how much larger text is that follows the browser's font
	// size, 2 for 200 %; 1 when 0. Text sized in pixels stays as it is.
	TextScale float64

	// Zoom is how much larger all is, 4 for 400 %; 1 when 0. The page has the
	// window divided by it, as WCAG 1.4.10 tells of 1280 pixels and 320.
	Zoom float64
}

// complete says what was left out.
func (o Options) complete() Options {
	width, height := 1280, 800
	if o.Mobile {
		width, height = 390, 844
	}
	o.Width = cmp.Or(o.Width, width)
	o.Height = cmp.Or(o.Height, height)
	o.Language = cmp.Or(o.Language, "en")
	o.TextScale = cmp.Or(o.TextScale, 1)
	o.Zoom = cmp.Or(o.Zoom, 1)
	return o
}

// viewport is the width that the page has, in CSS pixels.
func (o Options) viewport() int64 { return int64(math.Round(float64(o.Width) / o.Zoom)) }

// emulate sets the tab up.
func (o Options) emulate() chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		o.window(),
		o.reader(),
		send("set media features", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: o.media()}),
		send("have the tab in front", emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		send("switch scripts", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.NoJavaScript}),
		send("set whom to trust", security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: o.AnyCertificate}),
		o.text(),
	)
}

// text sets the font sizes.
func (o Options) text() chromedp.Action[chromedp.Void] {
	sizes := &page.FontSizes{Standard: scaled(16, o.TextScale), Fixed: scaled(13, o.TextScale)}
	return send("set the font size", page.SetFontSizes, page.SetFontSizesParams{FontSizes: sizes})
}

// scaled is one of the browser's own font sizes, larger.
func scaled(size, scale float64) int64 { return int64(math.Round(size * scale)) }

// window sets the size of the window.
func (o Options) window() chromedp.Action[chromedp.Void] {
	height := int64(math.Round(float64(o.Height) / o.Zoom))
	if o.Mobile {
		return chromedp.EmulateViewport(o.viewport(), height, chromedp.EmulateScale(2*o.Zoom), chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	return chromedp.EmulateViewport(o.viewport(), height, chromedp.EmulateScale(o.Zoom))
}

// media are the features that style sheets ask for.
func (o Options) media() []*emulation.MediaFeature {
	var features []*emulation.MediaFeature
	for _, feature := range []struct {
		set         bool
		name, value string
	}{
		{o.ReducedMotion, "prefers-reduced-motion", "reduce"},
		{o.Dark, "prefers-color-scheme", "dark"},
		{!o.Dark, "prefers-color-scheme", "light"},
		{o.ForcedColors, "forced-colors", "active"},
	} {
		if feature.set {
			features = append(features, &emulation.MediaFeature{Name: feature.name, Value: feature.value})
		}
	}
	return features
}

// reader sets the language of the browser, which can be had only with a name
// for it: its own.
func (o Options) reader() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		version, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
		if err != nil {
			return fmt.Errorf("read the browser's version: %w", err)
		}
		_, err = cdp.Call(ctx, target, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
			UserAgent: version.UserAgent, AcceptLanguage: o.Language,
		})
		return err
	})
}

// send is a command of the protocol whose answer tells nothing.
func send[P, R any](what string, command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, command, params); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}
