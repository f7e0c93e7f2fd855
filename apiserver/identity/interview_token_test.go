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

func issueInterviewToken(t testing.TB, issuer *TokenIssuer) string {
	t.Helper()
	token, err := issuer.IssueInterviewToken("service-en", version)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestInterviewToken(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	token := issueInterviewToken(t, issuer)
	header, claims := decodeToken(t, token)
	wantHeader := map[string]any{"alg": "EdDSA", "typ": "interview+jwt", "kid": issuer.SigningKeys.PublicKeys()[0].ID}
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
	model, gotVersion, err := issuer.VerifyInterviewToken(token)
	if err != nil || model != "service-en" || gotVersion != version {
		t.Errorf("VerifyInterviewToken returned %q, %q, %v", model, gotVersion, err)
	}
	if len(token) > interviewTokenKind.maxSize/4 {
		t.Errorf("token has %d bytes, exceeding the maximum of %d", len(token), interviewTokenKind.maxSize)
	}
}

// TestInterviewTokenExpires checks that a token is valid for exactly one day.
func TestInterviewTokenExpires(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	token := issueInterviewToken(t, issuer)
	for after, valid := range map[time.Duration]bool{0: true, time.Hour: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false, 1000 * time.Hour: false} {
		issuer.Now = func() time.Time { return now.Add(after) }
		_, _, err := issuer.VerifyInterviewToken(token)
		if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "token has expired") {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

func TestVerifyInterviewTokenErrors(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	validToken := issueInterviewToken(t, issuer)
	access, err := issuer.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	other := *issuer
	other.InstanceID = "other"
	parts, key := strings.Split(validToken, "."), issuer.SigningKeys.ring.Load().signingKeyAt(now)
	_, foreignKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]any{"typ": "interview+jwt", "kid": key.id}
	newClaims := func(changes jwt.MapClaims) jwt.MapClaims {
		claims := jwt.MapClaims{"aud": "acme/interviews", "exp": now.Unix() + 60, "model": "service-en", "version": version}
		for name, value := range changes {
			claims[name] = value
		}
		return claims
	}
	signed := func(changes jwt.MapClaims) string {
		return forgeToken(t, jwt.SigningMethodEdDSA, key.key, header, newClaims(changes))
	}
	if _, _, err := issuer.VerifyInterviewToken(signed(nil)); err != nil {
		t.Fatalf("verifying the unmodified token: %v", err)
	}
	for name, test := range map[string]struct{ token, want string }{
		"empty":                       {"", "not a JWT"},
		"garbage":                     {"hunter2", "not a JWT"},
		"no signature":                {parts[0] + "." + parts[1] + ".", "signature verification failed"},
		"other claims":                {parts[0] + "." + strings.Split(signed(nil), ".")[1] + "." + parts[2], "signature verification failed"},
		"foreign key":                 {forgeToken(t, jwt.SigningMethodEdDSA, foreignKey, header, newClaims(nil)), "signature verification failed"},
		"no algorithm":                {forgeToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, newClaims(nil)), "signature verification failed"},
		"an access token":             {access, "wrong token type"},
		"of another instance":         {issueInterviewToken(t, &other), "issued for another instance"},
		"for calling":                 {signed(jwt.MapClaims{"aud": "acme"}), "issued for another instance"},
		"no expiry":                   {signed(jwt.MapClaims{"exp": nil}), "missing required claim"},
		"no model":                    {signed(jwt.MapClaims{"model": ""}), "missing model release"},
		"no version":                  {signed(jwt.MapClaims{"version": nil}), "missing model release"},
		"model a number":              {signed(jwt.MapClaims{"model": 1}), "not a JWT"},
		"long":                        {strings.Repeat("a", 2049), "token exceeds 2048 bytes"},
		"long and otherwise as it is": {validToken + "." + strings.Repeat("a", 2048), "token exceeds 2048 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, version, err := issuer.VerifyInterviewToken(test.token)
			var invalid *InvalidTokenError
			if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "invalid interview token: ") || !strings.Contains(err.Error(), test.want) || model+version != "" {
				t.Errorf("got %q, %q and error %v, want an error containing %q", model, version, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q reveals the token", err)
			}
		})
	}
}

// TestInterviewTokenIsRejectedAsAccessToken checks that an interview token never
// authenticates a caller, whatever its claims.
func TestInterviewTokenIsRejectedAsAccessToken(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	key := issuer.SigningKeys.ring.Load().signingKeyAt(now)
	claims := jwt.MapClaims{
		"aud": []string{"acme", "acme/interviews"}, "exp": now.Unix() + 60, "sub": "portal", "scope": "config:read",
		"model": "service-en", "version": version,
	}
	hybrid := forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "interview+jwt", "kid": key.id}, claims)
	for name, token := range map[string]string{"unmodified": issueInterviewToken(t, issuer), "claims of both kinds": hybrid} {
		if _, _, err := issuer.VerifyInterviewToken(token); err != nil {
			t.Errorf("%s: verifying interview token: %v", name, err)
		}
		if caller, err := issuer.VerifyAccessToken(token); err == nil {
			t.Errorf("%s: accepted as an access token of %v", name, caller)
		}
	}
}

// TestInterviewTokensDuringKeyRotation checks that tokens stay valid as long as their
// key exists.
func TestInterviewTokensDuringKeyRotation(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	older, _ := newKeyPEM(t)
	newer, _ := newKeyPEM(t)
	dir := t.TempDir()
	loadKeys := func(files map[string]string) {
		t.Helper()
		writeFiles(t, dir, files)
		keys, _, err := LoadSigningKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		issuer.SigningKeys = keys
	}
	loadKeys(map[string]string{"a.pem": older})
	first := issueInterviewToken(t, issuer)
	loadKeys(map[string]string{"b.pem": newer})
	second := issueInterviewToken(t, issuer)
	verify := func(when string, token string, valid bool) {
		t.Helper()
		if _, _, err := issuer.VerifyInterviewToken(token); (err == nil) != valid {
			t.Errorf("%s: %v", when, err)
		}
	}
	verify("older key during rotation", first, true)
	verify("newer key during rotation", second, true)
	dir = t.TempDir()
	loadKeys(map[string]string{"b.pem": newer})
	verify("older key after rotation", first, false)
	verify("newer key after rotation", second, true)
}

// FuzzInterviewToken checks that only signed tokens are accepted and nothing causes a
// panic.
func FuzzInterviewToken(f *testing.F) {
	issuer := newTokenIssuer(f)
	validToken := issueInterviewToken(f, issuer)
	access, err := issuer.IssueToken(portalRequest())
	if err != nil {
		f.Fatal(err)
	}
	parts, accessParts := strings.Split(validToken, "."), strings.Split(access, ".")
	for _, seed := range []string{validToken, access, "", "..", parts[0] + "." + accessParts[1] + "." + accessParts[2], accessParts[0] + "." + parts[1] + "." + parts[2]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		model, version, err := issuer.VerifyInterviewToken(token)
		if err == nil && token != validToken {
			t.Fatalf("%q was accepted for %s@%s", token, model, version)
		}
		var invalid *InvalidTokenError
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("got error %v, want *InvalidTokenError", err)
		}
	})
}

// BenchmarkInterviewToken measures the overhead of interview tokens for a diagnosis with
// details and for an article.
func BenchmarkInterviewToken(b *testing.B) {
	issuer := newTokenIssuer(b)
	token := issueInterviewToken(b, issuer)
	b.Run("issue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			issueInterviewToken(b, issuer)
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := issuer.VerifyInterviewToken(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reject forged token", func(b *testing.B) {
		b.ReportAllocs()
		forged := token[:len(token)-2] + "AA"
		for b.Loop() {
			if _, _, err := issuer.VerifyInterviewToken(forged); err == nil {
				b.Fatal("accepted")
			}
		}
	})
}
