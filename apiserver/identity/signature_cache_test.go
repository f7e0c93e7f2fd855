// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCachedSignatureIsRevalidated checks that a cached token is validated on every
// call, except for its signature.
func TestCachedSignatureIsRevalidated(t *testing.T) {
	t.Parallel()
	first, _ := newKeyPEM(t)
	second, _ := newKeyPEM(t)
	for name, test := range map[string]struct {
		after  func(t *testing.T, a *TokenIssuer, dir string)
		reason string // empty if still valid
	}{
		"nothing happened": {func(*testing.T, *TokenIssuer, string) {}, ""},
		"another key came": {func(t *testing.T, _ *TokenIssuer, dir string) { writeFiles(t, dir, map[string]string{"b.pem": second}) }, ""},
		"its key went": {func(t *testing.T, _ *TokenIssuer, dir string) {
			writeFiles(t, dir, map[string]string{"b.pem": second})
			removeFile(t, dir, "a.pem")
		}, "signing key unknown to this instance"},
		"its key is other": {func(t *testing.T, _ *TokenIssuer, dir string) { writeFiles(t, dir, map[string]string{"a.pem": second}) }, "signature verification failed"},
		"it expired": {func(_ *testing.T, a *TokenIssuer, _ string) {
			a.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
		}, "token has expired"},
		"the instance is b": {func(_ *testing.T, a *TokenIssuer, _ string) { a.InstanceID = "b" }, "issued for another instance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"a.pem": first})
			keys, source, err := LoadSigningKeys(dir)
			if err != nil {
				t.Fatal(err)
			}
			issuer := &TokenIssuer{InstanceID: "acme", SigningKeys: keys, Issuer: func() string { return "" }, Now: time.Now}
			token, err := issuer.IssueUserToken("ada")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if caller, err := issuer.VerifyAccessToken(token); err != nil || caller.UserID != "ada" {
					t.Fatalf("got %+v, %v", caller, err)
				}
			}
			test.after(t, issuer, dir)
			if err := source.Load(); err != nil {
				t.Fatal(err)
			}
			_, err = issuer.VerifyAccessToken(token)
			if (err == nil) != (test.reason == "") || err != nil && !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got %v, want %q", err, test.reason)
			}
			cut := strings.LastIndex(token, ".") + 1
			if _, err := issuer.VerifyAccessToken(token[:cut] + strings.Repeat("A", len(token)-cut)); err == nil {
				t.Error("forged signature accepted after a valid one")
			}
			if _, err := issuer.VerifySession(token); err == nil {
				t.Error("cached token accepted as another kind")
			}
		})
	}
}

func removeFile(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
