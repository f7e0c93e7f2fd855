// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Overlap is how long, unless told otherwise, clients get to learn of an
// authority before it issues, and how long the one before stays trusted after.
const Overlap = 24 * time.Hour

// A Rollover is an authority as it is kept: together with the one that will take
// its place, and what is left of the one whose place it took. It holds all that
// must be remembered of the way from one to the other.
type Rollover struct {
	// Issuing is the authority that issues; empty when none was made yet.
	Issuing KeyPair
	// Next takes its place once clients were told to trust it for long enough,
	// which they are since NextSince; empty for none.
	Next      KeyPair
	NextSince time.Time
	// Previous are the certificates, in PEM, of those that issued before and that
	// clients are still told to trust, at least until long enough after
	// PreviousSince; empty for none. Their keys are gone, but that of an authority
	// whose certificate was only made again.
	Previous      []byte
	PreviousSince time.Time
	// Request is the last request for another authority that was met.
	Request string
}

// AuthorityPolicy is what an authority is to be.
type AuthorityPolicy struct {
	// Domains are the DNS domains that it may vouch for, with all below them.
	Domains []string
	// Request asks for another authority when it is neither empty nor the one
	// that was met last.
	Request string
	// Overlap is how long clients get to hear of a change.
	Overlap time.Duration
}

// A move is the next thing to do about a Rollover.
type move string

const (
	// moveNothing: what is due later is not due yet.
	moveNothing move = ""
	// moveBegin: there is no authority; one is made.
	moveBegin move = "there is no authority yet"
	// moveReplace: another authority, with a key of its own, is made to be the
	// next.
	moveReplace move = "another authority is to take its place"
	// moveRenew: the certificate is made again with the same key.
	moveRenew move = "its certificate is made again"
	// movePromote: the next authority takes its place.
	movePromote move = "clients know the next authority for long enough"
	// moveRetire: those that issued before are trusted no more.
	moveRetire move = "nothing depends on the previous authority any more"
	// moveDate: it was forgotten, or cannot be, since when clients know one; they
	// do from now on.
	moveDate move = "it is not known since when clients know an authority"
)

// next decides what is to be done now, and if it is nothing, when to ask again.
// It depends on what is kept, what is wanted and the clock, and on nothing that
// happened in between: whoever was interrupted goes on where they were.
func (r Rollover) next(policy AuthorityPolicy, now time.Time) (todo move, due time.Time, err error) {
	if len(r.Issuing.Certificate) == 0 && len(r.Issuing.Key) == 0 {
		return moveBegin, now, nil
	}
	issuing, err := ParseAuthority(r.Issuing)
	if err != nil {
		return moveNothing, time.Time{}, err
	}
	renewal := issuing.certificate.NotAfter.Add(-authorityRenewal)
	switch {
	case policy.Request != "" && policy.Request != r.Request:
		return moveReplace, now, nil
	case r.hasNext() || len(r.Previous) > 0:
		todo = r.nextOfSeveral(policy, now)
	}
	if todo == moveNothing && !r.hasNext() {
		todo = nextOfOne(issuing.certificate, policy, now.Before(renewal))
	}
	return todo, r.due(policy, renewal), nil
}

// nextOfSeveral decides about an authority that others stand beside.
func (r Rollover) nextOfSeveral(policy AuthorityPolicy, now time.Time) move {
	switch {
	case r.hasNext() && !r.nextServes(policy):
		return moveReplace
	case r.hasNext() && !isPast(r.NextSince, now), len(r.Previous) > 0 && !isPast(r.PreviousSince, now):
		return moveDate
	case len(r.Previous) > 0 && !now.Before(r.PreviousSince.Add(policy.Overlap)):
		return moveRetire
	case r.hasNext() && !now.Before(r.NextSince.Add(policy.Overlap)):
		return movePromote
	}
	return moveNothing
}

// nextOfOne decides about the authority that issues when none is to take its
// place yet. Its certificate is made again with the same key when it is young no
// more, or has no constraints yet. For other constraints the key is another one
// too: of two certificates with one key many clients try only one, which might
// not permit the names that the other does.
func nextOfOne(issuing *x509.Certificate, policy AuthorityPolicy, young bool) move {
	switch {
	case isConstrainedTo(issuing, policy.Domains) && young:
		return moveNothing
	case isConstrainedTo(issuing, policy.Domains), !isConstrained(issuing):
		return moveRenew
	}
	return moveReplace
}

// due is when something is to be done next, at the renewal at the latest.
func (r Rollover) due(policy AuthorityPolicy, renewal time.Time) time.Time {
	if len(r.Previous) > 0 {
		renewal = earlier(renewal, r.PreviousSince.Add(policy.Overlap))
	}
	if r.hasNext() {
		renewal = earlier(renewal, r.NextSince.Add(policy.Overlap))
	}
	return renewal
}

func (r Rollover) hasNext() bool { return len(r.Next.Certificate) > 0 || len(r.Next.Key) > 0 }

// nextServes says whether the next authority can be used, and is as wanted.
func (r Rollover) nextServes(policy AuthorityPolicy) bool {
	next, err := ParseAuthority(r.Next)
	return err == nil && isConstrainedTo(next.certificate, policy.Domains)
}

// isPast says whether a time is known and not in the future, where a clock that
// went wrong may have put it.
func isPast(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Advance does all that is to be done now, and says what it was and when to ask
// again. Its error says that the authority that issues cannot be used.
func (r Rollover) Advance(policy AuthorityPolicy, now time.Time) (advanced Rollover, done []string, due time.Time, err error) {
	for {
		todo, due, err := r.next(policy, now)
		if err != nil || todo == moveNothing {
			return r, done, due, err
		}
		if r, err = r.take(todo, policy, now); err != nil {
			return r, done, due, fmt.Errorf("%s: %w", todo, err)
		}
		done = append(done, string(todo))
	}
}

// take does one thing.
func (r Rollover) take(todo move, policy AuthorityPolicy, now time.Time) (taken Rollover, err error) {
	switch todo {
	case moveBegin:
		r = Rollover{Request: policy.Request}
		r.Issuing, err = NewAuthority(now, policy.Domains...)
	case moveReplace:
		r.Next, err = NewAuthority(now, policy.Domains...)
		r.NextSince, r.Request = now, cmp.Or(policy.Request, r.Request)
	case moveRenew:
		r.demote(now)
		r.Issuing, err = RenewAuthority(r.Issuing, now, policy.Domains...)
	case movePromote:
		r.demote(now)
		r.Issuing, r.Next, r.NextSince = r.Next, KeyPair{}, time.Time{}
	case moveRetire:
		r.Previous, r.PreviousSince = nil, time.Time{}
	case moveDate:
		r.date(now)
	}
	return r, err
}

// demote keeps the certificate that issues for those who still need it.
func (r *Rollover) demote(now time.Time) {
	r.Previous = slices.Concat(r.Previous, r.Issuing.Certificate)
	r.PreviousSince = now
}

// date notes now where a time is missing or in the future.
func (r *Rollover) date(now time.Time) {
	if r.hasNext() && !isPast(r.NextSince, now) {
		r.NextSince = now
	}
	if len(r.Previous) > 0 && !isPast(r.PreviousSince, now) {
		r.PreviousSince = now
	}
}

// Trusted are the certificates that clients are to trust, in PEM, the oldest
// first.
func (r Rollover) Trusted() []byte {
	return slices.Concat(r.Previous, r.Issuing.Certificate, r.Next.Certificate)
}

// Authorities gives the authority that issues, with all that clients are to
// trust, which they get the overlap to hear of. What cannot be read of those that
// issued before is left out.
func (r Rollover) Authorities(overlap time.Duration) (*Authorities, error) {
	issuing, err := ParseAuthority(r.Issuing)
	if err != nil {
		return nil, err
	}
	return &Authorities{Authority: issuing, trusted: readableCertificates(r.Trusted()), overlap: overlap}, nil
}
