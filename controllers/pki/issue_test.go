// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"
)

// leafOf reads the certificate of a pair.
func leafOf(t *testing.T, pair KeyPair) *x509.Certificate {
	t.Helper()
	leaf, err := parsePair(pair)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestReasonToIssue(t *testing.T) {
	t.Parallel()
	authority, _ := newAuthority(t, start)
	other, _ := newAuthority(t, start)
	names := []string{"acme.tenants.svc"}
	good, foreign := leafOf(t, issue(t, authority, start, names...)), leafOf(t, issue(t, other, start, names...))
	for name, test := range map[string]struct {
		issued *x509.Certificate
		names  []string
		now    time.Time
		want   string
	}{
		"good":                 {good, names, start.Add(day), ""},
		"a day before":         {good, names, start.Add(59 * day), ""},
		"a month to its end":   {good, names, start.Add(60*day + time.Hour), "it ends at 2027-02-19"},
		"expired":              {good, names, start.Add(100 * day), "it ends at"},
		"other names":          {good, []string{"other"}, start, "instead of"},
		"of another authority": {foreign, names, start, "another authority issued it"},
	} {
		got := authority.reasonToIssue(test.issued, test.names, test.now)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if renewal := renewalOf(good); !renewal.Equal(start.Add(60 * day)) {
		t.Errorf("renewal at %s", renewal)
	}
}

func TestCertificateEndsWithItsAuthority(t *testing.T) {
	t.Parallel()
	authority, _ := newAuthority(t, start)
	late := start.Add(authorityLifetime - 10*day)
	pair := issue(t, authority, late, "acme")
	end, err := Check(pair, authority.PEM(), late)
	if err != nil || !end.Equal(start.Add(authorityLifetime)) {
		t.Errorf("ends at %s, %v", end, err)
	}
	if renewal := renewalOf(leafOf(t, pair)); !renewal.After(late) || !renewal.Before(end) {
		t.Errorf("renewal at %s is not between %s and %s", renewal, late, end)
	}
}
