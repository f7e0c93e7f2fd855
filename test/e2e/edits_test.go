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

// TestBadEditStalls makes an edit that no image can serve: the Instance says
// what is wrong and what would be right, and the pod that serves is left alone.
func TestBadEditStalls(t *testing.T) {
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
			n := apply(t, newNamespace(t, "bad-"+test.name), "edited", embedded())
			before := n.podNames()
			api := n.dial("h2")

			n.edit(func(s *v1alpha1.InstanceSpec) { s.Models = []v1alpha1.Model{test.model} })
			stalled := n.waitFor(v1alpha1.ConditionStalled, metav1.ConditionTrue, "")
			if !strings.Contains(stalled.Message, test.says) || !strings.Contains(stalled.Message, "service-en") {
				t.Errorf("the message names not what is wrong (%s) and what there is (service-en): %s", test.says, stalled.Message)
			}
			api.mustDiagnose(t)
			if diff := cmp.Diff(before, n.podNames()); diff != "" {
				t.Errorf("the bad edit changed the pods (-before +after):\n%s", diff)
			}

			n.edit(func(s *v1alpha1.InstanceSpec) { s.Models = []v1alpha1.Model{{ID: "service-en"}} })
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
			if diff := cmp.Diff(before, n.podNames()); diff != "" {
				t.Errorf("taking the bad edit back changed the pods (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSuspend shows that a suspended Instance is left as it is.
func TestSuspend(t *testing.T) {
	t.Parallel()
	n := apply(t, newNamespace(t, "suspend"), "paused", embedded())
	before := n.podNames()
	n.edit(func(s *v1alpha1.InstanceSpec) {
		s.Suspend = true
		s.Hibernate = true
	})
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Suspended")
	if diff := cmp.Diff(before, n.podNames()); diff != "" {
		t.Errorf("a suspended Instance's pods changed (-before +after):\n%s", diff)
	}
	n.dial("h2").mustDiagnose(t)

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Suspend = false })
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Hibernated")
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(BeEmpty())
}

// moreMemory is an edit that replaces every pod.
func moreMemory(s *v1alpha1.InstanceSpec) {
	s.Resources = &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("96Mi")},
	}
}

// waitForNewPods waits until none of the pods before is left and as many new
// ones run.
func waitForNewPods(t *testing.T, n tenant, before []string) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		after := n.podNames()
		kept := slices.ContainsFunc(after, func(name string) bool { return slices.Contains(before, name) })
		return !kept && len(after) == len(before)
	}, patience, "500ms").Should(BeTrue(), "the pods %v were not replaced", before)
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}
