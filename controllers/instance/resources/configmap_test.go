// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const configMetadata = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: acme-config
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
`

func TestBuildConfigMap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   Input
		want string
	}{
		"no web page may call by default": {
			in: embeddedInput(),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      uid: 6f1f7a53
`,
		},
		"webhooks, and for how long they are remembered": {
			in: withBlockedWebhookAPI(embeddedInput(withWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true, AllowedPorts: []int32{443, 8443}}))),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      uid: 6f1f7a53
    retention:
      deliveries: 7d
    webhooks:
      allowPrivateAddresses: true
      allowedPorts:
      - 443
      - 8443
      ca: |
        -----BEGIN CERTIFICATE-----
`,
		},
		"how pages look, as far as that is good": {
			in: embeddedInput(withPage),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      uid: 6f1f7a53
    page:
      crisisLine: 116 123
      emergencyNumber: "112"
      helpURL: tel:+49-30-1234567
      name: Acme Health
      privacyURL: https://acme.example/privacy
`,
		},
		"how pages look, with all": {
			in: withBranding(embeddedInput(withPage)),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      uid: 6f1f7a53
    page:
      colors:
        accent: '#767676'
        primary: '#1d1d1d'
      crisisLine: 116 123
      emergencyNumber: "112"
      helpURL: tel:+49-30-1234567
      logo: data:image/png;base64,iVBORw0KGgo=
      name: Acme Health
      privacyURL: https://acme.example/privacy
`,
		},
		"origins in the order of the spec": {
			in: embeddedInput(func(instance *v1alpha1.Instance) {
				instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example", "http://localhost:3000", "*"}}
			}),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins:
      - https://portal.example
      - http://localhost:3000
      - '*'
    instance:
      uid: 6f1f7a53
`,
		},
		"plans with their limits, also none and nothing at all": {
			in: embeddedInput(func(instance *v1alpha1.Instance) {
				instance.Spec.Plans = []v1alpha1.Plan{
					{Name: "trial", MonthlyCalls: v1alpha1.MonthlyCalls{Explain: new(int64(0)), Triage: new(int64(5_000_000_000))}},
					{Name: "gold"},
				}
			}),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      uid: 6f1f7a53
    plans:
      gold: {}
      trial:
        explain: 0
        triage: 5000000000
`,
		},
		"an address, proxies, and what it takes up": {
			in: embeddedInput(withPublicURL),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    instance:
      adopts:
      - 0d7c1e52
      uid: 6f1f7a53
    proxies:
    - 10.0.0.0/8
    - 2001:db8::/32
    url: https://acme.example
`,
		},
		"features, off as well as on": {
			in: embeddedInput(func(instance *v1alpha1.Instance) {
				instance.Spec.Features = &v1alpha1.Features{Prefill: &v1alpha1.Prefill{Enabled: true, Confirm: true}, PatientResults: new(false)}
			}),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    features:
      patientResults: false
      prefill:
        confirm: true
        enabled: true
    instance:
      uid: 6f1f7a53
`,
		},
		"earlier servers get the settings of the spec too": {
			in: withRevision(3, embeddedInput(withPublicURL)),
			want: configMetadata + `
data:
  config.yaml: |
    cors:
      allowedOrigins: []
    proxies:
    - 10.0.0.0/8
    - 2001:db8::/32
    url: https://acme.example
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertYAML(t, BuildConfigMap(test.in), test.want)
		})
	}
}

func withRevision(revision int32, in Input) Input {
	in.Server.Revision = revision
	return in
}
