// SPDX-License-Identifier: Apache-2.0

package resources

import "testing"

func TestBuildServiceAccount(t *testing.T) {
	t.Parallel()
	want := `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: acme
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
automountServiceAccountToken: false
`
	for name, in := range map[string]Input{
		"embedded storage": embeddedInput(),
		"external storage": externalInput(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertYAML(t, BuildServiceAccount(in), want)
		})
	}
}
