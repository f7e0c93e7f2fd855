// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAdminPortIsRestricted probes an Instance from two pods: one without labels, and
// one labeled for admin access, as monitoring is. Only the second reaches the admin
// port.
func TestAdminPortIsRestricted(t *testing.T) {
	t.Parallel()
	image, err := cluster.BuildAndLoadImage(t.Context(), "probe", "./test/e2e/probe")
	if err != nil {
		t.Fatal(err)
	}
	n := createReadyInstance(t, newNamespace(t, "network"), "walled", embeddedSpec())
	pod := n.pods()[0]
	tenantPort, adminPort := pod.Status.PodIP+":8443", pod.Status.PodIP+":8081"

	for _, test := range []struct {
		name   string
		labels map[string]string
		want   map[string]string
	}{
		{"unlisted", nil, map[string]string{tenantPort: "open", adminPort: "closed"}},
		{"monitoring", map[string]string{"anamnesis.dev/admin-access": "true"}, map[string]string{tenantPort: "open", adminPort: "open"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runProbe(t, n.key.Namespace, test.name, image, test.labels, tenantPort, adminPort)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what the pod reaches (-want +got):\n%s", diff)
			}
		})
	}
}

// runProbe runs a pod that tries to connect to the addresses, and returns the result by
// address.
func runProbe(t *testing.T, namespace, name, image string, labels map[string]string, addresses ...string) map[string]string {
	t.Helper()
	pod := newTestPod(namespace, name, image, labels, addresses...)
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PROBE_AFTER", Value: "5s"}}
	if err := kubeClient.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() (corev1.PodPhase, error) {
		err := kubeClient.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase, err
	}, defaultTimeout, "500ms").Should(Equal(corev1.PodSucceeded))
	logs, err := cluster.Kubectl(t.Context(), "logs", "--namespace", namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(logs) {
		address, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[address] = state
	}
	return found
}
