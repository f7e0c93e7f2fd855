// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint32{
		"0min": 0, "1min": 1, "90min": 90, "6h": 360, "1d": 1440, "2w": 20160, "1mo": 43200, "12mo": 518400, "1y": 525600, "8171y": 4294677600,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s is %d minutes, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "h", "6", "6 h", " 6h", "6H", "6hours", "6m", "-6h", "+6h", "0.5h", "6hh", "h6", "1e3h", "8172y", "99999999999999999999min", "４h", "6h2d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %d minutes", text, got)
		}
	}
}

// TestParseDurationArbitraryInput checks that any input is either rejected or parsed as
// its number and unit.
func TestParseDurationArbitraryInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint32().Draw(t, "number")
		unit := rapid.SampledFrom([]string{"min", "h", "d", "w", "mo", "y"}).Draw(t, "unit")
		got, err := ParseDuration(fmt.Sprint(number) + unit)
		want := uint64(number) * unitMinutes[unit]
		if fits := want < model.NoUpperBound; fits != (err == nil) || fits && uint64(got) != want {
			t.Fatalf("%d%s is %d minutes, %v, want %d", number, unit, got, err, want)
		}
		text := rapid.String().Draw(t, "text")
		if got, err := ParseDuration(text); err != nil && (got != 0 || !strings.Contains(err.Error(), fmt.Sprintf("%q", text))) {
			t.Fatalf("%q is %d minutes, %v", text, got, err)
		}
	})
}
