// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
)

func parseColor(t rapid.TB, text string) branding.Color {
	t.Helper()
	color, err := branding.ParseColor(text)
	if err != nil {
		t.Fatal(err)
	}
	return color
}

// TestDarkModeColors checks that every allowed color is readable in dark mode, and is changed
// no more than necessary.
func TestDarkModeColors(t *testing.T) {
	t.Parallel()
	ground := parseColor(t, darkBackground)
	rapid.Check(t, func(r *rapid.T) {
		channel := rapid.Byte()
		color := branding.Color{R: channel.Draw(r, "red"), G: channel.Draw(r, "green"), B: channel.Draw(r, "blue")}
		if branding.Contrast(color, branding.White) < branding.MinTextContrast {
			r.Skip("color is not allowed")
		}
		got := parseColor(r, lighten(color.String()))
		if ratio := branding.Contrast(got, ground); ratio < branding.MinTextContrast {
			r.Fatalf("%s becomes %s with insufficient contrast %s", color, got, ratio)
		}
		if branding.Contrast(color, ground) >= branding.MinTextContrast && got != color {
			r.Fatalf("readable color %s was changed to %s", color, got)
		}
		if branding.Contrast(got, ground) > branding.MinTextContrast+1 && got != color {
			r.Fatalf("%s becomes %s, which is lighter than necessary", color, got)
		}
	})
}

// TestDarkBackgroundMatchesCSS checks that colors are computed for the background in the CSS.
func TestDarkBackgroundMatchesCSS(t *testing.T) {
	t.Parallel()
	_, dark, found := strings.Cut(mustReadAsset("assets/page.css"), "prefers-color-scheme: dark")
	if !found {
		_, dark, found = strings.Cut(mustReadAsset("assets/page.css"), "prefers-color-scheme:dark")
	}
	if !found || !strings.Contains(dark[:min(len(dark), 300)], darkBackground) {
		t.Errorf("got dark style sheet %.300s", dark)
	}
}

// TestThemeIsCached checks that a theme is created once per configuration.
func TestThemeIsCached(t *testing.T) {
	t.Parallel()
	wanted := &Branding{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"}
	l := themeCache{config: func() *Branding { return wanted }}
	one := l.current()
	if l.current() != one || one.LogoPath != "" {
		t.Errorf("theme was created twice, or has logo %q", one.LogoPath)
	}
	same := *wanted
	wanted = &same
	if other := l.current(); other == one || other.policy != one.policy || other.Styles != one.Styles {
		t.Error("want equal themes for equal configurations")
	}
}
