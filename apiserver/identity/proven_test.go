// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A token that was good once is judged anew at each call, but for its signature.
func TestProvenTokens(t *testing.T) {
	t.Parallel()
	first, _ := newKey(t)
	second, _ := newKey(t)
	for name, test := range map[string]struct {
		after  func(t *testing.T, a *Authority, dir string)
		reason string // empty: it is still good
	}{
		"nothing happened": {func(*testing.T, *Authority, string) {}, ""},
		"another key came": {func(t *testing.T, _ *Authority, dir string) { write(t, dir, map[string]string{"b.pem": second}) }, ""},
		"its key went": {func(t *testing.T, _ *Authority, dir string) {
			write(t, dir, map[string]string{"b.pem": second})
			remove(t, dir, "a.pem")
		}, "a key that this instance does not have"},
		"its key is other": {func(t *testing.T, _ *Authority, dir string) { write(t, dir, map[string]string{"a.pem": second}) }, "was not signed by this instance"},
		"it expired": {func(_ *testing.T, a *Authority, _ string) {
			a.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
		}, "has expired"},
		"the instance is b": {func(_ *testing.T, a *Authority, _ string) { a.Instance = "b" }, "was made for another instance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"a.pem": first})
			keys, source, err := OpenSigningKeys(dir)
			if err != nil {
				t.Fatal(err)
			}
			authority := &Authority{Instance: "acme", Keys: keys, Issuer: func() string { return "" }, Now: time.Now}
			token, err := authority.IssueUserToken("ada")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if caller, err := authority.Caller(token); err != nil || caller.UserID != "ada" {
					t.Fatalf("got %+v, %v", caller, err)
				}
			}
			test.after(t, authority, dir)
			if err := source.Load(); err != nil {
				t.Fatal(err)
			}
			_, err = authority.Caller(token)
			if (err == nil) != (test.reason == "") || err != nil && !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got %v, want %q", err, test.reason)
			}
			cut := strings.LastIndex(token, ".") + 1
			if _, err := authority.Caller(token[:cut] + strings.Repeat("A", len(token)-cut)); err == nil {
				t.Error("a forged signature is good beside a proven one")
			}
			if _, err := authority.VerifySession(token); err == nil {
				t.Error("a proven token is one of another kind")
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
