// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/contrast"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
)

func parseColor(t rapid.TB, text string) contrast.Color {
	t.Helper()
	color, err := contrast.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return color
}

// Whatever colour a tenant may choose can be read in the dark, and is changed no more
// than it takes.
func TestColorsInTheDark(t *testing.T) {
	t.Parallel()
	ground := parseColor(t, darkBackground)
	rapid.Check(t, func(r *rapid.T) {
		channel := rapid.Byte()
		color := contrast.Color{R: channel.Draw(r, "red"), G: channel.Draw(r, "green"), B: channel.Draw(r, "blue")}
		if contrast.Between(color, contrast.White) < contrast.ForText {
			r.Skip("no tenant may choose it")
		}
		got := parseColor(r, lightened(color.String()))
		if ratio := contrast.Between(got, ground); ratio < contrast.ForText {
			r.Fatalf("%s becomes %s, with a contrast of %s", color, got, ratio)
		}
		if contrast.Between(color, ground) >= contrast.ForText && got != color {
			r.Fatalf("%s can be read and becomes %s", color, got)
		}
		if contrast.Between(got, ground) > contrast.ForText+1 && got != color {
			r.Fatalf("%s becomes %s, which is lighter than it needs to be", color, got)
		}
	})
}

// The ground that colours are made for is the one that pages have.
func TestDarkGround(t *testing.T) {
	t.Parallel()
	_, dark, found := strings.Cut(fileOf("assets/page.css"), "prefers-color-scheme: dark")
	if !found {
		_, dark, found = strings.Cut(fileOf("assets/page.css"), "prefers-color-scheme:dark")
	}
	if !found || !strings.Contains(dark[:min(len(dark), 300)], darkBackground) {
		t.Errorf("in the dark pages are on %.300s", dark)
	}
}

// A look is made once for as long as the configuration is the same.
func TestLookIsKept(t *testing.T) {
	t.Parallel()
	wanted := &config.Page{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"}
	l := looks{wanted: func() *config.Page { return wanted }}
	one := l.now()
	if l.now() != one || one.LogoPath != "" {
		t.Errorf("it is made twice, or has the logo %q", one.LogoPath)
	}
	same := *wanted
	wanted = &same
	if other := l.now(); other == one || other.policy != one.policy || other.Styles != one.Styles {
		t.Error("another configuration of the same content gives another look")
	}
}
