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

// tokenKind separates tokens that are signed with the same keys for different purposes,
// so that no token is accepted as another kind.
type tokenKind struct {
	name    string // used in errors
	typ     string // typ header of the JWT
	maxSize int    // maximum token size in bytes
}

// accessTokenKind has the typ of RFC 9068; tokens have about 600 bytes.
var accessTokenKind = tokenKind{name: "the access token", typ: "at+jwt", maxSize: 8 << 10}

// accessTokenClaims are the claims of an access token.
type accessTokenClaims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// InvalidTokenError describes why a token is invalid.
type InvalidTokenError struct {
	Kind   string // the expected kind of token, such as "the access token"
	Reason string
}

// Error returns why the token is rejected, without the token.
func (e *InvalidTokenError) Error() string { return e.Kind + " " + e.Reason }

// sign issues a token of a kind.
func (k *SigningKeys) sign(kind tokenKind, now time.Time, said jwt.Claims) (string, error) {
	key := k.ring.Load().signingKeyAt(now)
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, said)
	token.Header["typ"] = kind.typ
	token.Header["kid"] = key.id
	signed, err := token.SignedString(key.key)
	if err != nil {
		return "", fmt.Errorf("signing %s: %w", kind.name, err)
	}
	return signed, nil
}

// verify parses a token into the claims said. It checks the kind, signature, audience
// and expiry. All errors are *InvalidTokenError.
//
// It does not check the issuer, which is the instance's address and may change during a
// token's lifetime; the instance's own signing key already proves the origin.
func (k *SigningKeys) verify(kind tokenKind, token, audience string, now time.Time, said jwt.Claims) error {
	if len(token) > kind.maxSize {
		return kind.invalidError(fmt.Sprintf("is longer than %d bytes", kind.maxSize))
	}
	rules := []jwt.ParserOption{
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithStrictDecoding(),
	}
	if err := k.signatures.parse(token, said, k.keyFunc(kind), rules); err != nil {
		return kind.invalidError(invalidReason(err))
	}
	return nil
}

func (k tokenKind) invalidError(reason string) error { return &InvalidTokenError{k.name, reason} }

var (
	errWrongTokenKind = errors.New("wrong token type")
	errUnknownKey     = errors.New("unknown key")
)

// keyFunc returns a function that finds the key named by a token's kid header.
func (k *SigningKeys) keyFunc(kind tokenKind) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		if token.Header["typ"] != kind.typ {
			return nil, errWrongTokenKind
		}
		id, _ := token.Header["kid"].(string) // an empty id matches no key
		key, known := k.ring.Load().publicKey(id)
		if !known {
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
	{errWrongTokenKind, "has the wrong token type"},
	{errUnknownKey, "was signed with a key unknown to this instance"},
	{jwt.ErrTokenMalformed, "is not a JWT"},
	{jwt.ErrTokenSignatureInvalid, "was not signed by this instance"},
	{jwt.ErrTokenExpired, "has expired; get a new one"},
	{jwt.ErrTokenInvalidAudience, "was issued for another instance"},
	{jwt.ErrTokenRequiredClaimMissing, "lacks a required claim"},
}

func invalidReason(err error) string {
	for _, known := range invalidReasons {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return "is not valid"
}

// matchesUnverified reports whether a token's unverified header claims this kind.
func (k tokenKind) matchesUnverified(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var said struct{ Typ string }
	return err == nil && len(token) <= k.maxSize && json.Unmarshal(text, &said) == nil && said.Typ == k.typ
}
