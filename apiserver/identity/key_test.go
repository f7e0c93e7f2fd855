// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// newKey returns a private key as a file holds it.
func newKey(t testing.TB) (text string, public ed25519.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return inPEM(t, private), public
}

func inPEM(t testing.TB, private any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestSigningKeys(t *testing.T) {
	t.Parallel()
	older, olderPublic := newKey(t)
	newer, newerPublic := newKey(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"2026-01.pem": older, "2026-11.pem": newer, "notes.txt": "not a key"})
	keys, _, err := OpenSigningKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if id := keys.ring.Load().newest().id; id != "2026-11" {
		t.Errorf("%s signs, want the newest", id)
	}
	public := keys.Public()
	for i, want := range []struct {
		id  string
		key ed25519.PublicKey
	}{{"2026-11", newerPublic}, {"2026-01", olderPublic}} {
		got := public[i]
		if got.ID != want.id || got.X != base64.RawURLEncoding.EncodeToString(want.key) ||
			got.KeyType != "OKP" || got.Curve != "Ed25519" || got.Algorithm != "EdDSA" || got.Use != "sig" {
			t.Errorf("key %d is %+v, want %s", i, got, want.id)
		}
	}
	if len(public) != 2 {
		t.Errorf("%d keys are published, want 2", len(public))
	}
}

func TestNewSigningKeys(t *testing.T) {
	t.Parallel()
	first, err := NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Public()) != 1 || first.Public()[0] == second.Public()[0] {
		t.Errorf("got %v and %v, want one new key each", first.Public(), second.Public())
	}
}

func TestOpenSigningKeysFails(t *testing.T) {
	t.Parallel()
	good, _ := newKey(t)
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"empty":            "",
		"not PEM":          "hunter2",
		"another kind":     inPEM(t, elliptical),
		"another block":    strings.ReplaceAll(good, "PRIVATE KEY", "EC PRIVATE KEY"),
		"two keys":         good + good,
		"half":             good[:len(good)/2],
		"rubbish in block": "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"a.pem": good, "b.pem": content})
			_, _, err := OpenSigningKeys(dir)
			if err == nil || !strings.Contains(err.Error(), "b.pem: not an Ed25519 private key") {
				t.Errorf("got error %v, want one that names the file", err)
			}
		})
	}
	if _, _, err := OpenSigningKeys(t.TempDir()); err == nil || !strings.Contains(err.Error(), "<key id>.pem") {
		t.Errorf("no key: got error %v", err)
	}
	if _, _, err := OpenSigningKeys(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing directory is no error")
	}
}

func FuzzKeyFile(f *testing.F) {
	good, _ := newKey(f)
	f.Add([]byte(good))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		ring, err := parseKeys(reload.Files{"dir/fuzz.pem": content})
		if err == nil && (len(ring) != 1 || len(ring[0].key) != ed25519.PrivateKeySize) {
			t.Fatalf("%q was read as %d keys", content, len(ring))
		}
	})
}
