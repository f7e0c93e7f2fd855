// SPDX-License-Identifier: Apache-2.0

// Package throttle slows down those who guess: after some tries to prove who
// they are that failed, further ones have to wait, and nobody looks at them
// meanwhile. It has a package of its own because every way of signing in asks
// it, of whichever API; what an answer looks like is theirs.
//
// Who guesses is known by the address and by the name that is tried, so that
// nobody keeps an application out of another address. Where many share an
// address, as behind a proxy that is not among the trusted ones, somebody else's
// failures would count for all of them: what once proved right from an address
// is therefore remembered, and let through there.
//
// All is in the memory of one replica, bounded, and forgets who failed longest
// ago first.
package throttle

import (
	"hash/maphash"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Limits on failures. Each may come at once, and again as fast as a minute
// brings as many.
const (
	// ofName is of one name from one address.
	ofName = 10
	// ofAddress is of all names from one address.
	ofAddress = 100
)

// What is remembered, some 400 bytes each.
const (
	mostNames     = 8 << 10
	mostAddresses = 8 << 10
	mostProved    = 4 << 10
)

// A Try is an attempt to prove who one is.
type Try struct {
	// Client is the address of who tries. An IPv6 address counts as its /64,
	// since whoever has one has all of them.
	Client netip.Addr
	// Name is who somebody says to be, such as the id of an application. Names of
	// different kinds need something that keeps them apart.
	Name string
	// Secret is what shall prove it. It is neither kept nor compared, but for a
	// hash by which what proved right is known again; empty: it never is.
	Secret string
}

// Throttle remembers failures. Its methods are safe for concurrent use; a nil
// one lets everybody through.
type Throttle struct {
	now       func() time.Time
	seed      maphash.Seed // so that nobody finds names with the hash of another's
	names     *lru.Cache[nameKey, *rate.Limiter]
	addresses *lru.Cache[netip.Prefix, *rate.Limiter]
	proved    *lru.Cache[provedKey, struct{}]
}

// nameKey is a name from an address.
type nameKey struct {
	from netip.Prefix
	name uint64 // its hash, since names may be long
}

// provedKey is a try that was right.
type provedKey struct {
	nameKey
	secret uint64 // the hash of name and secret
}

// New makes a throttle that knows of no failures.
func New(now func() time.Time) *Throttle {
	return &Throttle{
		now: now, seed: maphash.MakeSeed(),
		names:     bounded[nameKey, *rate.Limiter](mostNames),
		addresses: bounded[netip.Prefix, *rate.Limiter](mostAddresses),
		proved:    bounded[provedKey, struct{}](mostProved),
	}
}

func bounded[K comparable, V any](most int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // of a size below one, which ours are not
	}
	return cache
}

// Wait is how long a try has to wait; zero lets it be judged. Those that are
// judged at the same moment do not know of each other's failures.
func (t *Throttle) Wait(try Try) time.Duration {
	if t == nil {
		return 0
	}
	key, now := t.key(try), t.now()
	var wait time.Duration
	if failures, some := t.names.Peek(key); some {
		wait = untilNext(failures, now)
	}
	if failures, some := t.addresses.Peek(key.from); some {
		wait = max(wait, untilNext(failures, now))
	}
	if wait > 0 && t.knows(key, try) {
		return 0
	}
	return wait
}

// Failed notes that a try was judged and was wrong.
func (t *Throttle) Failed(try Try) {
	if t == nil {
		return
	}
	key, now := t.key(try), t.now()
	note(t.names, key, ofName, now)
	note(t.addresses, key.from, ofAddress, now)
}

// Succeeded notes that a try was judged and was right.
func (t *Throttle) Succeeded(try Try) {
	if t == nil || try.Secret == "" {
		return
	}
	if proof := t.proof(t.key(try), try); !t.proved.Contains(proof) {
		t.proved.Add(proof, struct{}{})
	}
}

func (t *Throttle) knows(key nameKey, try Try) bool {
	return try.Secret != "" && t.proved.Contains(t.proof(key, try))
}

func (t *Throttle) key(try Try) nameKey {
	return nameKey{network(try.Client), maphash.String(t.seed, try.Name)}
}

func (t *Throttle) proof(key nameKey, try Try) provedKey {
	return provedKey{key, maphash.Comparable(t.seed, [2]string{try.Name, try.Secret})}
}

// network is an IPv4 address, or the /64 of an IPv6 address.
func network(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 64
	if address.Is4() {
		bits = address.BitLen()
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // of no address, all of which are one
	}
	return prefix
}

// note takes a failure from those that are still allowed.
func note[K comparable](failures *lru.Cache[K, *rate.Limiter], key K, most int, now time.Time) {
	fresh := rate.NewLimiter(rate.Limit(float64(most)/time.Minute.Seconds()), most)
	limiter, known, _ := failures.PeekOrAdd(key, fresh)
	if known {
		failures.Get(key) // which makes it the last to be forgotten
	} else {
		limiter = fresh
	}
	limiter.AllowN(now, 1)
}

// untilNext is how long it takes until another failure is allowed.
func untilNext(failures *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - failures.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(failures.Limit()) * float64(time.Second))
}
