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
	issuer := newTokenIssuer(t)
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
			token, err := issuer.IssueToken(test.request)
			if err != nil {
				t.Fatal(err)
			}
			got, err := issuer.VerifyAccessToken(token)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestIssueTokenErrors(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
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
			token, err := issuer.IssueToken(portalRequest(test.change))
			var oauthErr *OAuthError
			if !errors.As(err, &oauthErr) || oauthErr.Code != test.code || !strings.Contains(oauthErr.Description, test.want) || token != "" {
				t.Errorf("got token %q and error %v, want code %s with %q", token, err, test.code, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q reveals a secret", err)
			}
		})
	}
}

// decodeToken decodes the header and claims of a token.
func decodeToken(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%s has %d parts", token, len(parts))
	}
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
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
	issuer := newTokenIssuer(t)
	var ids []any
	for _, issuerURL := range []string{"https://acme.example", ""} {
		issuer.Issuer = func() string { return issuerURL }
		token, err := issuer.IssueToken(portalRequest())
		if err != nil {
			t.Fatal(err)
		}
		header, claims := decodeToken(t, token)
		wantHeader := map[string]any{"alg": "EdDSA", "typ": "at+jwt", "kid": issuer.SigningKeys.PublicKeys()[0].ID}
		if diff := cmp.Diff(wantHeader, header); diff != "" {
			t.Errorf("header (-want +got)\n%s", diff)
		}
		ids = append(ids, claims["jti"])
		want := map[string]any{
			"iss": "https://acme.example", "sub": "portal", "aud": []any{"acme"},
			"iat": float64(now.Unix()), "exp": float64(now.Unix() + 3600), "jti": claims["jti"],
			"scope": "survey:read survey:write config:read",
		}
		if issuerURL == "" {
			want["iss"] = "acme"
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Errorf("claims (-want +got)\n%s", diff)
		}
	}
	if ids[0] == ids[1] || ids[0] == "" {
		t.Errorf("got token ids %v, want two different ids", ids)
	}
}

// forgeToken returns a token that is signed with the given key and method.
func forgeToken(t testing.TB, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
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
	issuer := newTokenIssuer(t)
	validToken, err := issuer.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(validToken, ".")
	key := issuer.SigningKeys.ring.Load().signingKeyAt(now)
	_, foreignKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]any{"typ": "at+jwt", "kid": key.id}
	with := func(changes jwt.MapClaims) jwt.MapClaims {
		claims := jwt.MapClaims{"iss": "x", "sub": "portal", "aud": "acme", "exp": now.Unix() + 60, "iat": now.Unix(), "scope": "config:read"}
		for name, value := range changes {
			claims[name] = value
			if value == nil {
				delete(claims, name)
			}
		}
		return claims
	}
	signed := func(changes jwt.MapClaims) string {
		return forgeToken(t, jwt.SigningMethodEdDSA, key.key, header, with(changes))
	}
	if _, err := issuer.VerifyAccessToken(signed(nil)); err != nil {
		t.Fatalf("verifying the unmodified token: %v", err)
	}
	for name, test := range map[string]struct{ token, want string }{
		"empty":               {"", "not a JWT"},
		"garbage":             {"hunter2", "not a JWT"},
		"two parts":           {parts[0] + "." + parts[1], "not a JWT"},
		"four parts":          {validToken + ".x", "not a JWT"},
		"not base64":          {"!." + parts[1] + "." + parts[2], "not a JWT"},
		"padding":             {parts[0] + "." + parts[1] + "." + parts[2] + "==", "not a JWT"},
		"no signature":        {parts[0] + "." + parts[1] + ".", "signature verification failed"},
		"other claims":        {parts[0] + "." + strings.Split(signed(nil), ".")[1] + "." + parts[2], "signature verification failed"},
		"foreign key":         {forgeToken(t, jwt.SigningMethodEdDSA, foreignKey, header, with(nil)), "signature verification failed"},
		"unknown key":         {forgeToken(t, jwt.SigningMethodEdDSA, foreignKey, map[string]any{"typ": "at+jwt", "kid": "other"}, with(nil)), "signing key unknown to this instance"},
		"no key id":           {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "at+jwt"}, with(nil)), "signing key unknown to this instance"},
		"key id a number":     {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "at+jwt", "kid": 1}, with(nil)), "signing key unknown to this instance"},
		"another type":        {forgeToken(t, jwt.SigningMethodEdDSA, key.key, map[string]any{"typ": "JWT", "kid": key.id}, with(nil)), "wrong token type"},
		"HMAC with the key":   {forgeToken(t, jwt.SigningMethodHS256, []byte(key.publicKey()), header, with(nil)), "signature verification failed"},
		"no algorithm":        {forgeToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, with(nil)), "signature verification failed"},
		"expired":             {signed(jwt.MapClaims{"exp": now.Unix()}), "token has expired"},
		"no expiry":           {signed(jwt.MapClaims{"exp": nil}), "missing required claim"},
		"expiry a word":       {signed(jwt.MapClaims{"exp": "never"}), "not a JWT"},
		"another audience":    {signed(jwt.MapClaims{"aud": "other"}), "issued for another instance"},
		"no audience":         {signed(jwt.MapClaims{"aud": nil}), "missing required claim"},
		"no application":      {signed(jwt.MapClaims{"sub": nil}), "no longer exists"},
		"deleted application": {signed(jwt.MapClaims{"sub": "gone"}), "no longer exists"},
		"unknown scope":       {signed(jwt.MapClaims{"scope": "survey:delete"}), "unknown scope"},
		"not yet":             {signed(jwt.MapClaims{"nbf": now.Unix() + 60}), "verification failed"},
		"long":                {strings.Repeat("a", 8193), "token exceeds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller, err := issuer.VerifyAccessToken(test.token)
			var invalid *InvalidTokenError
			if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "invalid access token: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and error %v, want an error containing %q", caller, err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 120) {
				t.Errorf("error %q reveals the token", err)
			}
		})
	}
}

// TestAccessTokenExpires checks that a token is valid for exactly one hour.
func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	token, err := issuer.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	for after, valid := range map[time.Duration]bool{-time.Hour: true, 0: true, time.Hour - time.Second: true, time.Hour: false, 24 * time.Hour: false} {
		issuer.Now = func() time.Time { return now.Add(after) }
		if _, err := issuer.VerifyAccessToken(token); (err == nil) != valid {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

// TestTokenIssuerDefaultsToSystemClock checks that Now defaults to the system clock.
func TestTokenIssuerDefaultsToSystemClock(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	issuer.Now = nil
	token, err := issuer.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := issuer.VerifyAccessToken(token); err != nil {
		t.Error(err)
	}
}

// TestTokenIsRevokedWithApplication checks that removing an application or one of its scopes
// affects tokens that were already issued.
func TestTokenIsRevokedWithApplication(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	token, err := issuer.IssueToken(portalRequest())
	if err != nil {
		t.Fatal(err)
	}
	if issuer.Applications, err = NewApplications(Credential{ID: "portal", Key: "rotated", Scopes: []Scope{ConfigRead, UserRead}}); err != nil {
		t.Fatal(err)
	}
	caller, err := issuer.VerifyAccessToken(token)
	if err != nil || !slices.Equal(caller.Scopes, []Scope{ConfigRead}) || !caller.HasScope(ConfigRead) || caller.HasScope(UserRead) {
		t.Errorf("got %v, %v; want only the scopes that both the token and the application have", caller, err)
	}
	if issuer.Applications, err = NewApplications(); err != nil {
		t.Fatal(err)
	}
	if caller, err := issuer.VerifyAccessToken(token); err == nil {
		t.Errorf("got %v for a deleted application", caller)
	}
}

// TestAccessTokensDuringKeyRotation checks that tokens of both keys are valid during a
// rotation, and tokens of the old key are invalid after its removal.
func TestAccessTokensDuringKeyRotation(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
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
		issuer.SigningKeys = keys
		text, err := issuer.IssueToken(portalRequest())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := token(map[string]string{"a.pem": older})
	second := token(map[string]string{"b.pem": newer})
	for name, text := range map[string]string{"older": first, "newer": second} {
		if _, err := issuer.VerifyAccessToken(text); err != nil {
			t.Errorf("token of the %s key during rotation: %v", name, err)
		}
	}
	if header, _ := decodeToken(t, second); header["kid"] != "b" {
		t.Errorf("key %v signs, want the newer key", header["kid"])
	}
	dir = t.TempDir()
	token(map[string]string{"b.pem": newer})
	if _, err := issuer.VerifyAccessToken(first); err == nil {
		t.Error("token of a removed key was accepted")
	}
	if _, err := issuer.VerifyAccessToken(second); err != nil {
		t.Errorf("token of the remaining key: %v", err)
	}
}

// FuzzVerifyAccessToken checks that only signed tokens are accepted and nothing causes a
// panic.
func FuzzVerifyAccessToken(f *testing.F) {
	issuer := newTokenIssuer(f)
	validToken, err := issuer.IssueToken(portalRequest())
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(validToken, ".")
	for _, seed := range []string{
		validToken, "", ".", "..", "...", parts[0] + ".." + parts[2], parts[0] + ".e30." + parts[2], "e30.e30.", "bnVsbA.bnVsbA.bnVsbA",
		forgeToken(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, map[string]any{"typ": "at+jwt"}, jwt.MapClaims{}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		caller, err := issuer.VerifyAccessToken(token)
		if err == nil && token != validToken {
			t.Fatalf("%q was accepted as a token of %v", token, caller)
		}
		var invalid *InvalidTokenError
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("got error %v, want *InvalidTokenError", err)
		}
	})
}
