// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TokenLifetime is how long an access token is valid.
const TokenLifetime = time.Hour

// tokenKind distinguishes tokens that are signed with the same keys for different purposes,
// so that a token of one kind is never accepted as another.
type tokenKind struct {
	name    string // used in errors
	typ     string // typ header of the JWT
	maxSize int    // maximum token size in bytes
}

// accessTokenKind has the typ defined by RFC 9068. Access tokens take about 600 bytes.
var accessTokenKind = tokenKind{name: "access token", typ: "at+jwt", maxSize: 8 << 10}

// accessTokenClaims are the claims of an access token.
type accessTokenClaims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// InvalidTokenError describes why a token is invalid.
type InvalidTokenError struct {
	Kind   string // expected kind of token, such as "access token"
	Reason string
}

// Error returns the reason without revealing the token.
func (e *InvalidTokenError) Error() string { return "invalid " + e.Kind + ": " + e.Reason }

// sign returns a signed token of the given kind.
func (k *SigningKeys) sign(kind tokenKind, now time.Time, claims jwt.Claims) (string, error) {
	key := k.ring.Load().signingKeyAt(now)
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["typ"] = kind.typ
	token.Header["kid"] = key.id
	signed, err := token.SignedString(key.key)
	if err != nil {
		return "", fmt.Errorf("signing %s: %w", kind.name, err)
	}
	return signed, nil
}

// verify verifies the kind, signature, audience and expiry of a token and decodes its claims
// into claims. All errors are *InvalidTokenError.
//
// It does not check the issuer, which is the address of the instance and may change during a
// token's lifetime; the signature already proves that the instance issued the token.
func (k *SigningKeys) verify(kind tokenKind, token, audience string, now time.Time, claims jwt.Claims) error {
	if len(token) > kind.maxSize {
		return kind.invalidError(fmt.Sprintf("token exceeds %d bytes", kind.maxSize))
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithStrictDecoding(),
	}
	if err := k.signatures.parse(token, claims, k.keyFunc(kind), options); err != nil {
		return kind.invalidError(invalidReason(err))
	}
	return nil
}

func (k tokenKind) invalidError(reason string) error { return &InvalidTokenError{k.name, reason} }

var (
	errWrongTokenKind = errors.New("wrong token type")
	errUnknownKey     = errors.New("unknown key")
)

// keyFunc returns a function that looks up the key identified by a token's kid header.
func (k *SigningKeys) keyFunc(kind tokenKind) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		if token.Header["typ"] != kind.typ {
			return nil, errWrongTokenKind
		}
		id, _ := token.Header["kid"].(string) // an empty id matches no key
		key, exists := k.ring.Load().publicKey(id)
		if !exists {
			return nil, errUnknownKey
		}
		return key, nil
	}
}

// invalidReasons maps verification errors to reasons. The first match wins.
var invalidReasons = []struct {
	err    error
	reason string
}{
	{errWrongTokenKind, "wrong token type"},
	{errUnknownKey, "signing key unknown to this instance"},
	{jwt.ErrTokenMalformed, "not a JWT"},
	{jwt.ErrTokenSignatureInvalid, "signature verification failed"},
	{jwt.ErrTokenExpired, "token has expired; request a new one"},
	{jwt.ErrTokenInvalidAudience, "issued for another instance"},
	{jwt.ErrTokenRequiredClaimMissing, "missing required claim"},
}

func invalidReason(err error) string {
	for _, candidate := range invalidReasons {
		if errors.Is(err, candidate.err) {
			return candidate.reason
		}
	}
	return "verification failed"
}

// matchesUnverified reports whether a token's unverified header claims this kind.
func (k tokenKind) matchesUnverified(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var claims struct{ Typ string }
	return err == nil && len(token) <= k.maxSize && json.Unmarshal(text, &claims) == nil && claims.Typ == k.typ
}
