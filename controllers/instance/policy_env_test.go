// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// installMutatingPolicy makes the API server change every Deployment written to a
// namespace, as a cluster policy may.
func installMutatingPolicy(h *harness) {
	h.t.Helper()
	name := h.namespace
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				},
			}}},
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: `[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example/" + object.spec.template.spec.containers[0].image.split("/")[1]}]`},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName:     name,
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": h.namespace}}},
		},
	}
	h.mustCreate(policy)
	h.mustCreate(binding)
	h.t.Cleanup(func() {
		for _, object := range []client.Object{binding, policy} {
			if err := h.Delete(context.Background(), object); err != nil {
				h.t.Errorf("deleting the policy: %v", err)
			}
		}
	})
	h.Eventually(func() string { return h.probeDeploymentImage() }).Should(gomega.HavePrefix("mirror.example/"), "the policy must be active")
}

// probeDeploymentImage returns the image of a Deployment after a dry-run write.
func (h *harness) probeDeploymentImage() string {
	h.t.Helper()
	labels := map[string]string{"probe": "policy"}
	probe := &appsv1.Deployment{ObjectMeta: objectMeta(h.namespace, "probe"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: serverImage}}},
		},
	}}
	if err := h.Create(h.t.Context(), probe, client.DryRunAll); err != nil {
		h.t.Fatal(err)
	}
	return probe.Spec.Template.Spec.Containers[0].Image
}

// TestMutatingPolicyIsReportedAsDrift checks that an Instance becomes ready, reports the
// overridden fields, and then causes no writes, although a policy rewrites its image. A
// restarted operator, which has no record of the drift, sends one request.
func TestMutatingPolicyIsReportedAsDrift(t *testing.T) {
	h := newHarness(t)
	installMutatingPolicy(h)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready", "Drifted=True FieldsOverridden")
	h.Expect(h.conditionMessage("acme", "Drifted")).To(gomega.ContainSubstring("image"))
	before := mustGet(h, "acme", &appsv1.Deployment{})
	h.Expect(before.Spec.Template.Spec.Containers[0].Image).To(gomega.HavePrefix("mirror.example/"))
	h.waitUntilIdle()

	writes := len(h.writes.all())
	h.startOperator(serverImage)
	h.waitForConditions("acme", "Ready=True Ready", "Drifted=True FieldsOverridden")
	h.waitUntilIdle()
	if further := h.writes.all()[writes:]; len(further) > 1 {
		t.Errorf("a restarted operator wrote %v, want at most one write", further)
	}
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec))
}
