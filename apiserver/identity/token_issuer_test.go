// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

var now = time.Date(2026, 11, 21, 9, 30, 0, 500, time.UTC)

// newTokenIssuer returns an issuer with two applications, one of them with a key that
// OAuth libraries percent-encode.
func newTokenIssuer(t testing.TB) *TokenIssuer {
	t.Helper()
	applications, err := NewApplications(
		Credential{ID: "portal", Key: "portal-key", Scopes: []Scope{SurveyRead, SurveyWrite, ConfigRead}},
		Credential{ID: "kiosk+1", Key: "a/b+c=d%2Be", Scopes: []Scope{}},
	)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	return &TokenIssuer{
		InstanceID:   "acme",
		Issuer:       func() string { return "https://acme.example" },
		Applications: applications,
		SigningKeys:  keys,
		Now:          func() time.Time { return now },
	}
}

// portalRequest returns a valid request with changes applied.
func portalRequest(changes ...func(*TokenRequest)) TokenRequest {
	request := TokenRequest{InstanceID: "acme-mgp", ClientID: "portal", ClientSecret: "portal-key", GrantType: "client_credentials"}
	for _, change := range changes {
		change(&request)
	}
	return request
}

func TestIssueToken(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	for name, test := range map[string]struct {
		request TokenRequest
		want    Principal
	}{
		"all scopes":     {portalRequest(), Principal{Actor: audit.Actor{Application: "portal"}, Scopes: []Scope{SurveyRead, SurveyWrite, ConfigRead}}},
		"one scope":      {portalRequest(func(r *TokenRequest) { r.Scope = "config:read" }), Principal{Actor: audit.Actor{Application: "portal"}, Scopes: []Scope{ConfigRead}}},
		"repeated scope": {portalRequest(func(r *TokenRequest) { r.Scope = "survey:write survey:read survey:write" }), Principal{Actor: audit.Actor{Application: "portal"}, Scopes: []Scope{SurveyRead, SurveyWrite}}},
		"blank scope":    {portalRequest(func(r *TokenRequest) { r.Scope = " " }), Principal{Actor: audit.Actor{Application: "portal"}, Scopes: []Scope{SurveyRead, SurveyWrite, ConfigRead}}},
		"key as it is":   {portalRequest(func(r *TokenRequest) { r.ClientID, r.ClientSecret = "kiosk+1", "a/b+c=d%2Be" }), Principal{Actor: audit.Actor{Application: "kiosk+1"}, Scopes: []Scope{}}},
		"key encoded":    {portalRequest(func(r *TokenRequest) { r.ClientID, r.ClientSecret = "kiosk%2B1", "a%2Fb%2Bc%3Dd%252Be" }), Principal{Actor: audit.Actor{Application: "kiosk+1"}, Scopes: []Scope{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token, err := authority.IssueToken(test.request)
			if err != nil {
				t.Fatal(err)
			}
			got, err := authority.VerifyAccessToken(token)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestIssueTokenErrors(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	for name, test := range map[string]struct {
		change func(*TokenRequest)
		code   string
		want   string
	}{
		"wrong key":         {func(r *TokenRequest) { r.ClientSecret = "hunter2" }, InvalidClient, "the application's id or key is wrong"},
		"wrong id":          {func(r *TokenRequest) { r.ClientID = "hunter2" }, InvalidClient, "the application's id or key is wrong"},
		"bad encoding":      {func(r *TokenRequest) { r.ClientSecret = "%hunter2" }, InvalidClient, "the application's id or key is wrong"},
		"no credentials":    {func(r *TokenRequest) { r.ClientID, r.ClientSecret = "", "" }, InvalidClient, "the application's id or key is wrong"},
		"no instance":       {func(r *TokenRequest) { r.InstanceID = "" }, InvalidClient, "Instance-Id"},
		"bare instance":     {func(r *TokenRequest) { r.InstanceID = "acme" }, InvalidClient, "Instance-Id"},
		"another instance":  {func(r *TokenRequest) { r.InstanceID = "other-mgp" }, InvalidClient, "Instance-Id"},
		"no grant":          {func(r *TokenRequest) { r.GrantType = "" }, InvalidRequest, "grant_type is missing"},
		"another grant":     {func(r *TokenRequest) { r.GrantType = "password" }, UnsupportedGrantType, "client_credentials"},
		"unknown scope":     {func(r *TokenRequest) { r.Scope = "survey:read survey:delete" }, InvalidScope, `unknown scope "survey:delete"`},
		"scope of others":   {func(r *TokenRequest) { r.Scope = "survey:read user:read" }, InvalidScope, "does not have the scope user:read"},
		"both are wrong":    {func(r *TokenRequest) { r.ClientSecret, r.InstanceID = "hunter2", "other-mgp" }, InvalidClient, "the application's id or key is wrong"},
		"key of another":    {func(r *TokenRequest) { r.ClientSecret = "a/b+c=d%2Be" }, InvalidClient, "the application's id or key is wrong"},
		"all of it missing": {func(r *TokenRequest) { *r = TokenRequest{} }, InvalidClient, "the application's id or key is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token, err := authority.IssueToken(portalRequest(test.change))
			var refused *OAuthError
			if !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(refused.Description, test.want) || token != "" {
				t.Errorf("got %q and error %v, want %s with %q", token, err, test.code, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error %q repeats a secret", err)
			}
		})
	}
}

// decodeToken decodes the header and claims of a token.
func decodeToken(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	pieces := strings.Split(token, ".")
	if len(pieces) != 3 {
		t.Fatalf("%s has %d parts", token, len(pieces))
	}
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(pieces[i])
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

func TestAccessTokenClaims(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	var ids []any
	for _, issuer := range []string{"https://acme.example", ""} {
		authority.Issuer = func() string { return issuer }
		token, err := authority.IssueToken(portalRequest())
		if err != nil {
			t.Fatal(err)
		}
		header, claims := decodeToken(t, token)
		wantHeader := map[string]any{"alg": "EdDSA", "typ": "at+jwt", "kid": authority.SigningKeys.PublicKeys()[0].ID}
		if diff := cmp.Diff(wantHeader, header); diff != "" {
			t.Errorf("header (-want +got)\n%s", diff)
		}
		ids = append(ids, claims["jti"])
		want := map[string]any{
			"iss": "https://acme.example", "sub": "portal", "aud": []any{"acme"},
			"iat": float64(now.Unix()), "exp": float64(now.Unix() + 3600), "jti": claims["jti"],
			"scope": "survey:read survey:write config:read",
		}
		if issuer == "" {
			want["iss"] = "acme"
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Errorf("claims (-want +got)\n%s", diff)
		}
	}
	if ids[0] == ids[1] || ids[0] == "" {
		t.Errorf("two tokens have the ids %v", ids)
	}
}

// forgeToken signs claims with a key that is not the issuer's.
func forgeToken(t testing.TB, method jwt.SigningMethod, key any, header map[string]any, said jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, said)
	for name, value := range header {
		token.Header[name] = value
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerifyAccessTokenErrors(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	good, err := authority.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(good, ".")
	key := authority.SigningKeys.ring.Load().signingKeyAt(now)
	_, strange, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]any{"typ": "at+jwt", "kid": key.id}
	with := func(changes jwt.MapClaims) jwt.MapClaims {
		said := jwt.MapClaims{"iss": "x", "sub": "portal", "aud": "acme", "exp": now.Unix() + 60, "iat": now.Unix(), "scope": "config:read"}
		for name, value := range changes {
			said[name] = value
			if value == nil {
				delete(said, name)
			}
		}
		return said
	}
	signed := func(changes jwt.MapClaims) string {
		return forgeToken(t, jwt.SigningMethodEdDSA, key.key, header, with(changes))
	}
	if _, err := authority.VerifyAccessToken(signed(nil)); err != nil {
		t.Fatalf("what is changed below is not good to begin with: %v", err)
	}
	for name, test := range map[string]struct{ token, want string }{
		"empty":             {"", "is not a JWT"},
		"rubbish":           {"hunter2", "is not a JWT"},
		"two parts":         {pieces[0] + "." + pieces[1], "is not a JWT"},
		"four parts":        {good + ".x", "is not a JWT"},
		"not base64":        {"!." + pieces[1] + "." + pieces[2], "is not a JWT"},
		"padding":           {pieces[0] + "." + pieces[1] + "." + pieces[2] + "==", "is not a JWT"},
		"no signature":      {pieces[0] + "." + pieces[1] + ".", "was not signed by this instance"},
		"other claims":      {pieces[0] + "." + strings.Split(signed(nil), ".")[1] + "." + pieces[2], "was not signed by this instance"},
		"strange key":       {forgeToken(t, jwt.SigningMethodEdDSA, strange, header, with(nil)), "was not signed by this instance"},
		"unknown key":       {forgeToken(t, jwt.SigningMethodEdDSA, strange, map[string]any{"typ": "at+jwt", "kid": "other"}, with(nil)), "a key unknown to this instance"},
		"no key id":         {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "at+jwt"}, with(nil)), "a key unknown to this instance"},
		"key id a number":   {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "at+jwt", "kid": 1}, with(nil)), "a key unknown to this instance"},
		"another type":      {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "JWT", "kid": key.id}, with(nil)), "has the wrong token type"},
		"HMAC with the key": {forgeToken(t, jwt.SigningMethodHS256, []byte(key.publicKey()), header, with(nil)), "was not signed by this instance"},
		"no algorithm":      {forgeToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, with(nil)), "was not signed by this instance"},
		"expired":           {signed(jwt.MapClaims{"exp": now.Unix()}), "has expired"},
		"no expiry":         {signed(jwt.MapClaims{"exp": nil}), "lacks a required claim"},
		"expiry a word":     {signed(jwt.MapClaims{"exp": "never"}), "is not a JWT"},
		"another audience":  {signed(jwt.MapClaims{"aud": "other"}), "was issued for another instance"},
		"no audience":       {signed(jwt.MapClaims{"aud": nil}), "lacks a required claim"},
		"no application":    {signed(jwt.MapClaims{"sub": nil}), "no longer exists"},
		"gone application":  {signed(jwt.MapClaims{"sub": "gone"}), "no longer exists"},
		"unknown scope":     {signed(jwt.MapClaims{"scope": "survey:delete"}), "has an unknown scope"},
		"not yet":           {signed(jwt.MapClaims{"nbf": now.Unix() + 60}), "is not valid"},
		"long":              {strings.Repeat("a", 8193), "is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller, err := authority.VerifyAccessToken(test.token)
			var invalid *InvalidTokenError
			if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "the access token ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and error %v, want one with %q", caller, err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 120) {
				t.Errorf("the error %q repeats the token", err)
			}
		})
	}
}

// TestAccessTokenExpires checks that a token is valid for exactly one hour.
func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	token, err := authority.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	for after, good := range map[time.Duration]bool{-time.Hour: true, 0: true, time.Hour - time.Second: true, time.Hour: false, 24 * time.Hour: false} {
		authority.Now = func() time.Time { return now.Add(after) }
		if _, err := authority.VerifyAccessToken(token); (err == nil) != good {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

// TestTokenIssuerDefaultsToSystemClock checks that Now defaults to the system clock.
func TestTokenIssuerDefaultsToSystemClock(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	authority.Now = nil
	token, err := authority.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := authority.VerifyAccessToken(token); err != nil {
		t.Error(err)
	}
}

// TestTokenIsRevokedWithApplication checks that removing an application or one of its
// scopes affects tokens already issued.
func TestTokenIsRevokedWithApplication(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	token, err := authority.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	if authority.Applications, err = NewApplications(Credential{ID: "portal", Key: "rotated", Scopes: []Scope{ConfigRead, UserRead}}); err != nil {
		t.Fatal(err)
	}
	caller, err := authority.VerifyAccessToken(token)
	if err != nil || !slices.Equal(caller.Scopes, []Scope{ConfigRead}) || !caller.HasScope(ConfigRead) || caller.HasScope(UserRead) {
		t.Errorf("got %v, %v, want what token and application both have", caller, err)
	}
	if authority.Applications, err = NewApplications(); err != nil {
		t.Fatal(err)
	}
	if caller, err := authority.VerifyAccessToken(token); err == nil {
		t.Errorf("got %v for an application that is gone", caller)
	}
}

// TestAccessTokensDuringKeyRotation checks that tokens of both keys are valid during a
// rotation, and tokens of the old key are invalid after its removal.
func TestAccessTokensDuringKeyRotation(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	older, _ := newKeyPEM(t)
	newer, _ := newKeyPEM(t)
	dir := t.TempDir()
	token := func(files map[string]string) string {
		t.Helper()
		writeFiles(t, dir, files)
		keys, _, err := LoadSigningKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		authority.SigningKeys = keys
		text, err := authority.IssueToken(portalRequest())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := token(map[string]string{"a.pem": older})
	second := token(map[string]string{"b.pem": newer})
	for name, text := range map[string]string{"older": first, "newer": second} {
		if _, err := authority.VerifyAccessToken(text); err != nil {
			t.Errorf("while rotating, the token of the %s key: %v", name, err)
		}
	}
	if header, _ := decodeToken(t, second); header["kid"] != "b" {
		t.Errorf("the key %v signs, want the newer", header["kid"])
	}
	dir = t.TempDir()
	token(map[string]string{"b.pem": newer})
	if _, err := authority.VerifyAccessToken(first); err == nil {
		t.Error("the token of a key that is gone is good")
	}
	if _, err := authority.VerifyAccessToken(second); err != nil {
		t.Errorf("the token of the key that stayed: %v", err)
	}
}

// FuzzVerifyAccessToken checks that only signed tokens are accepted and nothing causes a
// panic.
func FuzzVerifyAccessToken(f *testing.F) {
	authority := newTokenIssuer(f)
	good, err := authority.IssueToken(portalRequest())
	if err != nil {
		f.Fatal(err)
	}
	pieces := strings.Split(good, ".")
	for _, seed := range []string{
		good, "", ".", "..", "...", pieces[0] + ".." + pieces[2], pieces[0] + ".e30." + pieces[2], "e30.e30.", "bnVsbA.bnVsbA.bnVsbA",
		forgeToken(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, map[string]any{"typ": "at+jwt"}, jwt.MapClaims{}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		caller, err := authority.VerifyAccessToken(token)
		if err == nil && token != good {
			t.Fatalf("%q was let in as %v", token, caller)
		}
		var invalid *InvalidTokenError
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("got an error of another kind: %v", err)
		}
	})
}
