// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// DefaultOverlap is the default time for which a CA is published before it issues
// certificates, and for which its predecessor stays trusted afterwards.
const DefaultOverlap = 24 * time.Hour

// An CAState is the stored state of a CA and its rotation: the issuing CA, its
// successor, and the certificates of its predecessors. It holds everything needed to
// resume a rotation.
type CAState struct {
	// Issuing is the CA that issues certificates. Empty until the first CA is created.
	Issuing KeyPair
	// Next replaces Issuing once it has been published in the CA bundle for long enough, counted
	// from NextSince. Empty if no rotation is in progress.
	Next      KeyPair
	NextSince time.Time
	// PreviousCertificates are the PEM-encoded certificates of previous issuing CAs. They
	// stay in the trust bundle at least until the overlap after PreviousSince has passed.
	// Their keys have been discarded, except the key of a CA whose certificate was renewed.
	PreviousCertificates []byte
	PreviousSince        time.Time
	// Request is the last rotation request that was handled.
	Request string
}

// CAPolicy is the desired configuration of a CA.
type CAPolicy struct {
	// Domains are the DNS domains, including subdomains, that the CA may issue for.
	Domains []string
	// Request triggers a rotation if it is neither empty nor the last request that was
	// handled.
	Request string
	// Overlap is how long clients have to load a changed trust bundle.
	Overlap time.Duration
}

// An action is the next step of an CAState.
type action string

const (
	// actionNone means that no step is due.
	actionNone action = ""
	// actionCreate creates the first CA.
	actionCreate action = "no CA exists"
	// actionReplace creates the next CA, with a new key.
	actionReplace action = "CA replacement due"
	// actionRenew renews the CA certificate with the same key.
	actionRenew action = "CA certificate renewal due"
	// actionPromote makes the next CA the issuing one.
	actionPromote action = "clients have trusted the next CA for the overlap"
	// actionRetire removes the previous CAs from the trust bundle.
	actionRetire action = "previous CA no longer in use"
	// actionResetTimes restarts the waiting periods now, because a start time is missing or
	// invalid.
	actionResetTimes action = "rotation timestamps missing or invalid"
)

// nextAction returns the step that is due now, or actionNone and when the next step is
// due. It depends only on the stored state, the policy and the clock, so an interrupted
// rotation resumes where it stopped.
func (r CAState) nextAction(policy CAPolicy, now time.Time) (todo action, due time.Time, err error) {
	if len(r.Issuing.Certificate) == 0 && len(r.Issuing.Key) == 0 {
		return actionCreate, now, nil
	}
	issuing, err := ParseAuthority(r.Issuing)
	if err != nil {
		return actionNone, time.Time{}, err
	}
	renewal := issuing.certificate.NotAfter.Add(-authorityRenewBefore)
	switch {
	case policy.Request != "" && policy.Request != r.Request:
		return actionReplace, now, nil
	case r.hasNext() || len(r.PreviousCertificates) > 0:
		todo = r.nextDuringRotation(policy, now)
	}
	if todo == actionNone && !r.hasNext() {
		todo = nextWhenStable(issuing.certificate, policy, !now.Before(renewal))
	}
	return todo, r.nextDue(policy, renewal), nil
}

// nextDuringRotation returns the next step while next or previous CAs exist.
func (r CAState) nextDuringRotation(policy CAPolicy, now time.Time) action {
	switch {
	case r.hasNext() && !r.isNextUsable(policy):
		return actionReplace
	case r.hasNext() && !isPast(r.NextSince, now), len(r.PreviousCertificates) > 0 && !isPast(r.PreviousSince, now):
		return actionResetTimes
	case len(r.PreviousCertificates) > 0 && !now.Before(r.PreviousSince.Add(policy.Overlap)):
		return actionRetire
	case r.hasNext() && !now.Before(r.NextSince.Add(policy.Overlap)):
		return actionPromote
	}
	return actionNone
}

// nextWhenStable returns the next step while no rotation is in progress. A certificate
// that is due for renewal, or has no name constraints yet, is renewed with the same key.
// Different constraints require a new key: given two CA certificates with the same key,
// many clients try only one of them, which might not permit the names that the other
// permits.
func nextWhenStable(issuing *x509.Certificate, policy CAPolicy, isRenewalDue bool) action {
	switch {
	case hasNameConstraintsFor(issuing, policy.Domains) && !isRenewalDue:
		return actionNone
	case hasNameConstraintsFor(issuing, policy.Domains), !hasNameConstraints(issuing):
		return actionRenew
	}
	return actionReplace
}

// nextDue returns when the next step is due, at the latest at the renewal.
func (r CAState) nextDue(policy CAPolicy, renewal time.Time) time.Time {
	if len(r.PreviousCertificates) > 0 {
		renewal = earlier(renewal, r.PreviousSince.Add(policy.Overlap))
	}
	if r.hasNext() {
		renewal = earlier(renewal, r.NextSince.Add(policy.Overlap))
	}
	return renewal
}

func (r CAState) hasNext() bool { return len(r.Next.Certificate) > 0 || len(r.Next.Key) > 0 }

// isNextUsable reports whether the next CA is valid and matches the policy.
func (r CAState) isNextUsable(policy CAPolicy) bool {
	next, err := ParseAuthority(r.Next)
	return err == nil && hasNameConstraintsFor(next.certificate, policy.Domains)
}

// isPast reports whether a time is set and not in the future. A wrong clock may have
// stored a future time.
func isPast(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Advance performs all steps that are due, and returns the new state, descriptions of
// the steps, and when the next step is due. It returns an error if the issuing CA cannot
// be used.
func (r CAState) Advance(policy CAPolicy, now time.Time) (advanced CAState, done []string, due time.Time, err error) {
	for {
		todo, due, err := r.nextAction(policy, now)
		if err != nil || todo == actionNone {
			return r, done, due, err
		}
		if r, err = r.perform(todo, policy, now); err != nil {
			return r, done, due, fmt.Errorf("%s: %w", todo, err)
		}
		done = append(done, string(todo))
	}
}

// perform performs one step.
func (r CAState) perform(todo action, policy CAPolicy, now time.Time) (advanced CAState, err error) {
	switch todo {
	case actionCreate:
		r = CAState{Request: policy.Request}
		r.Issuing, err = NewAuthority(now, policy.Domains...)
	case actionReplace:
		r.Next, err = NewAuthority(now, policy.Domains...)
		r.NextSince, r.Request = now, cmp.Or(policy.Request, r.Request)
	case actionRenew:
		r.demoteIssuing(now)
		r.Issuing, err = RenewAuthority(r.Issuing, now, policy.Domains...)
	case actionPromote:
		r.demoteIssuing(now)
		r.Issuing, r.Next, r.NextSince = r.Next, KeyPair{}, time.Time{}
	case actionRetire:
		r.PreviousCertificates, r.PreviousSince = nil, time.Time{}
	case actionResetTimes:
		r.resetTimes(now)
	}
	return r, err
}

// demoteIssuing adds the issuing certificate to the previous certificates, for clients
// that still depend on it.
func (r *CAState) demoteIssuing(now time.Time) {
	r.PreviousCertificates = slices.Concat(r.PreviousCertificates, r.Issuing.Certificate)
	r.PreviousSince = now
}

// resetTimes sets start times to now if they are missing or in the future.
func (r *CAState) resetTimes(now time.Time) {
	if r.hasNext() && !isPast(r.NextSince, now) {
		r.NextSince = now
	}
	if len(r.PreviousCertificates) > 0 && !isPast(r.PreviousSince, now) {
		r.PreviousSince = now
	}
}

// TrustBundle returns the certificates that clients must trust, in PEM, oldest first.
func (r CAState) TrustBundle() []byte {
	return slices.Concat(r.PreviousCertificates, r.Issuing.Certificate, r.Next.Certificate)
}

// Issuer returns the issuing CA and all CAs that clients must trust. overlap is how long
// clients have to load a changed trust bundle. Previous certificates that cannot be
// parsed are skipped.
func (r CAState) Issuer(overlap time.Duration) (*Issuer, error) {
	issuing, err := ParseAuthority(r.Issuing)
	if err != nil {
		return nil, err
	}
	return &Issuer{Authority: issuing, trusted: parseReadableCertificates(r.TrustBundle()), overlap: overlap}, nil
}
