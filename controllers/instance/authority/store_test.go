// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

func TestCARotationRequest(t *testing.T) {
	t.Parallel()
	store := &Store{}
	for value, want := range map[string]string{"": "", "ca:1": "1", "ca:": "", "keys:1": "", "ca": "", "ca:a:b": "a:b", "keys:1,ca:2": "2"} {
		if got := store.Policy(nil, map[string]string{RotateAnnotation: value}).Request; got != want {
			t.Errorf("%q: got request %q, want %q", value, got, want)
		}
	}
}

func TestCASecretRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	issuing := pki.KeyPair{Certificate: []byte("issuing"), Key: []byte("issuing key")}
	for name, rollover := range map[string]pki.CAState{
		"nothing":    {},
		"one":        {Issuing: issuing},
		"a next one": {Issuing: issuing, Next: pki.KeyPair{Certificate: []byte("next"), Key: []byte("next key")}, NextSince: at, Request: "1"},
		"one before": {Issuing: issuing, PreviousCertificates: []byte("previous"), PreviousSince: at, Request: "1"},
		"no request": {Issuing: issuing, PreviousCertificates: []byte("previous"), PreviousSince: at},
	} {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{RotateAnnotation: "ca:1", RotatedAnnotation: "0", nextSinceAnnotation: "rubbish", previousSinceAnnotation: "rubbish"}},
			Data:       map[string][]byte{nextCACertKey: []byte("older"), nextCAPrivateKeyKey: []byte("older"), previousCACertKey: []byte("older")},
		}
		setRollover(secret, rollover)
		if diff := cmp.Diff(rollover, RolloverFromSecret(secret)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := secret.Annotations[RotateAnnotation]; got != "ca:1" {
			t.Errorf("%s: the user's annotation changed to %q", name, got)
		}
		if got := string(secret.Data["ca.crt"]); got != string(rollover.TrustBundle()) {
			t.Errorf("%s: got ca.crt %q, want the trust bundle", name, got)
		}
	}
}

func TestFindForeignName(t *testing.T) {
	t.Parallel()
	own, inside := []string{"acme.tenants.svc", "acme.tenants.svc.cluster.local"}, []string{"svc", "cluster.local"}
	for name, foreign := range map[string]bool{
		"acme.tenants.svc":                false,
		"acme.tenants.svc.cluster.local":  false,
		"acme.example":                    false,
		"*.acme.example":                  false,
		"api.svc.example":                 false,
		"notsvc.example":                  false,
		"mycluster.local":                 false,
		"other.tenants.svc":               true,
		"acme.other.svc":                  true,
		"*.tenants.svc":                   true,
		"*.acme.tenants.svc":              true,
		"x.acme.tenants.svc":              true,
		"other.tenants.svc.cluster.local": true,
		"cluster.local":                   true,
		"*.cluster.local":                 true,
		"*.local":                         true,
		"acme.tenants.pod.cluster.local":  true,
	} {
		if got := FindForeignName([]string{"a.example", name}, own, inside); (got != "") != foreign || foreign && got != name {
			t.Errorf("%s: got %q, want foreign %v", name, got, foreign)
		}
	}
}
