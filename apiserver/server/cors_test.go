// SPDX-License-Identifier: Apache-2.0

package server

import "testing"

func TestOriginSetAllows(t *testing.T) {
	t.Parallel()
	set, err := newOriginSet([]string{
		"https://portal.example", "HTTPS://Kiosk.example:443/", "http://intranet.example:8080", "http://[2001:db8::1]:8080",
	})
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]bool{
		"https://portal.example":         true,
		"https://portal.example:443":     true,
		"https://PORTAL.example":         true,
		"https://kiosk.example":          true,
		"http://intranet.example:8080":   true,
		"http://[2001:db8::1]:8080":      true,
		"http://portal.example":          false,
		"https://portal.example:80":      false,
		"https://portal.example.evil":    false,
		"https://evil.portal.example":    false,
		"https://portal.example@evil.ex": false,
		"http://intranet.example":        false,
		"http://localhost":               false,
		"null":                           false,
		"*":                              false,
		"":                               false,
	} {
		if got := set.allows(origin); got != want {
			t.Errorf("%q: allowed %v, expected %v", origin, got, want)
		}
	}
}

func TestOriginSetAllowsAnyOrigin(t *testing.T) {
	t.Parallel()
	every, err := newOriginSet([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	if !every.allows("https://portal.example") || !every.allows("null") {
		t.Error("* does not allow every origin")
	}
	if (originSet{}).allows("https://portal.example") {
		t.Error("the zero value allows an origin")
	}
}

func TestIsLoopbackOrigin(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"http://localhost":            true,
		"http://localhost:3000":       true,
		"https://localhost:3000":      true,
		"http://127.0.0.1:5173":       true,
		"http://localhost.evil":       false,
		"http://127.0.0.1.evil":       false,
		"http://evil/?localhost":      false,
		"http://localhost@evil":       false,
		"http://192.168.0.1":          false,
		"file://localhost":            false,
		"http://localhost:3000/path":  false,
		"http://localhost:notanumber": false,
	} {
		if got := isLoopbackOrigin(origin); got != want {
			t.Errorf("%q: allowed %v, expected %v", origin, got, want)
		}
	}
}
