// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"
)

// parseLeaf parses the certificate of a pair.
func parseLeaf(t *testing.T, pair KeyPair) *x509.Certificate {
	t.Helper()
	leaf, err := parseKeyPair(pair)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestReissueReason(t *testing.T) {
	t.Parallel()
	authority, _ := newAuthority(t, start)
	other, _ := newAuthority(t, start)
	names := []string{"acme.tenants.svc"}
	good, foreign := parseLeaf(t, issue(t, authority, start, names...)), parseLeaf(t, issue(t, other, start, names...))
	for name, test := range map[string]struct {
		issued *x509.Certificate
		names  []string
		now    time.Time
		want   string
	}{
		"good":                 {good, names, start.Add(day), ""},
		"a day before":         {good, names, start.Add(59 * day), ""},
		"a month to its end":   {good, names, start.Add(60*day + time.Hour), "certificate expires at 2027-02-19"},
		"expired":              {good, names, start.Add(100 * day), "certificate expires at"},
		"other names":          {good, []string{"other"}, start, "instead of"},
		"of another authority": {foreign, names, start, "certificate was issued by another CA"},
	} {
		got := authority.reissueReason(test.issued, test.names, test.now)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if renewal := renewalTime(good); !renewal.Equal(start.Add(60 * day)) {
		t.Errorf("got renewal time %s", renewal)
	}
}

func TestCertificateDoesNotOutliveAuthority(t *testing.T) {
	t.Parallel()
	authority, _ := newAuthority(t, start)
	late := start.Add(authorityLifetime - 10*day)
	pair := issue(t, authority, late, "acme")
	end, err := ValidateKeyPair(pair, authority.PEM(), late)
	if err != nil || !end.Equal(start.Add(authorityLifetime)) {
		t.Errorf("got expiry %s, error %v", end, err)
	}
	if renewal := renewalTime(parseLeaf(t, pair)); !renewal.After(late) || !renewal.Before(end) {
		t.Errorf("got renewal time %s, want between %s and %s", renewal, late, end)
	}
}
