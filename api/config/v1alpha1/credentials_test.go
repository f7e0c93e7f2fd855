// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestEncodeApplicationCredentials(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]ApplicationCredentials{
		`{"id":"portal","key":"k","scopes":[]}`: {ID: "portal", Key: "k", Scopes: []string{}},
		`{"id":"portal","key":"k","keys":["old"],"scopes":["survey:read"],"plan":"trial","devMode":true}`: {
			ID: "portal", Key: "k", Keys: []string{"old"}, Scopes: []string{"survey:read"}, Plan: "trial", DevMode: true,
		},
	} {
		if diff := cmp.Diff(want, string(EncodeApplicationCredentials(c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		got, err := DecodeApplicationCredentials([]byte("\ufeff" + want))
		if diff := cmp.Diff(c, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", want, err, diff)
		}
	}
}

// TestDecodeApplicationCredentialsIgnoresUnknownMembers covers the policy in the package
// comment.
func TestDecodeApplicationCredentialsIgnoresUnknownMembers(t *testing.T) {
	t.Parallel()
	got, err := DecodeApplicationCredentials([]byte(`{"id": "kiosk", "key": "k", "scopes": [], "plan": null, "since": 2026}`))
	if diff := cmp.Diff(ApplicationCredentials{ID: "kiosk", Key: "k", Scopes: []string{}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestApplicationCredentialsErrors(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		``:  "invalid JSON at byte 0",
		`{`: "invalid JSON at byte 1",
		`{"id": "portal", "key": 1234567, "scopes": []}`:                      `"key" has JSON type number`,
		`{"id": "portal", "key": "hunter2", "keys": "hunter2", "scopes": []}`: `"keys" has JSON type string`,
		`null`:                                              "the id must be",
		`{"id": "portal", "scopes": []}`:                    "the key and each additional key must be",
		`{"id": "a:b", "key": "hunter2"}`:                   "without a colon",
		`{"id": "portal", "key": "hunter2"}`:                "scopes is missing",
		`{"id": "portal", "key": "hunter2 ", "scopes": []}`: "1 to 512 visible ASCII characters",
		`{"id": "portal", "key": "hunter2", "keys": ["1","2","3","4"], "scopes": []}`: "at most 3 additional keys",
		`{"id": "` + strings.Repeat("x", 129) + `", "key": "hunter2", "scopes": []}`:  "the id must be 1 to 128",
	} {
		c, err := DecodeApplicationCredentials([]byte(file))
		if err == nil {
			err = c.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "1234567") {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}

func TestApplicationCredentialsRoundTrip(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[!-9;-~]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		c := ApplicationCredentials{
			ID: text.Draw(t, "id"), Key: text.Draw(t, "key"), Keys: rapid.SliceOfN(text, 0, MaxApplicationKeys-1).Draw(t, "keys"),
			Scopes: rapid.SliceOfN(text, 0, 3).Draw(t, "scopes"), Plan: rapid.String().Draw(t, "plan"), DevMode: rapid.Bool().Draw(t, "devMode"),
		}
		got, err := DecodeApplicationCredentials(EncodeApplicationCredentials(c))
		if err == nil {
			err = got.Validate()
		}
		if diff := cmp.Diff(c, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
}
