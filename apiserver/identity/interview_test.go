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

func interviewToken(t testing.TB, authority *Authority) string {
	t.Helper()
	token, err := authority.IssueInterviewToken("service-en", version)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestInterviewToken(t *testing.T) {
	t.Parallel()
	authority := newAuthority(t)
	token := interviewToken(t, authority)
	header, claims := parts(t, token)
	wantHeader := map[string]any{"alg": "EdDSA", "typ": "interview+jwt", "kid": authority.Keys.Public()[0].ID}
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
	if len(token) > interviewTokens.maxSize/4 {
		t.Errorf("a token has %d bytes, and %d are looked at", len(token), interviewTokens.maxSize)
	}
}

// A token is good for a day to the second.
func TestInterviewTokenExpires(t *testing.T) {
	t.Parallel()
	authority := newAuthority(t)
	token := interviewToken(t, authority)
	for after, good := range map[time.Duration]bool{0: true, time.Hour: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false, 1000 * time.Hour: false} {
		authority.Now = func() time.Time { return now.Add(after) }
		_, _, err := authority.VerifyInterviewToken(token)
		if (err == nil) != good || err != nil && !strings.Contains(err.Error(), "the interview token has expired") {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

func TestInterviewTokenRefused(t *testing.T) {
	t.Parallel()
	authority := newAuthority(t)
	good := interviewToken(t, authority)
	access, err := authority.Token(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	other := *authority
	other.Instance = "other"
	pieces, key := strings.Split(good, "."), authority.Keys.ring.Load().signer(now)
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
		return forge(t, jwt.SigningMethodEdDSA, key.key, header, said(changes))
	}
	if _, _, err := authority.VerifyInterviewToken(signed(nil)); err != nil {
		t.Fatalf("what is changed below is not good to begin with: %v", err)
	}
	for name, test := range map[string]struct{ token, want string }{
		"empty":                       {"", "is not a JWT"},
		"rubbish":                     {"hunter2", "is not a JWT"},
		"no signature":                {pieces[0] + "." + pieces[1] + ".", "was not signed by this instance"},
		"other claims":                {pieces[0] + "." + strings.Split(signed(nil), ".")[1] + "." + pieces[2], "was not signed by this instance"},
		"strange key":                 {forge(t, jwt.SigningMethodEdDSA, strange, header, said(nil)), "was not signed by this instance"},
		"no algorithm":                {forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, said(nil)), "was not signed by this instance"},
		"an access token":             {access, "is a token of another kind"},
		"of another instance":         {interviewToken(t, &other), "was made for another instance"},
		"for calling":                 {signed(jwt.MapClaims{"aud": "acme"}), "was made for another instance"},
		"no expiry":                   {signed(jwt.MapClaims{"exp": nil}), "lacks a claim"},
		"no model":                    {signed(jwt.MapClaims{"model": ""}), "names no release"},
		"no version":                  {signed(jwt.MapClaims{"version": nil}), "names no release"},
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

// An interview token lets nobody in, whatever it says of itself.
func TestInterviewTokenIsNoAccessToken(t *testing.T) {
	t.Parallel()
	authority := newAuthority(t)
	key := authority.Keys.ring.Load().signer(now)
	claims := jwt.MapClaims{
		"aud": []string{"acme", "acme/interviews"}, "exp": now.Unix() + 60, "sub": "portal", "scope": "config:read",
		"model": "service-en", "version": version,
	}
	both := forge(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "interview+jwt", "kid": key.id}, claims)
	for name, token := range map[string]string{"as issued": interviewToken(t, authority), "with the claims of both": both} {
		if _, _, err := authority.VerifyInterviewToken(token); err != nil {
			t.Errorf("%s: not even an interview token: %v", name, err)
		}
		if caller, err := authority.Caller(token); err == nil {
			t.Errorf("%s: let in as %v", name, caller)
		}
	}
}

// Tokens outlive a rotation as long as the key that signed them is there.
func TestInterviewTokensWhileKeysRotate(t *testing.T) {
	t.Parallel()
	authority := newAuthority(t)
	older, _ := newKey(t)
	newer, _ := newKey(t)
	dir := t.TempDir()
	open := func(files map[string]string) {
		t.Helper()
		write(t, dir, files)
		keys, _, err := OpenSigningKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		authority.Keys = keys
	}
	open(map[string]string{"a.pem": older})
	first := interviewToken(t, authority)
	open(map[string]string{"b.pem": newer})
	second := interviewToken(t, authority)
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

// No text but a token that was signed is accepted, and none is a panic.
func FuzzInterviewToken(f *testing.F) {
	authority := newAuthority(f)
	good := interviewToken(f, authority)
	access, err := authority.Token(portalRequest())
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

// What a diagnosis with details costs more, and an article.
func BenchmarkInterviewToken(b *testing.B) {
	authority := newAuthority(b)
	token := interviewToken(b, authority)
	b.Run("issue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			interviewToken(b, authority)
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
