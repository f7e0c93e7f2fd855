// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// TokenLifetime is how long an access token is good.
	TokenLifetime = time.Hour

	// tokenType is the JWT's typ, that of RFC 9068: no token that is signed
	// with the same keys for another end passes for an access token.
	tokenType = "at+jwt"

	// maxTokenSize bounds what is looked at, in bytes. Ours have some 600.
	maxTokenSize = 8 << 10
)

// claims are what an access token says.
type claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// InvalidTokenError says what is wrong with an access token.
type InvalidTokenError struct{ Reason string }

// Error says why the token is not accepted, without the token.
func (e *InvalidTokenError) Error() string { return "the access token " + e.Reason }

// sign makes a token.
func (k *SigningKeys) sign(c claims) (string, error) {
	key := k.ring.Load().newest()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c)
	token.Header["typ"] = tokenType
	token.Header["kid"] = key.id
	signed, err := token.SignedString(key.key)
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	return signed, nil
}

// verify returns what the token says when one of the keys signed it for this
// audience and it has not expired. Any error is an *InvalidTokenError.
//
// The issuer is not compared: it is the instance's address, which may change
// while tokens are good, and a key that is this instance's own says as much.
func (k *SigningKeys) verify(token, audience string, now time.Time) (claims, error) {
	if len(token) > maxTokenSize {
		return claims{}, &InvalidTokenError{fmt.Sprintf("is longer than %d bytes", maxTokenSize)}
	}
	var said claims
	_, err := jwt.ParseWithClaims(token, &said, k.keyOf,
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithStrictDecoding())
	if err != nil {
		return claims{}, &InvalidTokenError{invalidity(err)}
	}
	return said, nil
}

var (
	errWrongType  = errors.New("not an access token")
	errUnknownKey = errors.New("unknown key")
)

// keyOf finds the key with which the token says that it was signed.
func (k *SigningKeys) keyOf(token *jwt.Token) (any, error) {
	if token.Header["typ"] != tokenType {
		return nil, errWrongType
	}
	id, _ := token.Header["kid"].(string) // without one it is that of no key
	key, known := k.ring.Load().public(id)
	if !known {
		return nil, errUnknownKey
	}
	return key, nil
}

// invalidities are the errors of verifying, in the order in which they are
// looked for, and what each says of the token.
var invalidities = []struct {
	err    error
	reason string
}{
	{errWrongType, "is not an access token"},
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

// newClaims are those of a token for an application.
func newClaims(application Application, scopes []Scope, issuer, audience string, now time.Time) claims {
	return claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuer,
			Subject:   application.ID,
			Audience:  jwt.ClaimStrings{audience},
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(TokenLifetime)),
			ID:        rand.Text(),
		},
		Scope: FormatScopes(scopes),
	}
}
