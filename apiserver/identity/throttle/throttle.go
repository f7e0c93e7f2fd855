// SPDX-License-Identifier: Apache-2.0

// Package throttle slows down credential guessing: after a number of failed attempts, further
// attempts have to wait and are not checked. It is a separate package because every sign-in
// method of every API uses it; the APIs define the response to a throttled attempt.
//
// Failures are counted per client address and name, so that an attacker at one address cannot
// lock out an application at another. Clients may share an address, for example behind an
// untrusted proxy, where the failures of one client would block the others. Therefore,
// credentials that have succeeded from an address are remembered and always allowed from
// there.
//
// All state is bounded and kept in the memory of one replica. The oldest failures are evicted
// first.
package throttle

import (
	"hash/maphash"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Failure limits. Each is a burst size and the refill rate per minute.
const (
	// maxFailuresPerName limits failures per name and address.
	maxFailuresPerName = 10
	// maxFailuresPerAddress limits failures per address, across all names.
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
	// Secret is the presented credential. Only its hash is kept, to recognize credentials
	// that succeeded before. If empty, a success is not remembered.
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

func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // only if the size is not positive
	}
	return cache
}

// Wait returns how long an attempt has to wait; zero means that it may be checked now.
// Concurrent attempts do not see each other's failures.
func (t *Throttle) Wait(attempt Attempt) time.Duration {
	if t == nil {
		return 0
	}
	key, now := t.nameKey(attempt), t.now()
	var wait time.Duration
	if limiter, exists := t.names.Peek(key); exists {
		wait = timeUntilAllowed(limiter, now)
	}
	if limiter, exists := t.addresses.Peek(key.network); exists {
		wait = max(wait, timeUntilAllowed(limiter, now))
	}
	if wait > 0 && t.isVerified(key, attempt) {
		return 0
	}
	return wait
}

// RecordFailure records a failed attempt.
func (t *Throttle) RecordFailure(attempt Attempt) {
	if t == nil {
		return
	}
	key, now := t.nameKey(attempt), t.now()
	recordFailure(t.names, key, maxFailuresPerName, now)
	recordFailure(t.addresses, key.network, maxFailuresPerAddress, now)
}

// RecordSuccess records a successful attempt.
func (t *Throttle) RecordSuccess(attempt Attempt) {
	if t == nil || attempt.Secret == "" {
		return
	}
	if key := t.verifiedKey(t.nameKey(attempt), attempt); !t.verified.Contains(key) {
		t.verified.Add(key, struct{}{})
	}
}

func (t *Throttle) isVerified(key nameKey, attempt Attempt) bool {
	return attempt.Secret != "" && t.verified.Contains(t.verifiedKey(key, attempt))
}

func (t *Throttle) nameKey(attempt Attempt) nameKey {
	return nameKey{clientNetwork(attempt.Client), maphash.String(t.seed, attempt.Name)}
}

func (t *Throttle) verifiedKey(key nameKey, attempt Attempt) verifiedKey {
	return verifiedKey{key, maphash.Comparable(t.seed, [2]string{attempt.Name, attempt.Secret})}
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
		return netip.Prefix{} // invalid addresses share one limit
	}
	return prefix
}

// recordFailure consumes one allowed failure.
func recordFailure[K comparable](failures *lru.Cache[K, *rate.Limiter], key K, burst int, now time.Time) {
	newLimiter := rate.NewLimiter(rate.Limit(float64(burst)/time.Minute.Seconds()), burst)
	limiter, exists, _ := failures.PeekOrAdd(key, newLimiter)
	if exists {
		failures.Get(key) // mark as recently used
	} else {
		limiter = newLimiter
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
