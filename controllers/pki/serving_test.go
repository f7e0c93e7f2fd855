// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const serviceName = "acme.tenants.svc"

// nextServing returns the next serving certificate under an CAState.
func nextServing(t rapid.TB, r CAState, previous ServingCertificate, names []string, now time.Time) ServingResult {
	t.Helper()
	authorities, err := r.Issuer(DefaultOverlap)
	if err != nil {
		t.Fatal(err)
	}
	served, err := authorities.NextServingCertificate(previous, names, now)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

func TestNextServingCertificate(t *testing.T) {
	t.Parallel()
	names := []string{serviceName}
	old, fresh := newAuthorityPair(t, start, serviceDomains...), newAuthorityPair(t, start, serviceDomains...)
	open := newAuthorityPair(t, start)
	renewed, err := RenewAuthority(open, start.Add(30*day), serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	both := append(bytes.Clone(old.Certificate), fresh.Certificate...)
	byOld := issue(t, parseAuthority(t, old), start, names...)
	byFresh := issue(t, parseAuthority(t, fresh), start.Add(30*day), names...)
	byOpen := issue(t, parseAuthority(t, open), start.Add(10*day), serviceName, "acme.tenants", "acme")
	narrow := newAuthorityPair(t, start, "svc")
	wide, err := RenewAuthority(narrow, start, serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	byNarrow := issue(t, parseAuthority(t, narrow), start, names...)
	ended, err := NewAuthority(start, "example")
	if err != nil {
		t.Fatal(err)
	}
	// Unless stated otherwise, clients have trusted fresh since day 29. Now is day 30.
	now, known := start.Add(30*day), start.Add(29*day)
	for name, test := range map[string]struct {
		rollover CAState
		previous ServingCertificate
		names    []string
		now      time.Time

		because, waits string
		trusted        []byte
		since          time.Time
		awaited        []string
		again          time.Time
	}{
		"nothing yet": {
			rollover: CAState{Issuing: old},
			because:  "certificate does not exist", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"nothing yet, in between": {
			rollover: CAState{Issuing: old, Next: fresh},
			because:  "certificate does not exist", trusted: both, since: now, again: now.Add(day),
		},
		"rubbish": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{KeyPair: KeyPair{[]byte("rubbish"), byOld.Key}, TrustBundle: both},
			because: "tls.crt: PEM data does not contain a certificate", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"the key of another": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{KeyPair: KeyPair{byOld.Certificate, byFresh.Key}, TrustBundle: old.Certificate},
			because: "tls.key is not the private key", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"at rest": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}},
			trusted: old.Certificate, again: start.Add(60 * day),
		},
		"near the end": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}}, now: start.Add(61 * day),
			because: "certificate expires at", trusted: old.Certificate, again: start.Add(121 * day),
		},
		"one name less": {
			rollover: CAState{Issuing: open}, previous: ServingCertificate{byOpen, both, now}, names: []string{serviceName, "acme"},
			because: "instead of", trusted: append(bytes.Clone(both), open.Certificate...), since: now, again: now.Add(day),
		},
		"one more name, permitted": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			because: "instead of", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"one more name, not permitted": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}}, names: []string{serviceName, "acme.example"},
			trusted: old.Certificate, awaited: []string{"acme.example"}, again: start.Add(60 * day),
		},
		"one more name, of which not all know": {
			rollover: CAState{Issuing: old, Next: fresh}, previous: ServingCertificate{byOld, both, now.Add(-time.Hour)}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			waits: "instead of", trusted: both, since: now.Add(-time.Hour), awaited: []string{"acme.tenants.svc.cluster.local"}, again: now.Add(23 * time.Hour),
		},
		"one more name, of which a certificate with the same key knows nothing": {
			rollover: CAState{Issuing: wide}, previous: ServingCertificate{byNarrow, narrow.Certificate, time.Time{}}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			waits: "instead of", trusted: append(bytes.Clone(narrow.Certificate), wide.Certificate...), since: now, awaited: []string{"acme.tenants.svc.cluster.local"}, again: now.Add(day),
		},
		"another is announced": {
			rollover: CAState{Issuing: old, Next: fresh}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}},
			trusted: both, since: now, again: now.Add(day),
		},
		"another was announced": {
			rollover: CAState{Issuing: old, Next: fresh}, previous: ServingCertificate{byOld, both, known},
			trusted: both, since: known, again: start.Add(60 * day),
		},
		"another was announced at an unknown time": {
			rollover: CAState{Issuing: old, Next: fresh}, previous: ServingCertificate{byOld, both, time.Time{}},
			trusted: both, since: now, again: now.Add(day),
		},
		"promoted": {
			rollover: CAState{Issuing: fresh, PreviousCertificates: old.Certificate}, previous: ServingCertificate{byOld, both, known},
			because: "certificate was issued by another CA", trusted: both, since: known, again: now.Add(60 * day),
		},
		"promoted, clients heard late": {
			rollover: CAState{Issuing: fresh, PreviousCertificates: old.Certificate}, previous: ServingCertificate{byOld, both, known.Add(time.Minute)},
			waits: "certificate was issued by another CA", trusted: both, since: known.Add(time.Minute), again: now.Add(time.Minute),
		},
		"replaced, and clients never heard": {
			rollover: CAState{Issuing: fresh}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}},
			waits: "certificate was issued by another CA", trusted: both, since: now, again: now.Add(day),
		},
		"replaced, and the certificate is about to end": {
			rollover: CAState{Issuing: fresh}, previous: ServingCertificate{byOld, old.Certificate, time.Time{}}, now: start.Add(89 * day),
			because: "certificate was issued by another CA", trusted: both, since: start.Add(89 * day), again: start.Add(90 * day),
		},
		"retired a moment ago, where it issued": {
			rollover: CAState{Issuing: fresh}, previous: ServingCertificate{byFresh, both, known}, now: now.Add(day - time.Minute),
			trusted: both, since: known, again: now.Add(day),
		},
		"retired": {
			rollover: CAState{Issuing: fresh}, previous: ServingCertificate{byFresh, both, known}, now: now.Add(day),
			trusted: fresh.Certificate, again: now.Add(60 * day),
		},
		"a foreign CA in the bundle": {
			rollover: CAState{Issuing: fresh}, previous: ServingCertificate{byFresh, bytes.Replace(both, old.Certificate, foreignAuthority(t), 1), known},
			trusted: fresh.Certificate, again: now.Add(60 * day),
		},
		"no list": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{KeyPair: byOld},
			trusted: old.Certificate, again: start.Add(60 * day),
		},
		"a foreign certificate": {
			rollover: CAState{Issuing: old}, previous: ServingCertificate{foreignPair(t), foreignAuthority(t), time.Time{}},
			because: "certificate was not issued by the operator", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"constrained, while pods may serve short names": {
			rollover: CAState{Issuing: renewed, PreviousCertificates: open.Certificate}, previous: ServingCertificate{byOpen, open.Certificate, time.Time{}},
			because: "instead of", trusted: open.Certificate, again: now.Add(certificatePropagationDelay),
		},
		"constrained, when no pod does": {
			rollover: CAState{Issuing: renewed, PreviousCertificates: open.Certificate}, previous: ServingCertificate{issue(t, parseAuthority(t, open), now, serviceName), open.Certificate, time.Time{}}, now: now.Add(certificatePropagationDelay),
			trusted: append(bytes.Clone(open.Certificate), renewed.Certificate...), since: now.Add(certificatePropagationDelay), again: now.Add(certificatePropagationDelay + day),
		},
	} {
		if test.now.IsZero() {
			test.now = now
		}
		if test.names == nil {
			test.names = names
		}
		got := nextServing(t, test.rollover, test.previous, test.names, test.now)
		if !strings.Contains(got.IssueReason, test.because) || (got.IssueReason == "") != (test.because == "") || !strings.Contains(got.PendingReason, test.waits) || (got.PendingReason == "") != (test.waits == "") {
			t.Errorf("%s: got issue reason %q and pending reason %q", name, got.IssueReason, got.PendingReason)
		}
		if (got.IssueReason == "") != bytes.Equal(got.Certificate, test.previous.Certificate) {
			t.Errorf("%s: issue reason %q does not match the certificate", name, got.IssueReason)
		}
		if diff := cmp.Diff(string(test.trusted), string(got.TrustBundle)); diff != "" {
			t.Errorf("%s: trust bundle (-want +got):\n%s", name, diff)
		}
		if !got.TrustBundleSince.Equal(test.since) || !got.RecheckAt.Equal(test.again) || !cmp.Equal(got.PendingNames, nonNil(test.awaited)) {
			t.Errorf("%s: got bundle since %s, recheck at %s, pending names %q", name, got.TrustBundleSince, got.RecheckAt, got.PendingNames)
		}
	}
	authorities, err := CAState{Issuing: ended}.Issuer(DefaultOverlap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := authorities.NextServingCertificate(ServingCertificate{}, names, now); err == nil || !strings.Contains(err.Error(), `may issue for ["example"] only`) {
		t.Errorf("CA that may issue for none of the names: got error %v", err)
	}
}

func nonNil(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// A rotationSimulation is a server with its CAs, and the history of served certificates
// and published trust bundles.
type rotationSimulation struct {
	sharedAuthority, instanceAuthority CAState
	request                            string
	extraNames                         []string
	current                            ServingCertificate
	recheckAt, now                     time.Time
	served, trusted                    []period
}

// A period holds a state and its start time.
type period struct {
	from time.Time
	pem  []byte
}

func (s *rotationSimulation) names() []string { return append([]string{serviceName}, s.extraNames...) }

// reconcile simulates a reconcile of the operator. It may be interrupted before each write.
func (s *rotationSimulation) reconcile(t *rapid.T, mayFail bool) {
	fails := func() bool { return mayFail && rapid.IntRange(0, 9).Draw(t, "interrupted") == 0 }
	kept, domains := &s.sharedAuthority, serviceDomains
	if len(s.extraNames) > 0 {
		kept, domains = &s.instanceAuthority, Domains(s.names())
	} else {
		s.instanceAuthority = CAState{}
	}
	advanced, _, due, err := kept.Advance(CAPolicy{Domains: domains, Request: s.request, Overlap: DefaultOverlap}, s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.recheckAt = s.now
	if fails() {
		return
	}
	*kept = advanced
	served := nextServing(t, advanced, s.current, s.names(), s.now)
	if fails() {
		return
	}
	s.current, s.recheckAt = served.ServingCertificate, earlier(served.RecheckAt, due)
	if !s.recheckAt.After(s.now) {
		t.Fatalf("got recheck at %s, want later than %s", s.recheckAt, s.now)
	}
	s.record(&s.served, s.current.Certificate)
	s.record(&s.trusted, s.current.TrustBundle)
}

func (s *rotationSimulation) record(spells *[]period, pem []byte) {
	if last := len(*spells) - 1; last < 0 || !bytes.Equal((*spells)[last].pem, pem) {
		*spells = append(*spells, period{s.now, pem})
	}
}

// advanceTime advances the clock while the operator reconciles when due.
func (s *rotationSimulation) advanceTime(t *rapid.T, pause time.Duration) {
	until := s.now.Add(pause)
	for visits := 0; s.recheckAt.Before(until); visits++ {
		if visits > 1000 {
			t.Fatalf("reconciles do not converge; next reconcile at %s", s.recheckAt)
		}
		s.now = s.recheckAt
		s.reconcile(t, true)
	}
	s.now = until
}

// changeRandomly makes a random change that a user might make.
func (s *rotationSimulation) changeRandomly(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "whim") {
	case 0:
		s.request += "x"
	case 1:
		s.extraNames = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"*.c.example", "a.example", "b.example"}), 0, 3, rapid.ID[string]).Draw(t, "extra names")
	case 2:
		s.extraNames = nil
	case 3:
		s.sharedAuthority = CAState{}
	case 4:
		s.instanceAuthority = CAState{}
	}
}

// checkClients checks clients that loaded the trust bundle at any time within the overlap,
// against pods that serve certificates of up to two minutes ago. If several CA
// certificates share a key, each must suffice, because many clients try only one.
func (s *rotationSimulation) checkClients(t *rapid.T) {
	for i, served := range s.served {
		for j, bundle := range s.trusted {
			if served.from.Before(periodEnd(s.trusted, j, s.now).Add(DefaultOverlap)) && bundle.from.Before(periodEnd(s.served, i, s.now).Add(2*time.Minute)) {
				met := served.from
				if bundle.from.After(met) {
					met = bundle.from
				}
				checkHandshake(t, served.pem, bundle.pem, met)
			}
		}
	}
}

func periodEnd(spells []period, i int, now time.Time) time.Time {
	if i+1 < len(spells) {
		return spells[i+1].from
	}
	return now
}

func checkHandshake(t *rapid.T, served, bundle []byte, met time.Time) {
	leaf := parseReadableCertificates(served)[0]
	vouchers := 0
	for _, certificate := range parseReadableCertificates(bundle) {
		if leaf.CheckSignatureFrom(certificate) != nil {
			continue
		}
		vouchers++
		if err := verifyChain(served, encodeCertificate(certificate.Raw), met); err != nil {
			t.Fatalf("at %s: verifying a certificate for %q with a CA for %q: %v", met, leaf.DNSNames, certificate.PermittedDNSDomains, err)
		}
	}
	if vouchers == 0 || leaf.VerifyHostname(serviceName) != nil {
		t.Fatalf("at %s: %d trusted CAs verify the certificate for %q, want at least 1", met, vouchers, leaf.DNSNames)
	}
}

// TestClientsTrustServerDuringRotation checks that clients that reload the trust bundle
// within the overlap never fail, regardless of changes to CAs and names and of interruptions
// of the operator, and that the desired state is reached eventually.
func TestClientsTrustServerDuringRotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &rotationSimulation{now: start}
		if rapid.Bool().Draw(t, "from before there were constraints") {
			w.sharedAuthority.Issuing = newAuthorityPair(t, start.Add(-30*day))
			authority, err := ParseAuthority(w.sharedAuthority.Issuing)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := authority.Issue([]string{serviceName, "acme.tenants", "acme"}, start.Add(-20*day))
			if err != nil {
				t.Fatal(err)
			}
			w.current = ServingCertificate{KeyPair: pair, TrustBundle: authority.PEM()}
			w.record(&w.served, pair.Certificate)
			w.record(&w.trusted, authority.PEM())
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w.changeRandomly(t)
			w.reconcile(t, true)
			pause := rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour, 13 * time.Hour, 25 * time.Hour, 40 * day}).Draw(t, "pause")
			if rapid.IntRange(0, 3).Draw(t, "away") == 0 {
				w.now = w.now.Add(min(pause, 3*day))
				continue
			}
			w.advanceTime(t, pause)
		}
		w.reconcile(t, false)
		w.advanceTime(t, 7*day)
		w.checkClients(t)
		if served := nextServing(t, *w.activeAuthority(), w.current, w.names(), w.now); served.IssueReason != "" || served.PendingReason != "" || len(served.PendingNames) > 0 {
			t.Fatalf("final state: issue reason %q, pending reason %q, pending names %q", served.IssueReason, served.PendingReason, served.PendingNames)
		}
		if diff := cmp.Diff(string(w.activeAuthority().Issuing.Certificate), string(w.current.TrustBundle)); diff != "" {
			t.Fatalf("final trust bundle (-want +got):\n%s", diff)
		}
	})
}

// activeAuthority returns the CA that issues the server's certificate.
func (s *rotationSimulation) activeAuthority() *CAState {
	if len(s.extraNames) > 0 {
		return &s.instanceAuthority
	}
	return &s.sharedAuthority
}

func FuzzNextServingCertificate(f *testing.F) {
	pair, err := NewAuthority(start, serviceDomains...)
	if err != nil {
		f.Fatal(err)
	}
	authorities, err := CAState{Issuing: pair}.Issuer(DefaultOverlap)
	if err != nil {
		f.Fatal(err)
	}
	issued, err := authorities.Issue([]string{serviceName}, start)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(issued.Certificate, issued.Key, pair.Certificate, start.Unix())
	f.Add([]byte("-----BEGIN CERTIFICATE-----"), []byte(""), []byte("rubbish"), int64(0))
	after := parseReadableCertificates(issued.Certificate)[0]
	f.Fuzz(func(t *testing.T, certificate, key, trusted []byte, since int64) {
		before, reason := parseServingState(ServingCertificate{KeyPair{certificate, key}, trusted, time.Unix(since, 0)})
		if (before.leaf == nil) != (reason != "") {
			t.Fatalf("got certificate %v and reason %q", before.leaf, reason)
		}
		d := servingDecision{Issuer: authorities, previous: before, current: after, names: []string{serviceName}, now: start}
		if before.leaf != nil {
			d.current = before.leaf
		} else if !d.canIssue() {
			t.Error("certificate does not exist and was not issued")
		}
		bundle := d.trustBundle()
		if !contains(bundle, authorities.certificate) && !slices.ContainsFunc(bundle, d.trustsNextCertificate) {
			t.Errorf("trust bundle of %d certificates does not contain the issuing CA", len(bundle))
		}
		if again := d.recheckAt(bundle); !again.After(start) {
			t.Errorf("got recheck at %s, want later than %s", again, start)
		}
	})
}
