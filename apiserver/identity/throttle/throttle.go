// SPDX-License-Identifier: Apache-2.0

// Package throttle slows down credential guessing: after a number of failed attempts,
// further attempts have to wait and are not checked. It is a separate package because
// every way of signing in uses it, in every API; the response to a throttled attempt
// belongs in the APIs.
//
// Failures count per client address and name, so that an attacker cannot lock an
// application out at another address. Clients may share an address, for example behind
// an untrusted proxy, where one client's failures would block the others. Credentials
// that have succeeded from an address are therefore remembered and always allowed from
// there.
//
// All state is held in the memory of one replica, is bounded, and evicts the oldest
// failures first.
package throttle

import (
	"hash/maphash"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Limits on failures. Each is a burst size and also the refill rate per minute.
const (
	// maxFailuresPerName limits failures per name and address.
	maxFailuresPerName = 10
	// maxFailuresPerAddress limits failures per address, over all names.
	maxFailuresPerAddress = 100
)

// Cache sizes, about 400 bytes per entry.
const (
	maxNames     = 8 << 10
	maxAddresses = 8 << 10
	maxVerified  = 4 << 10
)

// Attempt is an authentication attempt.
type Attempt struct {
	// Client is the client address. IPv6 addresses are counted per /64, because a client
	// usually controls a whole /64.
	Client netip.Addr
	// Name is the claimed identity, such as an application id. Names of different kinds must
	// not collide.
	Name string
	// Secret is the presented credential. Only a hash of it is kept, to recognize
	// credentials that succeeded before. If empty, success is not remembered.
	Secret string
}

// Throttle tracks failures. It is safe for concurrent use; a nil Throttle allows
// everything.
type Throttle struct {
	now       func() time.Time
	seed      maphash.Seed // random seed against hash collisions between names
	names     *lru.Cache[nameKey, *rate.Limiter]
	addresses *lru.Cache[netip.Prefix, *rate.Limiter]
	verified  *lru.Cache[verifiedKey, struct{}]
}

// nameKey is a name at an address.
type nameKey struct {
	network netip.Prefix
	name    uint64 // hash, because names may be long
}

// verifiedKey is an attempt that succeeded.
type verifiedKey struct {
	nameKey
	secret uint64 // hash of name and secret
}

// New returns a Throttle without failures.
func New(now func() time.Time) *Throttle {
	return &Throttle{
		now: now, seed: maphash.MakeSeed(),
		names:     newCache[nameKey, *rate.Limiter](maxNames),
		addresses: newCache[netip.Prefix, *rate.Limiter](maxAddresses),
		verified:  newCache[verifiedKey, struct{}](maxVerified),
	}
}

func newCache[K comparable, V any](most int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // only for a size below one
	}
	return cache
}

// Wait returns how long an attempt has to wait; zero means it may be checked now.
// Concurrent attempts do not see each other's failures.
func (t *Throttle) Wait(try Attempt) time.Duration {
	if t == nil {
		return 0
	}
	key, now := t.nameKey(try), t.now()
	var wait time.Duration
	if failures, some := t.names.Peek(key); some {
		wait = timeUntilAllowed(failures, now)
	}
	if failures, some := t.addresses.Peek(key.network); some {
		wait = max(wait, timeUntilAllowed(failures, now))
	}
	if wait > 0 && t.isVerified(key, try) {
		return 0
	}
	return wait
}

// RecordFailure records a failed attempt.
func (t *Throttle) RecordFailure(try Attempt) {
	if t == nil {
		return
	}
	key, now := t.nameKey(try), t.now()
	recordFailure(t.names, key, maxFailuresPerName, now)
	recordFailure(t.addresses, key.network, maxFailuresPerAddress, now)
}

// RecordSuccess records a successful attempt.
func (t *Throttle) RecordSuccess(try Attempt) {
	if t == nil || try.Secret == "" {
		return
	}
	if proof := t.verifiedKey(t.nameKey(try), try); !t.verified.Contains(proof) {
		t.verified.Add(proof, struct{}{})
	}
}

func (t *Throttle) isVerified(key nameKey, try Attempt) bool {
	return try.Secret != "" && t.verified.Contains(t.verifiedKey(key, try))
}

func (t *Throttle) nameKey(try Attempt) nameKey {
	return nameKey{clientNetwork(try.Client), maphash.String(t.seed, try.Name)}
}

func (t *Throttle) verifiedKey(key nameKey, try Attempt) verifiedKey {
	return verifiedKey{key, maphash.Comparable(t.seed, [2]string{try.Name, try.Secret})}
}

// clientNetwork returns the IPv4 address or the /64 of the IPv6 address.
func clientNetwork(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 64
	if address.Is4() {
		bits = address.BitLen()
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // all invalid addresses count as one
	}
	return prefix
}

// recordFailure uses up one allowed failure.
func recordFailure[K comparable](failures *lru.Cache[K, *rate.Limiter], key K, most int, now time.Time) {
	fresh := rate.NewLimiter(rate.Limit(float64(most)/time.Minute.Seconds()), most)
	limiter, known, _ := failures.PeekOrAdd(key, fresh)
	if known {
		failures.Get(key) // mark as recently used
	} else {
		limiter = fresh
	}
	limiter.AllowN(now, 1)
}

// timeUntilAllowed returns the time until another failure is allowed.
func timeUntilAllowed(failures *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - failures.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(failures.Limit()) * float64(time.Second))
}
