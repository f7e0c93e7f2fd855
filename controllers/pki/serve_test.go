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

// serve asks a Rollover for what is to be served.
func serve(t rapid.TB, r Rollover, had Issued, names []string, now time.Time) Served {
	t.Helper()
	authorities, err := r.Authorities(Overlap)
	if err != nil {
		t.Fatal(err)
	}
	served, err := authorities.Serve(had, names, now)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

func TestServe(t *testing.T) {
	t.Parallel()
	names := []string{serviceName}
	old, fresh := newPair(t, start, serviceDomains...), newPair(t, start, serviceDomains...)
	open := newPair(t, start)
	renewed, err := RenewAuthority(open, start.Add(30*day), serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	both := append(bytes.Clone(old.Certificate), fresh.Certificate...)
	byOld := issue(t, parseAuthority(t, old), start, names...)
	byFresh := issue(t, parseAuthority(t, fresh), start.Add(30*day), names...)
	byOpen := issue(t, parseAuthority(t, open), start.Add(10*day), serviceName, "acme.tenants", "acme")
	narrow := newPair(t, start, "svc")
	wide, err := RenewAuthority(narrow, start, serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	byNarrow := issue(t, parseAuthority(t, narrow), start, names...)
	ended, err := NewAuthority(start, "example")
	if err != nil {
		t.Fatal(err)
	}
	// What clients know of fresh they know since the 29th day, but where told
	// otherwise; now is the 30th.
	now, known := start.Add(30*day), start.Add(29*day)
	for name, test := range map[string]struct {
		rollover Rollover
		had      Issued
		names    []string
		now      time.Time

		because, waits string
		trusted        []byte
		since          time.Time
		awaited        []string
		again          time.Time
	}{
		"nothing yet": {
			rollover: Rollover{Issuing: old},
			because:  "there is no certificate yet", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"nothing yet, in between": {
			rollover: Rollover{Issuing: old, Next: fresh},
			because:  "there is no certificate yet", trusted: both, since: now, again: now.Add(day),
		},
		"rubbish": {
			rollover: Rollover{Issuing: old}, had: Issued{KeyPair: KeyPair{[]byte("rubbish"), byOld.Key}, Trusted: both},
			because: "tls.crt: no certificate in PEM", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"the key of another": {
			rollover: Rollover{Issuing: old}, had: Issued{KeyPair: KeyPair{byOld.Certificate, byFresh.Key}, Trusted: old.Certificate},
			because: "tls.key is not the private key", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"at rest": {
			rollover: Rollover{Issuing: old}, had: Issued{byOld, old.Certificate, time.Time{}},
			trusted: old.Certificate, again: start.Add(60 * day),
		},
		"near the end": {
			rollover: Rollover{Issuing: old}, had: Issued{byOld, old.Certificate, time.Time{}}, now: start.Add(61 * day),
			because: "it ends at", trusted: old.Certificate, again: start.Add(121 * day),
		},
		"one name less": {
			rollover: Rollover{Issuing: open}, had: Issued{byOpen, both, now}, names: []string{serviceName, "acme"},
			because: "instead of", trusted: append(bytes.Clone(both), open.Certificate...), since: now, again: now.Add(day),
		},
		"one more name, permitted": {
			rollover: Rollover{Issuing: old}, had: Issued{byOld, old.Certificate, time.Time{}}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			because: "instead of", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"one more name, not permitted": {
			rollover: Rollover{Issuing: old}, had: Issued{byOld, old.Certificate, time.Time{}}, names: []string{serviceName, "acme.example"},
			trusted: old.Certificate, awaited: []string{"acme.example"}, again: start.Add(60 * day),
		},
		"one more name, of which not all know": {
			rollover: Rollover{Issuing: old, Next: fresh}, had: Issued{byOld, both, now.Add(-time.Hour)}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			waits: "instead of", trusted: both, since: now.Add(-time.Hour), awaited: []string{"acme.tenants.svc.cluster.local"}, again: now.Add(23 * time.Hour),
		},
		"one more name, of which a certificate with the same key knows nothing": {
			rollover: Rollover{Issuing: wide}, had: Issued{byNarrow, narrow.Certificate, time.Time{}}, names: []string{serviceName, "acme.tenants.svc.cluster.local"},
			waits: "instead of", trusted: append(bytes.Clone(narrow.Certificate), wide.Certificate...), since: now, awaited: []string{"acme.tenants.svc.cluster.local"}, again: now.Add(day),
		},
		"another is announced": {
			rollover: Rollover{Issuing: old, Next: fresh}, had: Issued{byOld, old.Certificate, time.Time{}},
			trusted: both, since: now, again: now.Add(day),
		},
		"another was announced": {
			rollover: Rollover{Issuing: old, Next: fresh}, had: Issued{byOld, both, known},
			trusted: both, since: known, again: start.Add(60 * day),
		},
		"another was announced, nobody knows when": {
			rollover: Rollover{Issuing: old, Next: fresh}, had: Issued{byOld, both, time.Time{}},
			trusted: both, since: now, again: now.Add(day),
		},
		"promoted": {
			rollover: Rollover{Issuing: fresh, Previous: old.Certificate}, had: Issued{byOld, both, known},
			because: "another authority issued it", trusted: both, since: known, again: now.Add(60 * day),
		},
		"promoted, clients heard late": {
			rollover: Rollover{Issuing: fresh, Previous: old.Certificate}, had: Issued{byOld, both, known.Add(time.Minute)},
			waits: "another authority issued it", trusted: both, since: known.Add(time.Minute), again: now.Add(time.Minute),
		},
		"replaced, and clients never heard": {
			rollover: Rollover{Issuing: fresh}, had: Issued{byOld, old.Certificate, time.Time{}},
			waits: "another authority issued it", trusted: both, since: now, again: now.Add(day),
		},
		"replaced, and the certificate is about to end": {
			rollover: Rollover{Issuing: fresh}, had: Issued{byOld, old.Certificate, time.Time{}}, now: start.Add(89 * day),
			because: "another authority issued it", trusted: both, since: start.Add(89 * day), again: start.Add(90 * day),
		},
		"retired a moment ago, where it issued": {
			rollover: Rollover{Issuing: fresh}, had: Issued{byFresh, both, known}, now: now.Add(day - time.Minute),
			trusted: both, since: known, again: now.Add(day),
		},
		"retired": {
			rollover: Rollover{Issuing: fresh}, had: Issued{byFresh, both, known}, now: now.Add(day),
			trusted: fresh.Certificate, again: now.Add(60 * day),
		},
		"somebody else's authority in the list": {
			rollover: Rollover{Issuing: fresh}, had: Issued{byFresh, bytes.Replace(both, old.Certificate, foreignAuthority(t), 1), known},
			trusted: fresh.Certificate, again: now.Add(60 * day),
		},
		"no list": {
			rollover: Rollover{Issuing: old}, had: Issued{KeyPair: byOld},
			trusted: old.Certificate, again: start.Add(60 * day),
		},
		"a certificate of somebody else": {
			rollover: Rollover{Issuing: old}, had: Issued{foreignPair(t), foreignAuthority(t), time.Time{}},
			because: "somebody else issued it", trusted: old.Certificate, again: now.Add(60 * day),
		},
		"constrained, while pods may serve short names": {
			rollover: Rollover{Issuing: renewed, Previous: open.Certificate}, had: Issued{byOpen, open.Certificate, time.Time{}},
			because: "instead of", trusted: open.Certificate, again: now.Add(propagation),
		},
		"constrained, when no pod does": {
			rollover: Rollover{Issuing: renewed, Previous: open.Certificate}, had: Issued{issue(t, parseAuthority(t, open), now, serviceName), open.Certificate, time.Time{}}, now: now.Add(propagation),
			trusted: append(bytes.Clone(open.Certificate), renewed.Certificate...), since: now.Add(propagation), again: now.Add(propagation + day),
		},
	} {
		if test.now.IsZero() {
			test.now = now
		}
		if test.names == nil {
			test.names = names
		}
		got := serve(t, test.rollover, test.had, test.names, test.now)
		if !strings.Contains(got.Because, test.because) || (got.Because == "") != (test.because == "") || !strings.Contains(got.Waits, test.waits) || (got.Waits == "") != (test.waits == "") {
			t.Errorf("%s: issued because %q, waits because %q", name, got.Because, got.Waits)
		}
		if (got.Because == "") != bytes.Equal(got.Certificate, test.had.Certificate) {
			t.Errorf("%s: issued because %q, yet the certificate says otherwise", name, got.Because)
		}
		if diff := cmp.Diff(string(test.trusted), string(got.Trusted)); diff != "" {
			t.Errorf("%s: trusted (-want +got):\n%s", name, diff)
		}
		if !got.TrustedSince.Equal(test.since) || !got.Again.Equal(test.again) || !cmp.Equal(got.Awaited, orNone(test.awaited)) {
			t.Errorf("%s: since %s, again %s, awaited %q", name, got.TrustedSince, got.Again, got.Awaited)
		}
	}
	authorities, err := Rollover{Issuing: ended}.Authorities(Overlap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := authorities.Serve(Issued{}, names, now); err == nil || !strings.Contains(err.Error(), `may vouch for ["example"] only`) {
		t.Errorf("an authority that may vouch for no name: %v", err)
	}
}

func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// A world is a server with its authorities, and all that was ever served and
// told.
type world struct {
	shared, own     Rollover
	request         string
	extra           []string
	issued          Issued
	again, now      time.Time
	served, trusted []spell
}

// A spell is what was so from one time on.
type spell struct {
	from time.Time
	pem  []byte
}

func (w *world) names() []string { return append([]string{serviceName}, w.extra...) }

// visit does what the operator does at a visit, and may be interrupted before
// each write.
func (w *world) visit(t *rapid.T, mayFail bool) {
	fails := func() bool { return mayFail && rapid.IntRange(0, 9).Draw(t, "interrupted") == 0 }
	kept, domains := &w.shared, serviceDomains
	if len(w.extra) > 0 {
		kept, domains = &w.own, Domains(w.names())
	} else {
		w.own = Rollover{}
	}
	advanced, _, due, err := kept.Advance(AuthorityPolicy{Domains: domains, Request: w.request, Overlap: Overlap}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.again = w.now
	if fails() {
		return
	}
	*kept = advanced
	served := serve(t, advanced, w.issued, w.names(), w.now)
	if fails() {
		return
	}
	w.issued, w.again = served.Issued, earlier(served.Again, due)
	if !w.again.After(w.now) {
		t.Fatalf("a visit asks for another one at %s, which is not after %s", w.again, w.now)
	}
	w.note(&w.served, w.issued.Certificate)
	w.note(&w.trusted, w.issued.Trusted)
}

func (w *world) note(spells *[]spell, pem []byte) {
	if last := len(*spells) - 1; last < 0 || !bytes.Equal((*spells)[last].pem, pem) {
		*spells = append(*spells, spell{w.now, pem})
	}
}

// wait lets time pass while the operator does what is due.
func (w *world) wait(t *rapid.T, pause time.Duration) {
	until := w.now.Add(pause)
	for visits := 0; w.again.Before(until); visits++ {
		if visits > 1000 {
			t.Fatalf("the operator is never done, and comes again at %s", w.again)
		}
		w.now = w.again
		w.visit(t, true)
	}
	w.now = until
}

// whim does what somebody may want.
func (w *world) whim(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "whim") {
	case 0:
		w.request += "x"
	case 1:
		w.extra = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"*.c.example", "a.example", "b.example"}), 0, 3, rapid.ID[string]).Draw(t, "extra names")
	case 2:
		w.extra = nil
	case 3:
		w.shared = Rollover{}
	case 4:
		w.own = Rollover{}
	}
}

// check asks what every client would meet that learned what to trust at any time
// up to the overlap before, of pods that serve what they were given up to two
// minutes before. Of several authorities with one key each must do, since many
// clients try only one.
func (w *world) check(t *rapid.T) {
	for i, served := range w.served {
		for j, told := range w.trusted {
			if served.from.Before(endOf(w.trusted, j, w.now).Add(Overlap)) && told.from.Before(endOf(w.served, i, w.now).Add(2*time.Minute)) {
				met := served.from
				if told.from.After(met) {
					met = told.from
				}
				meet(t, served.pem, told.pem, met)
			}
		}
	}
}

func endOf(spells []spell, i int, now time.Time) time.Time {
	if i+1 < len(spells) {
		return spells[i+1].from
	}
	return now
}

func meet(t *rapid.T, served, told []byte, met time.Time) {
	leaf := readableCertificates(served)[0]
	vouchers := 0
	for _, certificate := range readableCertificates(told) {
		if leaf.CheckSignatureFrom(certificate) != nil {
			continue
		}
		vouchers++
		if err := checkChain(served, encodeCertificate(certificate.Raw), met); err != nil {
			t.Fatalf("at %s, of a certificate for %q by one permitted %q: %v", met, leaf.DNSNames, certificate.PermittedDNSDomains, err)
		}
	}
	if vouchers == 0 || leaf.VerifyHostname(serviceName) != nil {
		t.Fatalf("at %s %d of those trusted vouch for a certificate for %q", met, vouchers, leaf.DNSNames)
	}
}

// Whatever is done to authorities and names, however often and whenever the
// operator is interrupted or away, no client that asks within the overlap what to
// trust is ever refused, and in the end all is as wanted.
func TestNoClientIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{now: start}
		if rapid.Bool().Draw(t, "from before there were constraints") {
			w.shared.Issuing = newPair(t, start.Add(-30*day))
			authority, err := ParseAuthority(w.shared.Issuing)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := authority.Issue([]string{serviceName, "acme.tenants", "acme"}, start.Add(-20*day))
			if err != nil {
				t.Fatal(err)
			}
			w.issued = Issued{KeyPair: pair, Trusted: authority.PEM()}
			w.note(&w.served, pair.Certificate)
			w.note(&w.trusted, authority.PEM())
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w.whim(t)
			w.visit(t, true)
			pause := rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour, 13 * time.Hour, 25 * time.Hour, 40 * day}).Draw(t, "pause")
			if rapid.IntRange(0, 3).Draw(t, "away") == 0 {
				w.now = w.now.Add(min(pause, 3*day))
				continue
			}
			w.wait(t, pause)
		}
		w.visit(t, false)
		w.wait(t, 7*day)
		w.check(t)
		if served := serve(t, *w.kept(), w.issued, w.names(), w.now); served.Because != "" || served.Waits != "" || len(served.Awaited) > 0 {
			t.Fatalf("in the end: issued because %q, waits because %q, without %q", served.Because, served.Waits, served.Awaited)
		}
		if diff := cmp.Diff(string(w.kept().Issuing.Certificate), string(w.issued.Trusted)); diff != "" {
			t.Fatalf("in the end clients trust (-want +got):\n%s", diff)
		}
	})
}

// kept is the authority that issues to the server.
func (w *world) kept() *Rollover {
	if len(w.extra) > 0 {
		return &w.own
	}
	return &w.shared
}

func FuzzServe(f *testing.F) {
	pair, err := NewAuthority(start, serviceDomains...)
	if err != nil {
		f.Fatal(err)
	}
	authorities, err := Rollover{Issuing: pair}.Authorities(Overlap)
	if err != nil {
		f.Fatal(err)
	}
	issued, err := authorities.Issue([]string{serviceName}, start)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(issued.Certificate, issued.Key, pair.Certificate, start.Unix())
	f.Add([]byte("-----BEGIN CERTIFICATE-----"), []byte(""), []byte("rubbish"), int64(0))
	after := readableCertificates(issued.Certificate)[0]
	f.Fuzz(func(t *testing.T, certificate, key, trusted []byte, since int64) {
		before, reason := readServing(Issued{KeyPair{certificate, key}, trusted, time.Unix(since, 0)})
		if (before.leaf == nil) != (reason != "") {
			t.Fatalf("a certificate %v, and the reason to issue one is %q", before.leaf, reason)
		}
		d := decision{Authorities: authorities, before: before, after: after, names: []string{serviceName}, now: start}
		if before.leaf != nil {
			d.after = before.leaf
		} else if !d.mayIssue() {
			t.Error("there is no certificate, and none is issued")
		}
		told := d.tell()
		if !contains(told, authorities.certificate) && !slices.ContainsFunc(told, d.vouches) {
			t.Errorf("clients are told to trust %d, and nobody who vouches", len(told))
		}
		if again := d.again(told); !again.After(start) {
			t.Errorf("asks again at %s, which is not after %s", again, start)
		}
	})
}
