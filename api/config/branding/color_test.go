// SPDX-License-Identifier: Apache-2.0

package branding

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestContrast checks published ratios. The ratios of black and white follow from the
// definition, and the grays are the well-known values just above and below 4.5.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want float64
		text string
	}{
		{"#000000", "#ffffff", 21, "21:1"},
		{"#ffffff", "#FFFFFF", 1, "1:1"},
		{"#777777", "#ffffff", 4.48, "4.47:1"},
		{"#767676", "#ffffff", 4.54, "4.54:1"},
		{"#595959", "#ffffff", 7.00, "7:1"},
		{"#ff0000", "#ffffff", 4.00, "3.99:1"},
		{"#0000ff", "#ffffff", 8.59, "8.59:1"},
		{"#ffff00", "#ffffff", 1.07, "1.07:1"},
		{"#ffff00", "#000000", 19.56, "19.55:1"},
	} {
		got := Contrast(mustParseColor(t, test.a), mustParseColor(t, test.b))
		if math.Abs(float64(got)-test.want) > 0.005 {
			t.Errorf("Contrast(%s, %s) = %.4f, want %.2f", test.a, test.b, float64(got), test.want)
		}
		if got.String() != test.text {
			t.Errorf("Contrast(%s, %s).String() = %s, want %s", test.a, test.b, got, test.text)
		}
	}
	if got := Contrast(mustParseColor(t, "#767676"), White); got < MinTextContrast {
		t.Errorf("#767676, the lightest gray with sufficient contrast against white, has contrast %s", got)
	}
	if got := Contrast(mustParseColor(t, "#777777"), White); got >= MinTextContrast {
		t.Errorf("#777777, the darkest gray with insufficient contrast against white, has contrast %s", got)
	}
}

func mustParseColor(t *testing.T, text string) Color {
	t.Helper()
	color, err := ParseColor(text)
	if err != nil {
		t.Fatal(err)
	}
	return color
}

func TestParseColorRejectsInvalid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "#", "005ea5", "#05a", "#005ea5ff", "#005ea", "#00 ea5", "#+05ea5", "#00５ea5", "blue", "#005ea5\n"} {
		if _, err := ParseColor(text); err == nil || !strings.Contains(err.Error(), "expected #RRGGBB, such as #005ea5") {
			t.Errorf("ParseColor(%q): got error %v", text, err)
		}
	}
}

func colors() *rapid.Generator[Color] {
	return rapid.Custom(func(t *rapid.T) Color {
		return Color{rapid.Byte().Draw(t, "red"), rapid.Byte().Draw(t, "green"), rapid.Byte().Draw(t, "blue")}
	})
}

func TestContrastIsSymmetricAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := colors().Draw(t, "a"), colors().Draw(t, "b")
		ratio := Contrast(a, b)
		if ratio != Contrast(b, a) {
			t.Errorf("Contrast(%s, %s) is not symmetric", a, b)
		}
		if ratio < 1 || ratio > 21 {
			t.Errorf("Contrast(%s, %s) = %v, want 1 to 21", a, b, float64(ratio))
		}
		if a == b && ratio != 1 {
			t.Errorf("Contrast(%s, %s) = %v, want 1", a, b, float64(ratio))
		}
		if ratio < MinTextContrast && ratio.String() == MinTextContrast.String() {
			t.Errorf("insufficient contrast %v is formatted as %s", float64(ratio), ratio)
		}
	})
}

// TestDarkerHasMoreContrast checks that making any channel of a color darker does not
// reduce its contrast against white.
func TestDarkerHasMoreContrast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		light := colors().Draw(t, "light")
		dark := Color{
			R: rapid.ByteRange(0, light.R).Draw(t, "red"),
			G: rapid.ByteRange(0, light.G).Draw(t, "green"),
			B: rapid.ByteRange(0, light.B).Draw(t, "blue"),
		}
		if Contrast(dark, White) < Contrast(light, White) {
			t.Errorf("%s has less contrast against white than %s", dark, light)
		}
	})
}

func FuzzParseColor(f *testing.F) {
	for _, text := range []string{"#005ea5", "#FFFFFF", "#05a", "", "#+1-1+1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		color, err := ParseColor(text)
		if err == nil && color.String() != strings.ToLower(text) {
			t.Errorf("ParseColor(%q) = %s", text, color)
		}
	})
}
