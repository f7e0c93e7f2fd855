// SPDX-License-Identifier: Apache-2.0

package resources

import "testing"

func TestBuildPodDisruptionBudget(t *testing.T) {
	t.Parallel()
	want := `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: acme
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app.kubernetes.io/name: anamnesis
      app.kubernetes.io/instance: acme
      app.kubernetes.io/component: apiserver
`
	for name, test := range map[string]struct {
		in     Input
		wanted bool
	}{
		"two replicas":             {externalInput(), true},
		"many replicas":            {externalInput(withReplicas(9)), true},
		"one replica":              {externalInput(withReplicas(1)), false},
		"embedded storage":         {embeddedInput(), false},
		"two replicas, hibernated": {externalInput(withHibernate), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := BuildPodDisruptionBudget(test.in)
			if !test.wanted {
				if budget != nil {
					t.Errorf("got budget %v, want nil", toMap(t, budget))
				}
				return
			}
			assertYAML(t, budget, want)
		})
	}
}
