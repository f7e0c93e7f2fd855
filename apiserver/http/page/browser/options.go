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

// Options configure a tab. The zero value is an English-language window of 1280 by 800
// pixels.
type Options struct {
	Width, Height int  // window size in CSS pixels, before Zoom
	Mobile        bool // a phone with a touch screen; defaults to 390 by 844

	NoJavaScript  bool   // disables the page's scripts
	ReducedMotion bool   // prefers-reduced-motion
	Dark          bool   // prefers-color-scheme: dark
	ForcedColors  bool   // system colors, as in high contrast mode
	Language      string // browser language, sent as Accept-Language; defaults to "en"

	// IgnoreCertificateErrors disables certificate checks. The browser trusts public
	// certificate authorities only, and test servers do not use those.
	IgnoreCertificateErrors bool

	// TextScale scales text that follows the browser's font size: 2 means 200 %. Defaults
	// to 1. Text sized in pixels is not scaled.
	TextScale float64

	// Zoom scales the whole page: 4 means 400 %. Defaults to 1. The viewport is the window
	// size divided by Zoom, as in WCAG 1.4.10 (1280 pixels become 320).
	Zoom float64
}

// withDefaults fills in defaults.
func (o Options) withDefaults() Options {
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

// viewportWidth returns the width of the viewport in CSS pixels.
func (o Options) viewportWidth() int64 { return int64(math.Round(float64(o.Width) / o.Zoom)) }

// emulate returns the action that applies the options to a tab.
func (o Options) emulate() chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		o.setViewport(),
		o.setLanguage(),
		sendCommand("set media features", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: o.mediaFeatures()}),
		sendCommand("bring the tab to the front", emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		sendCommand("switch scripts", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.NoJavaScript}),
		sendCommand("set certificate trust", security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: o.IgnoreCertificateErrors}),
		o.setFontSizes(),
	)
}

// setFontSizes returns the action that sets the font sizes.
func (o Options) setFontSizes() chromedp.Action[chromedp.Void] {
	sizes := &page.FontSizes{Standard: scaleFontSize(16, o.TextScale), Fixed: scaleFontSize(13, o.TextScale)}
	return sendCommand("set the font size", page.SetFontSizes, page.SetFontSizesParams{FontSizes: sizes})
}

// scaleFontSize scales one of the browser's default font sizes.
func scaleFontSize(size, scale float64) int64 { return int64(math.Round(size * scale)) }

// setViewport returns the action that sets the window size.
func (o Options) setViewport() chromedp.Action[chromedp.Void] {
	height := int64(math.Round(float64(o.Height) / o.Zoom))
	if o.Mobile {
		return chromedp.EmulateViewport(o.viewportWidth(), height, chromedp.EmulateScale(2*o.Zoom), chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	return chromedp.EmulateViewport(o.viewportWidth(), height, chromedp.EmulateScale(o.Zoom))
}

// mediaFeatures returns the CSS media features to emulate.
func (o Options) mediaFeatures() []*emulation.MediaFeature {
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

// setLanguage returns the action that sets the browser language. The protocol requires a user
// agent as well, so it passes the browser's own.
func (o Options) setLanguage() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		version, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
		if err != nil {
			return fmt.Errorf("reading browser version: %w", err)
		}
		_, err = cdp.Call(ctx, target, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
			UserAgent: version.UserAgent, AcceptLanguage: o.Language,
		})
		return err
	})
}

// sendCommand returns an action that sends a protocol command and ignores its result.
func sendCommand[P, R any](what string, command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, command, params); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}
