// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

const version = "2026-11-21T00:00:00Z"

func issueInterviewToken(t testing.TB, authority *TokenIssuer) string {
	t.Helper()
	token, err := authority.IssueInterviewToken("service-en", version)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestInterviewToken(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	token := issueInterviewToken(t, authority)
	header, claims := decodeToken(t, token)
	wantHeader := map[string]any{"alg": "EdDSA", "typ": "interview+jwt", "kid": authority.SigningKeys.PublicKeys()[0].ID}
	if diff := cmp.Diff(wantHeader, header); diff != "" {
		t.Errorf("header (-want +got)\n%s", diff)
	}
	wantClaims := map[string]any{
		"iss": "https://acme.example", "aud": []any{"acme/interviews"},
		"iat": float64(now.Unix()), "exp": float64(now.Unix() + 24*3600),
		"model": "service-en", "version": version,
	}
	if diff := cmp.Diff(wantClaims, claims); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
	model, read, err := authority.VerifyInterviewToken(token)
	if err != nil || model != "service-en" || read != version {
		t.Errorf("read %q, %q, %v", model, read, err)
	}
	if len(token) > interviewTokenKind.maxSize/4 {
		t.Errorf("a token has %d bytes, and %d are read", len(token), interviewTokenKind.maxSize)
	}
}

// TestInterviewTokenExpires checks that a token is valid for exactly one day.
func TestInterviewTokenExpires(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	token := issueInterviewToken(t, authority)
	for after, good := range map[time.Duration]bool{0: true, time.Hour: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false, 1000 * time.Hour: false} {
		authority.Now = func() time.Time { return now.Add(after) }
		_, _, err := authority.VerifyInterviewToken(token)
		if (err == nil) != good || err != nil && !strings.Contains(err.Error(), "the interview token has expired") {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

func TestVerifyInterviewTokenErrors(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	good := issueInterviewToken(t, authority)
	access, err := authority.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	other := *authority
	other.InstanceID = "other"
	pieces, key := strings.Split(good, "."), authority.SigningKeys.ring.Load().signingKeyAt(now)
	_, strange, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]any{"typ": "interview+jwt", "kid": key.id}
	said := func(changes jwt.MapClaims) jwt.MapClaims {
		claims := jwt.MapClaims{"aud": "acme/interviews", "exp": now.Unix() + 60, "model": "service-en", "version": version}
		for name, value := range changes {
			claims[name] = value
		}
		return claims
	}
	signed := func(changes jwt.MapClaims) string {
		return forgeToken(t, jwt.SigningMethodEdDSA, key.key, header, said(changes))
	}
	if _, _, err := authority.VerifyInterviewToken(signed(nil)); err != nil {
		t.Fatalf("what is changed below is not good to begin with: %v", err)
	}
	for name, test := range map[string]struct{ token, want string }{
		"empty":                       {"", "is not a JWT"},
		"rubbish":                     {"hunter2", "is not a JWT"},
		"no signature":                {pieces[0] + "." + pieces[1] + ".", "was not signed by this instance"},
		"other claims":                {pieces[0] + "." + strings.Split(signed(nil), ".")[1] + "." + pieces[2], "was not signed by this instance"},
		"strange key":                 {forgeToken(t, jwt.SigningMethodEdDSA, strange, header, said(nil)), "was not signed by this instance"},
		"no algorithm":                {forgeToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, said(nil)), "was not signed by this instance"},
		"an access token":             {access, "has the wrong token type"},
		"of another instance":         {issueInterviewToken(t, &other), "was issued for another instance"},
		"for calling":                 {signed(jwt.MapClaims{"aud": "acme"}), "was issued for another instance"},
		"no expiry":                   {signed(jwt.MapClaims{"exp": nil}), "lacks a required claim"},
		"no model":                    {signed(jwt.MapClaims{"model": ""}), "does not name a model release"},
		"no version":                  {signed(jwt.MapClaims{"version": nil}), "does not name a model release"},
		"model a number":              {signed(jwt.MapClaims{"model": 1}), "is not a JWT"},
		"long":                        {strings.Repeat("a", 2049), "is longer than 2048 bytes"},
		"long and otherwise as it is": {good + "." + strings.Repeat("a", 2048), "is longer than 2048 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, read, err := authority.VerifyInterviewToken(test.token)
			var invalid *InvalidTokenError
			if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "the interview token ") || !strings.Contains(err.Error(), test.want) || model+read != "" {
				t.Errorf("got %q, %q and error %v, want one with %q", model, read, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error %q repeats the token", err)
			}
		})
	}
}

// TestInterviewTokenIsRejectedAsAccessToken checks that an interview token never
// authenticates a caller, whatever its claims.
func TestInterviewTokenIsRejectedAsAccessToken(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	key := authority.SigningKeys.ring.Load().signingKeyAt(now)
	claims := jwt.MapClaims{
		"aud": []string{"acme", "acme/interviews"}, "exp": now.Unix() + 60, "sub": "portal", "scope": "config:read",
		"model": "service-en", "version": version,
	}
	both := forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "interview+jwt", "kid": key.id}, claims)
	for name, token := range map[string]string{"as issued": issueInterviewToken(t, authority), "with the claims of both": both} {
		if _, _, err := authority.VerifyInterviewToken(token); err != nil {
			t.Errorf("%s: not even an interview token: %v", name, err)
		}
		if caller, err := authority.VerifyAccessToken(token); err == nil {
			t.Errorf("%s: let in as %v", name, caller)
		}
	}
}

// TestInterviewTokensDuringKeyRotation checks that tokens stay valid as long as their
// key exists.
func TestInterviewTokensDuringKeyRotation(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	older, _ := newKeyPEM(t)
	newer, _ := newKeyPEM(t)
	dir := t.TempDir()
	open := func(files map[string]string) {
		t.Helper()
		writeFiles(t, dir, files)
		keys, _, err := LoadSigningKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		authority.SigningKeys = keys
	}
	open(map[string]string{"a.pem": older})
	first := issueInterviewToken(t, authority)
	open(map[string]string{"b.pem": newer})
	second := issueInterviewToken(t, authority)
	verify := func(when string, token string, good bool) {
		t.Helper()
		if _, _, err := authority.VerifyInterviewToken(token); (err == nil) != good {
			t.Errorf("%s: %v", when, err)
		}
	}
	verify("the older key while rotating", first, true)
	verify("the newer key while rotating", second, true)
	dir = t.TempDir()
	open(map[string]string{"b.pem": newer})
	verify("the older key after it", first, false)
	verify("the newer key after it", second, true)
}

// FuzzInterviewToken checks that only signed tokens are accepted and nothing causes a
// panic.
func FuzzInterviewToken(f *testing.F) {
	authority := newTokenIssuer(f)
	good := issueInterviewToken(f, authority)
	access, err := authority.IssueToken(portalRequest())
	if err != nil {
		f.Fatal(err)
	}
	pieces, of := strings.Split(good, "."), strings.Split(access, ".")
	for _, seed := range []string{good, access, "", "..", pieces[0] + "." + of[1] + "." + of[2], of[0] + "." + pieces[1] + "." + pieces[2]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		model, read, err := authority.VerifyInterviewToken(token)
		if err == nil && token != good {
			t.Fatalf("%q was accepted for %s@%s", token, model, read)
		}
		var invalid *InvalidTokenError
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("got an error of another kind: %v", err)
		}
	})
}

// BenchmarkInterviewToken measures the overhead of interview tokens for a diagnosis with
// details and for an article.
func BenchmarkInterviewToken(b *testing.B) {
	authority := newTokenIssuer(b)
	token := issueInterviewToken(b, authority)
	b.Run("issue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			issueInterviewToken(b, authority)
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := authority.VerifyInterviewToken(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("refuse a forgery", func(b *testing.B) {
		b.ReportAllocs()
		forged := token[:len(token)-2] + "AA"
		for b.Loop() {
			if _, _, err := authority.VerifyInterviewToken(forged); err == nil {
				b.Fatal("accepted")
			}
		}
	})
}
