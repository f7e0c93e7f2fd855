// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto"
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/golang-jwt/jwt/v5"
)

// signatureCacheSize is the number of cached tokens, about 200 bytes each.
const signatureCacheSize = 4096

// signatureCache caches verified token signatures with the keys that verified them. An
// application uses one token for up to an hour, and verifying the signature is several times
// as expensive as the other checks. The claims, and whether the key still belongs to the
// instance, are checked on every call.
type signatureCache struct {
	keys *lru.Cache[[sha256.Size]byte, verificationKey]
}

type verificationKey interface {
	Equal(other crypto.PublicKey) bool
}

func newSignatureCache() *signatureCache {
	keys, err := lru.New[[sha256.Size]byte, verificationKey](signatureCacheSize)
	if err != nil {
		panic(err) // only if the size is not positive
	}
	return &signatureCache{keys}
}

// parse verifies a token with the given options and decodes its claims into claims.
func (c *signatureCache) parse(token string, claims jwt.Claims, keyFunc jwt.Keyfunc, options []jwt.ParserOption) error {
	sum := sha256.Sum256([]byte(token))
	if signedWith, cached := c.keys.Get(sum); cached {
		return parseCached(token, claims, keyFunc, signedWith, options)
	}
	var signedWith any
	_, err := jwt.ParseWithClaims(token, claims, func(parsed *jwt.Token) (key any, err error) {
		key, err = keyFunc(parsed)
		signedWith = key
		return key, err
	}, options...)
	if key, ok := signedWith.(verificationKey); ok && err == nil {
		c.keys.Add(sum, key)
	}
	return err
}

// parseCached is like parse, but skips verifying the signature, which was already verified
// with the key signedWith.
func parseCached(token string, claims jwt.Claims, keyFunc jwt.Keyfunc, signedWith verificationKey, options []jwt.ParserOption) error {
	parsed, _, err := jwt.NewParser(options...).ParseUnverified(token, claims)
	if err != nil {
		return err
	}
	key, err := keyFunc(parsed)
	if err != nil {
		return err
	}
	if !signedWith.Equal(key) {
		return jwt.ErrTokenSignatureInvalid
	}
	return jwt.NewValidator(options...).Validate(claims)
}
