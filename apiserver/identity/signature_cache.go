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

// signatureCache remembers verified token signatures and their keys. An application uses
// one token for up to an hour, and verifying the signature costs several times as much
// as the rest of a check. Claims are validated on every call, and so is whether the key
// still belongs to the instance.
type signatureCache struct {
	keys *lru.Cache[[sha256.Size]byte, verificationKey]
}

type verificationKey interface {
	Equal(other crypto.PublicKey) bool
}

func newSignatureCache() *signatureCache {
	keys, err := lru.New[[sha256.Size]byte, verificationKey](signatureCacheSize)
	if err != nil {
		panic(err) // only for a size of zero or less
	}
	return &signatureCache{keys}
}

// parse parses and verifies a token into the claims said, according to the rules.
func (p *signatureCache) parse(token string, said jwt.Claims, keyOf jwt.Keyfunc, rules []jwt.ParserOption) error {
	sum := sha256.Sum256([]byte(token))
	if by, known := p.keys.Get(sum); known {
		return parseCached(token, said, keyOf, by, rules)
	}
	var by any
	_, err := jwt.ParseWithClaims(token, said, func(parsed *jwt.Token) (key any, err error) {
		key, err = keyOf(parsed)
		by = key
		return key, err
	}, rules...)
	if key, ok := by.(verificationKey); ok && err == nil {
		p.keys.Add(sum, key)
	}
	return err
}

// parseCached does everything parse does except verifying the signature, which was
// verified earlier with the key by.
func parseCached(token string, said jwt.Claims, keyOf jwt.Keyfunc, by verificationKey, rules []jwt.ParserOption) error {
	parsed, _, err := jwt.NewParser(rules...).ParseUnverified(token, said)
	if err != nil {
		return err
	}
	key, err := keyOf(parsed)
	if err != nil {
		return err
	}
	if !by.Equal(key) {
		return jwt.ErrTokenSignatureInvalid
	}
	return jwt.NewValidator(rules...).Validate(said)
}
