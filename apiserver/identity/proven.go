// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto"
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/golang-jwt/jwt/v5"
)

// mostProven is how many tokens are remembered, in some 200 bytes each.
const mostProven = 4096

// proven remembers of which tokens the signature was good, and by which key. An
// application calls with one token for an hour, and to check its signature takes
// several times as long as all the rest. What a token says is judged at each call,
// and so is whether its key is still one of the instance.
type proven struct {
	keys *lru.Cache[[sha256.Size]byte, provingKey]
}

type provingKey interface {
	Equal(other crypto.PublicKey) bool
}

func newProven() *proven {
	keys, err := lru.New[[sha256.Size]byte, provingKey](mostProven)
	if err != nil {
		panic(err) // the size is no number above zero
	}
	return &proven{keys}
}

// parse puts into said what a token says that one of the keys signed and that
// keeps the rules.
func (p *proven) parse(token string, said jwt.Claims, keyOf jwt.Keyfunc, rules []jwt.ParserOption) error {
	sum := sha256.Sum256([]byte(token))
	if by, known := p.keys.Get(sum); known {
		return parseProven(token, said, keyOf, by, rules)
	}
	var by any
	_, err := jwt.ParseWithClaims(token, said, func(parsed *jwt.Token) (key any, err error) {
		key, err = keyOf(parsed)
		by = key
		return key, err
	}, rules...)
	if key, ok := by.(provingKey); ok && err == nil {
		p.keys.Add(sum, key)
	}
	return err
}

// parseProven does all that is done with a token but for the signature, which was
// good by a key.
func parseProven(token string, said jwt.Claims, keyOf jwt.Keyfunc, by provingKey, rules []jwt.ParserOption) error {
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
