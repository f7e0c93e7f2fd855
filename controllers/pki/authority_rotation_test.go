// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newAuthorityPair creates a CA for the domains.
func newAuthorityPair(t rapid.TB, at time.Time, domains ...string) KeyPair {
	t.Helper()
	pair, err := NewAuthority(at, domains...)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func servicePolicy(request string) CAPolicy {
	return CAPolicy{Domains: serviceDomains, Request: request, Overlap: DefaultOverlap}
}

func TestNextAction(t *testing.T) {
	t.Parallel()
	open, issuing, next, other := newAuthorityPair(t, start), newAuthorityPair(t, start, serviceDomains...), newAuthorityPair(t, start, serviceDomains...), newAuthorityPair(t, start, "svc")
	settled := CAState{Issuing: issuing, Request: "1"}
	announced := CAState{Issuing: issuing, Next: next, NextSince: start, Request: "1"}
	promoted := CAState{Issuing: next, PreviousCertificates: issuing.Certificate, PreviousSince: start, Request: "1"}
	with := func(r CAState, change func(*CAState)) CAState { change(&r); return r }
	renewal := start.Add(authorityLifetime - authorityRenewBefore)
	for name, test := range map[string]struct {
		rollover CAState
		request  string
		now      time.Time
		want     action
		due      time.Time
	}{
		"none yet":                      {CAState{}, "", start, actionCreate, start},
		"settled":                       {settled, "1", start.Add(day), actionNone, renewal},
		"no request any more":           {settled, "", start.Add(day), actionNone, renewal},
		"settled, without constraints":  {CAState{Issuing: open}, "", start, actionRenew, renewal},
		"settled, other constraints":    {CAState{Issuing: other}, "", start, actionReplace, renewal},
		"settled, near the end":         {settled, "1", renewal, actionRenew, renewal},
		"a new request":                 {settled, "2", start, actionReplace, start},
		"announced":                     {announced, "1", start.Add(day - time.Second), actionNone, start.Add(day)},
		"announced for long enough":     {announced, "1", start.Add(day), actionPromote, start.Add(day)},
		"announced, and a new request":  {announced, "2", start.Add(time.Hour), actionReplace, start},
		"announced, other constraints":  {with(announced, func(r *CAState) { r.Next = other }), "1", start, actionReplace, start.Add(day)},
		"announced, and not readable":   {with(announced, func(r *CAState) { r.Next.Key = []byte("x") }), "1", start, actionReplace, start.Add(day)},
		"announced, half of it lost":    {with(announced, func(r *CAState) { r.Next.Certificate = nil }), "1", start, actionReplace, start.Add(day)},
		"announced at an unknown time":  {with(announced, func(r *CAState) { r.NextSince = time.Time{} }), "1", start, actionResetTimes, start},
		"announced in the future":       {with(announced, func(r *CAState) { r.NextSince = start.Add(365 * day) }), "1", start, actionResetTimes, start},
		"announced, near the end":       {with(announced, func(r *CAState) { r.NextSince = renewal }), "1", renewal, actionNone, renewal},
		"announced, without constraint": {with(announced, func(r *CAState) { r.Issuing = open }), "1", start, actionNone, start.Add(day)},
		"promoted":                      {promoted, "1", start.Add(day - time.Second), actionNone, start.Add(day)},
		"promoted for long enough":      {promoted, "1", start.Add(day), actionRetire, start.Add(day)},
		"promoted, and a new request":   {promoted, "2", start, actionReplace, start},
		"promoted at an unknown time":   {with(promoted, func(r *CAState) { r.PreviousSince = time.Time{} }), "1", start, actionResetTimes, start},
		"promoted, other constraints":   {with(promoted, func(r *CAState) { r.Issuing = other }), "1", start, actionReplace, start.Add(day)},
		"promoted, and again announced": {with(promoted, func(r *CAState) { r.Next, r.NextSince = issuing, start.Add(time.Hour) }), "1", start.Add(day), actionRetire, start.Add(day)},
	} {
		got, due, err := test.rollover.nextAction(servicePolicy(test.request), test.now)
		if err != nil || got != test.want || got == actionNone && !due.Equal(test.due) {
			t.Errorf("%s: got action %q due %s, error %v; want %q due %s", name, got, due, err, test.want, test.due)
		}
	}
	if _, _, err := (CAState{Issuing: KeyPair{Certificate: issuing.Certificate}}).nextAction(servicePolicy(""), start); err == nil {
		t.Error("CA without a key was replaced without an error")
	}
}

// advance performs the steps that are due and returns their descriptions.
func advance(t rapid.TB, r *CAState, policy CAPolicy, now time.Time) []string {
	t.Helper()
	advanced, done, due, err := r.Advance(policy, now)
	if err != nil {
		t.Fatal(err)
	}
	if !due.After(now) {
		t.Fatalf("after %q: next step is due at %s, want later than %s", done, due, now)
	}
	*r = advanced
	return done
}

func TestReplacedAuthorityIsRetiredAfterTwoOverlaps(t *testing.T) {
	t.Parallel()
	var r CAState
	advance(t, &r, servicePolicy(""), start)
	first := r.Issuing
	if diff := cmp.Diff([]string{string(actionReplace)}, advance(t, &r, servicePolicy("1"), start.Add(day))); diff != "" {
		t.Errorf("steps after the request (-want +got):\n%s", diff)
	}
	second := r.Next
	if !bytes.Equal(r.Issuing.Key, first.Key) || !bytes.Equal(r.TrustBundle(), append(bytes.Clone(first.Certificate), second.Certificate...)) {
		t.Error("expected the first CA to issue, and both CAs to be trusted")
	}
	if done := advance(t, &r, servicePolicy("1"), start.Add(2*day-time.Minute)); done != nil {
		t.Errorf("got steps %q before the overlap has passed", done)
	}
	advance(t, &r, servicePolicy("1"), start.Add(2*day))
	if diff := cmp.Diff(CAState{Issuing: second, PreviousCertificates: first.Certificate, PreviousSince: start.Add(2 * day), Request: "1"}, r); diff != "" {
		t.Errorf("steps after the overlap (-want +got):\n%s", diff)
	}
	advance(t, &r, servicePolicy("1"), start.Add(3*day))
	if diff := cmp.Diff(CAState{Issuing: second, Request: "1"}, r); diff != "" {
		t.Errorf("steps after two overlaps (-want +got):\n%s", diff)
	}
}

func TestRenewedAuthorityKeepsPreviousCertificateForOverlap(t *testing.T) {
	t.Parallel()
	first := newAuthorityPair(t, start)
	r := CAState{Issuing: first}
	advance(t, &r, servicePolicy(""), start)
	if !bytes.Equal(r.Issuing.Key, first.Key) || !bytes.Equal(r.PreviousCertificates, first.Certificate) || bytes.Equal(r.Issuing.Certificate, first.Certificate) {
		t.Error("renewed CA has a different key")
	}
	if domains := parseAuthority(t, r.Issuing).certificate.PermittedDNSDomains; !cmp.Equal(domains, serviceDomains) {
		t.Errorf("got permitted domains %q", domains)
	}
	advance(t, &r, servicePolicy(""), start.Add(day))
	if len(r.PreviousCertificates) > 0 || !bytes.Equal(r.Issuing.Key, first.Key) {
		t.Error("trust bundle after the overlap contains more than the new certificate")
	}
}

// TestInterruptedAuthorityRotationConverges checks that a rotation interrupted before a
// step is stored ends like an uninterrupted one: the stored state never goes back, and
// advances only with time and requests.
func TestInterruptedAuthorityRotationConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var kept CAState
		now, request, asked := start, "", 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Hour, day, 5 * day}).Draw(t, "pause"))
			if rapid.IntRange(0, 3).Draw(t, "whim") == 0 {
				asked++
				request = string(rune('a' + asked))
			}
			advanced, _, _, err := kept.Advance(servicePolicy(request), now)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "interrupted") {
				continue
			}
			if kept.hasNext() && advanced.Request == kept.Request && !bytes.Equal(advanced.Issuing.Key, kept.Issuing.Key) && !bytes.Equal(advanced.Issuing.Key, kept.Next.Key) {
				t.Fatal("CA issues certificates before clients trust it")
			}
			kept = advanced
		}
		for range 3 {
			now = now.Add(day)
			advance(t, &kept, servicePolicy(request), now)
		}
		if kept.hasNext() || len(kept.PreviousCertificates) > 0 || kept.Request != request {
			t.Fatalf("final state: has next %v, has previous %v, request %q, want %q", kept.hasNext(), len(kept.PreviousCertificates) > 0, kept.Request, request)
		}
		if parsed, err := ParseAuthority(kept.Issuing); err != nil || !hasNameConstraintsFor(parsed.certificate, serviceDomains) {
			t.Fatalf("final CA does not match the policy, error %v", err)
		}
	})
}

func TestIssuerSkipsUnreadableCertificates(t *testing.T) {
	t.Parallel()
	r := CAState{Issuing: newAuthorityPair(t, start), PreviousCertificates: []byte("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n")}
	authorities, err := r.Issuer(DefaultOverlap)
	if err != nil || len(authorities.trusted) != 1 {
		t.Errorf("Issuer() = %+v, %v", authorities, err)
	}
	r.Issuing.Key = nil
	if _, err := r.Issuer(DefaultOverlap); err == nil {
		t.Error("Issuer succeeded for a CA without a key")
	}
}
