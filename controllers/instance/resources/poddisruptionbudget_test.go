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
		"two replicas":             {external(), true},
		"many replicas":            {external(replicated(9)), true},
		"one replica":              {external(replicated(1)), false},
		"embedded storage":         {embedded(), false},
		"two replicas, hibernated": {external(hibernated), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := BuildPodDisruptionBudget(test.in)
			if !test.wanted {
				if budget != nil {
					t.Errorf("got a budget that could only forbid: %v", fields(t, budget))
				}
				return
			}
			wantYAML(t, budget, want)
		})
	}
}
