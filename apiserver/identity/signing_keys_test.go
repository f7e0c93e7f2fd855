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

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// newKeyPEM returns a new private key in the file format, and its public key.
func newKeyPEM(t testing.TB) (text string, public ed25519.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM(t, private), public
}

func encodePEM(t testing.TB, private any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestSigningKeys(t *testing.T) {
	t.Parallel()
	older, olderPublic := newKeyPEM(t)
	newer, newerPublic := newKeyPEM(t)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"2026-01.pem": older, "2026-11.pem": newer, "notes.txt": "not a key"})
	keys, _, err := LoadSigningKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if id := keys.ring.Load().signingKeyAt(now).id; id != "2026-11" {
		t.Errorf("key %s signs, want the newest key", id)
	}
	public := keys.PublicKeys()
	for i, want := range []struct {
		id  string
		key ed25519.PublicKey
	}{{"2026-11", newerPublic}, {"2026-01", olderPublic}} {
		got := public[i]
		if got.ID != want.id || got.X != base64.RawURLEncoding.EncodeToString(want.key) ||
			got.KeyType != "OKP" || got.Curve != "Ed25519" || got.Algorithm != "EdDSA" || got.Use != "sig" {
			t.Errorf("key %d: got %+v, want %s", i, got, want.id)
		}
	}
	if len(public) != 2 {
		t.Errorf("got %d public keys, want 2", len(public))
	}
}

// newKeyPEMWithStart returns a key that signs from the given instant on.
func newKeyPEMWithStart(t testing.TB, instant string) string {
	t.Helper()
	text, _ := newKeyPEM(t)
	block, _ := pem.Decode([]byte(text))
	if instant != "" {
		block.Headers = map[string]string{"Signs-From": instant}
	}
	return string(pem.EncodeToMemory(block))
}

// TestSigningKeyAt checks that a key signs only from its start time on, but verifies before.
func TestSigningKeyAt(t *testing.T) {
	t.Parallel()
	const past, later, soon = "2026-11-20T00:00:00Z", "2026-11-21T09:00:00Z", "2026-11-21T09:35:00Z"
	for name, test := range map[string]struct {
		from map[string]string
		want string
	}{
		"none says when":                  {map[string]string{"a": "", "b": ""}, "b"},
		"one whose time has come":         {map[string]string{"a": later, "b": ""}, "a"},
		"one whose time has not come":     {map[string]string{"a": past, "b": soon}, "a"},
		"the later of two":                {map[string]string{"a": later, "b": past}, "a"},
		"the last of the same time":       {map[string]string{"a": later, "b": later}, "b"},
		"before the time of any":          {map[string]string{"a": "2027-01-01T00:00:00Z", "b": soon}, "b"},
		"with an offset, an hour earlier": {map[string]string{"a": "2026-11-21T10:29:00+01:00", "b": past}, "a"},
	} {
		dir, files := t.TempDir(), map[string]string{}
		for id, from := range test.from {
			files[id+".pem"] = newKeyPEMWithStart(t, from)
		}
		writeFiles(t, dir, files)
		keys, _, err := LoadSigningKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys.ring.Load().signingKeyAt(now).id; got != test.want {
			t.Errorf("%s: key %s signs, want %s", name, got, test.want)
		}
		if got := len(keys.PublicKeys()); got != len(files) {
			t.Errorf("%s: got %d public keys, want all", name, got)
		}
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a.pem": newKeyPEMWithStart(t, "tomorrow")})
	if _, _, err := LoadSigningKeys(dir); err == nil || !strings.Contains(err.Error(), "a.pem: invalid Signs-From header: expected an RFC 3339 timestamp, such as") {
		t.Errorf("got %v", err)
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
	if len(first.PublicKeys()) != 1 || first.PublicKeys()[0] == second.PublicKeys()[0] {
		t.Errorf("got keys %v and %v, want two different keys", first.PublicKeys(), second.PublicKeys())
	}
}

func TestLoadSigningKeysErrors(t *testing.T) {
	t.Parallel()
	validKey, _ := newKeyPEM(t)
	ecdsaKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"empty":            "",
		"not PEM":          "hunter2",
		"another kind":     encodePEM(t, ecdsaKey),
		"another block":    strings.ReplaceAll(validKey, "PRIVATE KEY", "EC PRIVATE KEY"),
		"two keys":         validKey + validKey,
		"half":             validKey[:len(validKey)/2],
		"rubbish in block": "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"a.pem": validKey, "b.pem": content})
			_, _, err := LoadSigningKeys(dir)
			if err == nil || !strings.Contains(err.Error(), "b.pem: not an Ed25519 private key") {
				t.Errorf("got error %v, want one that names the file", err)
			}
		})
	}
	if _, _, err := LoadSigningKeys(t.TempDir()); err == nil || !strings.Contains(err.Error(), "<key id>.pem") {
		t.Errorf("directory without keys: got error %v", err)
	}
	if _, _, err := LoadSigningKeys(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("want an error for a missing directory")
	}
}

func FuzzKeyFile(f *testing.F) {
	validKey, _ := newKeyPEM(f)
	f.Add([]byte(validKey))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		ring, err := parseKeys(reload.Files{"dir/fuzz.pem": content})
		if err == nil && (len(ring) != 1 || len(ring[0].key) != ed25519.PrivateKeySize) {
			t.Fatalf("%q was parsed as %d keys", content, len(ring))
		}
	})
}
