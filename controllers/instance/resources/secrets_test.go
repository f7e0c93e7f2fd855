// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

var everyScope = []v1alpha1.Scope{
	"knowledge:read", "question:read", "question:write", "survey:read", "survey:write", "config:read", "config:write",
	"user:read", "user:write", "patient:read", "patient:write",
}

func withApplications(applications ...v1alpha1.Application) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) { instance.Spec.Applications = applications }
}

func TestApplications(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   Input
		want []v1alpha1.Application
	}{
		"none: one with all scopes": {
			in:   embeddedInput(),
			want: []v1alpha1.Application{{Name: "default", Scopes: everyScope}},
		},
		"no scopes: all": {
			in:   embeddedInput(withApplications(v1alpha1.Application{Name: "portal", Plan: "trial"})),
			want: []v1alpha1.Application{{Name: "portal", Scopes: everyScope, Plan: "trial"}},
		},
		"scopes as they are": {
			in: embeddedInput(withApplications(
				v1alpha1.Application{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}},
				v1alpha1.Application{Name: "reports", Scopes: []v1alpha1.Scope{"config:read"}})),
			want: []v1alpha1.Application{
				{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}},
				{Name: "reports", Scopes: []v1alpha1.Scope{"config:read"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Applications(test.in.Instance)); diff != "" {
				t.Errorf("applications (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplicationsDoNotModifySpec(t *testing.T) {
	t.Parallel()
	in := embeddedInput(withApplications(v1alpha1.Application{Name: "portal"}))
	before := in.Instance.DeepCopy()
	Applications(in.Instance)
	if diff := cmp.Diff(before, in.Instance); diff != "" {
		t.Errorf("the Instance was modified (-before +after):\n%s", diff)
	}
}

func TestBuildApplicationSecret(t *testing.T) {
	t.Parallel()
	trusted := embeddedInput()
	trusted.CABundle = []byte("authority")
	for name, test := range map[string]struct {
		in   Input
		want map[string]string
	}{
		"by a public authority":    {embeddedInput(), map[string]string{"url": "https://acme.tenants.svc", "id": "portal", "key": "s3cret"}},
		"by one of our own":        {trusted, map[string]string{"url": "https://acme.tenants.svc", "id": "portal", "key": "s3cret", "ca.crt": "authority"}},
		"at an address of its own": {embeddedInput(withPublicURL), map[string]string{"url": "https://acme.example", "id": "portal", "key": "s3cret"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := BuildApplicationSecret(test.in, v1alpha1.Application{Name: "portal"}, "s3cret")
			assertSecret(t, got, "acme-app-portal", corev1.SecretTypeOpaque)
			if diff := cmp.Diff(test.want, toStrings(got.Data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOperatorApplicationIsIncluded checks that servers have an application for the
// operator, with its own key and minimal scopes, and that Applications omits it.
func TestOperatorApplicationIsIncluded(t *testing.T) {
	t.Parallel()
	keys := map[string]pki.ApplicationKeys{"default": {Current: "k1"}, OperatorApplicationName: {Current: "k2", Additional: []string{"k1"}}}
	got := toStrings(BuildCredentialsSecret(embeddedInput(), keys, nil).Data)
	if diff := cmp.Diff(`{"id":"operator","key":"k2","keys":["k1"],"scopes":["config:read","config:write"]}`, got["operator.json"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"default"}, applicationNames(Applications(embeddedInput().Instance))); diff != "" {
		t.Errorf("user applications (-want +got):\n%s", diff)
	}
}

func applicationNames(applications []v1alpha1.Application) []string {
	names := make([]string, len(applications))
	for i, application := range applications {
		names[i] = application.Name
	}
	return names
}

func TestBuildCredentialsSecret(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   Input
		keys map[string]pki.ApplicationKeys
		want map[string]string
	}{
		"the default application": {
			in:   embeddedInput(),
			keys: map[string]pki.ApplicationKeys{"default": {Current: "k1"}},
			want: map[string]string{
				"default.json": `{"id":"default","key":"k1","scopes":["knowledge:read","question:read","question:write","survey:read","survey:write","config:read","config:write","user:read","user:write","patient:read","patient:write"]}`,
			},
		},
		"several, with scopes and plan": {
			in: embeddedInput(withApplications(
				v1alpha1.Application{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read", "survey:write"}, Plan: "trial"},
				v1alpha1.Application{Name: "reports", Scopes: []v1alpha1.Scope{"config:read"}})),
			keys: map[string]pki.ApplicationKeys{"portal": {Current: "k1"}, "reports": {Current: "k2"}},
			want: map[string]string{
				"portal.json":  `{"id":"portal","key":"k1","scopes":["survey:read","survey:write"],"plan":"trial"}`,
				"reports.json": `{"id":"reports","key":"k2","scopes":["config:read"]}`,
			},
		},
		"an application without a key opens nothing": {
			in:   embeddedInput(withApplications(v1alpha1.Application{Name: "portal"}, v1alpha1.Application{Name: "reports", Scopes: []v1alpha1.Scope{"config:read"}})),
			keys: map[string]pki.ApplicationKeys{"portal": {Current: ""}, "reports": {Current: "k2"}},
			want: map[string]string{"reports.json": `{"id":"reports","key":"k2","scopes":["config:read"]}`},
		},
		"a key without an application opens nothing": {
			in:   embeddedInput(withApplications(v1alpha1.Application{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}})),
			keys: map[string]pki.ApplicationKeys{"portal": {Current: "k1"}, "gone": {Current: "k3"}},
			want: map[string]string{"portal.json": `{"id":"portal","key":"k1","scopes":["survey:read"]}`},
		},
		"a second valid key": {
			in:   embeddedInput(withApplications(v1alpha1.Application{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}})),
			keys: map[string]pki.ApplicationKeys{"portal": {Current: "k1", Additional: []string{"k2"}}},
			want: map[string]string{"portal.json": `{"id":"portal","key":"k1","keys":["k2"],"scopes":["survey:read"]}`},
		},
		"a key of odd characters stays itself": {
			in:   embeddedInput(withApplications(v1alpha1.Application{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}})),
			keys: map[string]pki.ApplicationKeys{"portal": {Current: "a\"b\\c"}},
			want: map[string]string{"portal.json": `{"id":"portal","key":"a\"b\\c","scopes":["survey:read"]}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := BuildCredentialsSecret(test.in, test.keys, nil)
			if diff := cmp.Diff(test.want, toStrings(got.Data)); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
			assertSecret(t, got, "acme-credentials", corev1.SecretTypeOpaque)
		})
	}
}

func TestApplicationKeysRoundTrip(t *testing.T) {
	t.Parallel()
	in := embeddedInput(withApplications(v1alpha1.Application{Name: "portal", Plan: "trial"}))
	var got struct {
		ID, Key, Plan string
		Scopes        []v1alpha1.Scope
	}
	if err := json.Unmarshal(BuildCredentialsSecret(in, map[string]pki.ApplicationKeys{"portal": {Current: "<k&1>"}}, nil).Data["portal.json"], &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "portal" || got.Key != "<k&1>" || got.Plan != "trial" || !slices.Equal(got.Scopes, everyScope) {
		t.Errorf("got %+v", got)
	}
}

func TestBuildSigningKeysSecret(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"2026-11-21.pem": []byte("new"), "2026-05-21.pem": []byte("old")}
	got := BuildSigningKeysSecret(embeddedInput(), files, map[string]string{"anamnesis.dev/rotated": "1", "anamnesis.dev/retiring": ""})
	assertSecret(t, got, "acme-signing-keys", corev1.SecretTypeOpaque)
	if _, empty := got.Annotations["anamnesis.dev/retiring"]; empty || got.Annotations["anamnesis.dev/rotated"] != "1" {
		t.Errorf("got annotations %v, want only annotations with a value", got.Annotations)
	}
	if diff := cmp.Diff(files, got.Data); diff != "" {
		t.Errorf("signing keys (-want +got):\n%s", diff)
	}
}

func TestBuildTLSSecret(t *testing.T) {
	t.Parallel()
	userProvided := embeddedInput(func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "acme-tls"}}
	})
	for name, test := range map[string]struct {
		in        Input
		authority []byte
		want      map[string]string
	}{
		"issued by the operator":       {embeddedInput(), []byte("authority"), map[string]string{"tls.crt": "chain", "tls.key": "private", "ca.crt": "authority"}},
		"brought by the tenant":        {userProvided, []byte("authority"), map[string]string{"tls.crt": "chain", "tls.key": "private", "ca.crt": "authority"}},
		"brought without an authority": {userProvided, nil, map[string]string{"tls.crt": "chain", "tls.key": "private"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := BuildTLSSecret(test.in, []byte("chain"), []byte("private"), test.authority)
			assertSecret(t, got, "acme-serving-tls", corev1.SecretTypeTLS)
			if diff := cmp.Diff(test.want, toStrings(got.Data)); diff != "" {
				t.Errorf("certificate (-want +got):\n%s", diff)
			}
		})
	}
}

func toStrings(data map[string][]byte) map[string]string {
	texts := make(map[string]string, len(data))
	for name, value := range data {
		texts[name] = string(value)
	}
	return texts
}

func assertSecret(t *testing.T, secret *coreapply.SecretApplyConfiguration, name string, secretType corev1.SecretType) {
	t.Helper()
	if *secret.Name != name || *secret.Namespace != "tenants" || *secret.Type != secretType {
		t.Errorf("got Secret %s/%s of type %s, want tenants/%s of type %s", *secret.Namespace, *secret.Name, *secret.Type, name, secretType)
	}
	want := Labels(embeddedInput().Instance)
	if slices.Contains(RetainedSecretNames(embeddedInput().Instance), name) {
		maps.Copy(want, instanceUIDLabels(embeddedInput().Instance))
	}
	if diff := cmp.Diff(want, secret.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestKeysetsRoundTrip(t *testing.T) {
	t.Parallel()
	in := embeddedInput(withApplications(v1alpha1.Application{Name: "portal"}))
	for _, want := range []pki.ApplicationKeys{{Current: "k1"}, {Current: "k1", Additional: []string{"k2"}}, {}} {
		content := BuildCredentialsSecret(in, map[string]pki.ApplicationKeys{"portal": want}, nil).Data
		if diff := cmp.Diff(want, ParseApplicationKeys(content, "portal")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(pki.ApplicationKeys{}, ParseApplicationKeys(map[string][]byte{"portal.json": []byte("rubbish")}, "portal")); diff != "" {
		t.Errorf("invalid content: got keys:\n%s", diff)
	}
}

func TestKeyOverlap(t *testing.T) {
	t.Parallel()
	for want, spec := range map[time.Duration]*metav1.Duration{24 * time.Hour: nil, 0: {}, time.Hour: {Duration: time.Hour}} {
		in := embeddedInput(func(instance *v1alpha1.Instance) { instance.Spec.KeyOverlap = spec })
		if got := KeyOverlap(in.Instance); got != want {
			t.Errorf("%v: got %s, want %s", spec, got, want)
		}
	}
}
