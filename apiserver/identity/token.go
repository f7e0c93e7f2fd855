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

// TokenLifetime is how long an access token is good.
const TokenLifetime = time.Hour

// A tokenKind keeps tokens apart that are signed with the same keys for
// different ends: none passes for one of another kind.
type tokenKind struct {
	name    string // for errors
	typ     string // the header typ of the JWT
	maxSize int    // bounds what is looked at, in bytes
}

// accessTokens have the typ of RFC 9068, and some 600 bytes.
var accessTokens = tokenKind{name: "the access token", typ: "at+jwt", maxSize: 8 << 10}

// claims are what an access token says.
type claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// InvalidTokenError says what is wrong with a token.
type InvalidTokenError struct {
	Token  string // what kind of token it should be, such as "the access token"
	Reason string
}

// Error says why the token is not accepted, without the token.
func (e *InvalidTokenError) Error() string { return e.Token + " " + e.Reason }

// sign makes a token of this kind.
func (k *SigningKeys) sign(kind tokenKind, now time.Time, said jwt.Claims) (string, error) {
	key := k.ring.Load().signer(now)
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, said)
	token.Header["typ"] = kind.typ
	token.Header["kid"] = key.id
	signed, err := token.SignedString(key.key)
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", kind.name, err)
	}
	return signed, nil
}

// verify puts into said what the token says when it is of this kind, one of the
// keys signed it for this audience and it has not expired. Any error is an
// *InvalidTokenError.
//
// The issuer is not compared: it is the instance's address, which may change
// while tokens are good, and a key that is this instance's own says as much.
func (k *SigningKeys) verify(kind tokenKind, token, audience string, now time.Time, said jwt.Claims) error {
	if len(token) > kind.maxSize {
		return kind.invalid(fmt.Sprintf("is longer than %d bytes", kind.maxSize))
	}
	rules := []jwt.ParserOption{
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithStrictDecoding(),
	}
	if err := k.proven.parse(token, said, k.keyOf(kind), rules); err != nil {
		return kind.invalid(invalidity(err))
	}
	return nil
}

func (k tokenKind) invalid(reason string) error { return &InvalidTokenError{k.name, reason} }

var (
	errWrongKind  = errors.New("another kind of token")
	errUnknownKey = errors.New("unknown key")
)

// keyOf finds the key with which a token of this kind says that it was signed.
func (k *SigningKeys) keyOf(kind tokenKind) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		if token.Header["typ"] != kind.typ {
			return nil, errWrongKind
		}
		id, _ := token.Header["kid"].(string) // without one it is that of no key
		key, known := k.ring.Load().public(id)
		if !known {
			return nil, errUnknownKey
		}
		return key, nil
	}
}

// invalidities are the errors of verifying, in the order in which they are
// looked for, and what each says of the token.
var invalidities = []struct {
	err    error
	reason string
}{
	{errWrongKind, "is a token of another kind"},
	{errUnknownKey, "was signed with a key that this instance does not have"},
	{jwt.ErrTokenMalformed, "is not a JWT"},
	{jwt.ErrTokenSignatureInvalid, "was not signed by this instance"},
	{jwt.ErrTokenExpired, "has expired; get a new one"},
	{jwt.ErrTokenInvalidAudience, "was made for another instance"},
	{jwt.ErrTokenRequiredClaimMissing, "lacks a claim"},
}

func invalidity(err error) string {
	for _, known := range invalidities {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return "is not valid"
}

// claimed says whether a token says of itself that it is of this kind, which is not
// verified.
func (k tokenKind) claimed(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var said struct{ Typ string }
	return err == nil && len(token) <= k.maxSize && json.Unmarshal(text, &said) == nil && said.Typ == k.typ
}
