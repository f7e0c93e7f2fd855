// SPDX-License-Identifier: Apache-2.0

package identifier

import (
	"strings"
	"testing"
)

func TestIsUUID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"0f8fad5b-d9cb-469f-a165-70867728950e":   true,
		"0F8FAD5B-D9CB-469F-A165-70867728950E":   true,
		"0f8fad5b-d9cb-469f-a165-70867728950":    false,
		"0f8fad5b-d9cb-469f-a165-70867728950e\n": false,
		"\x00":                                   false,
		"survey":                                 false,
		"":                                       false,
	} {
		if IsUUID(id) != want {
			t.Errorf("IsUUID(%q) is %v, want %v", id, !want, want)
		}
	}
}

func TestIsVisibleASCII(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                      true,
		"!~":                    true,
		"portal-7":              true,
		"two words":             false,
		"tab\t":                 false,
		"line\n":                false,
		"delete\x7f":            false,
		"\x00":                  false,
		"caf\u00e9":             false,
		"\xff":                  false,
		strings.Repeat("a", 10): true,
		strings.Repeat("a", 11): false,
	} {
		if IsVisibleASCII(text, 10) != want {
			t.Errorf("IsVisibleASCII(%q) is %v, want %v", text, !want, want)
		}
	}
}
