// SPDX-License-Identifier: Apache-2.0

package resources

import "testing"

func TestBuildService(t *testing.T) {
	t.Parallel()
	want := `
apiVersion: v1
kind: Service
metadata:
  name: acme
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/component: apiserver
  ports:
    - {name: https, protocol: TCP, appProtocol: https, port: 443, targetPort: https}
`
	for name, in := range map[string]Input{
		"embedded storage": embeddedInput(),
		"external storage": externalInput(),
		"hibernated":       embeddedInput(withHibernate),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertYAML(t, BuildService(in), want)
		})
	}
}
