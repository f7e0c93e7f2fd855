// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestInvalidSpecStalls applies an edit that no image can serve: the Instance reports
// the problem and its remedy, and the running pod is unchanged.
func TestInvalidSpecStalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		model v1alpha1.Model
		says  string
	}{
		{"version", v1alpha1.Model{ID: "service-en", Version: "1999-01-01T00:00:00Z"}, "1999-01-01T00:00:00Z"},
		{"model", v1alpha1.Model{ID: "service-tlh"}, "service-tlh"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := createReadyInstance(t, newNamespace(t, "bad-"+test.name), "edited", embeddedSpec())
			before := n.podNames()
			api := n.newAPIClient("h2")

			n.edit(func(s *v1alpha1.InstanceSpec) { s.Models = []v1alpha1.Model{test.model} })
			stalled := n.waitFor(v1alpha1.ConditionStalled, metav1.ConditionTrue, "")
			if !strings.Contains(stalled.Message, test.says) || !strings.Contains(stalled.Message, "service-en") {
				t.Errorf("message does not contain the cause (%s) and the available model (service-en): %s", test.says, stalled.Message)
			}
			api.mustDiagnose(t)
			if diff := cmp.Diff(before, n.podNames()); diff != "" {
				t.Errorf("invalid edit changed the pods (-before +after):\n%s", diff)
			}

			n.edit(func(s *v1alpha1.InstanceSpec) { s.Models = []v1alpha1.Model{{ID: "service-en"}} })
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
			if diff := cmp.Diff(before, n.podNames()); diff != "" {
				t.Errorf("reverting the invalid edit changed the pods (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSuspendedInstanceIsUnchanged verifies that a suspended Instance is not
// reconciled.
func TestSuspendedInstanceIsUnchanged(t *testing.T) {
	t.Parallel()
	n := createReadyInstance(t, newNamespace(t, "suspend"), "paused", embeddedSpec())
	before := n.podNames()
	n.edit(func(s *v1alpha1.InstanceSpec) {
		s.Suspend = true
		s.Hibernate = true
	})
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Suspended")
	if diff := cmp.Diff(before, n.podNames()); diff != "" {
		t.Errorf("pods of a suspended Instance changed (-before +after):\n%s", diff)
	}
	n.newAPIClient("h2").mustDiagnose(t)

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Suspend = false })
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Hibernated")
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(BeEmpty())
}

// increaseMemory is an edit that replaces every pod.
func increaseMemory(s *v1alpha1.InstanceSpec) {
	s.Resources = &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("96Mi")},
	}
}

// waitForNewPods waits until all previous pods are gone and the same number of new
// ones run.
func waitForNewPods(t *testing.T, n tenant, before []string) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		after := n.podNames()
		kept := slices.ContainsFunc(after, func(name string) bool { return slices.Contains(before, name) })
		return !kept && len(after) == len(before)
	}, defaultTimeout, "500ms").Should(BeTrue(), "the pods %v were not replaced", before)
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}
