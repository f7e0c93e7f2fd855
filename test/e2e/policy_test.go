// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// policyGracePeriodSeconds is the termination grace period that the mutating policy
// sets. It differs from the operator's value.
const policyGracePeriodSeconds = 45

// TestMutatingPolicyCausesNoWriteLoop installs a policy that labels each Deployment of a
// namespace and overrides a field that the operator applies. The Instance must become
// ready anyway, and all writes must stop afterward.
func TestMutatingPolicyCausesNoWriteLoop(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "policy")
	createMutatingPolicy(t, namespace)
	n := createReadyInstance(t, namespace, "ruled", embeddedSpec())
	deployment := n.deployment()
	if grace := deployment.Spec.Template.Spec.TerminationGracePeriodSeconds; ptr.Deref(grace, 0) != policyGracePeriodSeconds || deployment.Labels["team"] != "blue" {
		t.Fatalf("policy did not apply: got grace period %d s, labels %v", ptr.Deref(grace, 0), deployment.Labels)
	}
	n.mustSettle(10 * time.Second)

	before := n.podNames()
	n.edit(func(s *v1alpha1.InstanceSpec) {
		s.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
	})
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	n.mustSettle(5 * time.Second)
	if diff := cmp.Diff(before, n.podNames()); diff != "" {
		t.Errorf("edit replaced pods that it should not affect (-before +after):\n%s", diff)
	}
}

// createMutatingPolicy creates a mutating policy for the Deployments of a namespace and
// waits until it takes effect.
func createMutatingPolicy(t *testing.T, namespace string) {
	t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}},
			},
			FailurePolicy:      ptr.To(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: `Object{
					metadata: Object.metadata{labels: Object.metadata.labels{team: "blue"}},
					spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{terminationGracePeriodSeconds: ` + strconv.Itoa(policyGracePeriodSeconds) + `}}}
				}`},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: namespace},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := kubeClient.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := kubeClient.Delete(context.Background(), object); err != nil {
				t.Errorf("deleting the policy: %v", err)
			}
		})
	}
	NewWithT(t).Eventually(func(g Gomega) {
		probe := newProbeDeployment(namespace)
		g.Expect(kubeClient.Create(t.Context(), probe, client.DryRunAll)).To(Succeed())
		g.Expect(probe.Labels).To(HaveKeyWithValue("team", "blue"))
	}, defaultTimeout, "500ms").Should(Succeed(), "the policy does not act")
}

// newProbeDeployment returns a Deployment for a dry run, which shows the policy's
// effect.
func newProbeDeployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "probe"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
			},
		},
	}
}

// deployment returns the Instance's Deployment.
func (tn tenant) deployment() *appsv1.Deployment {
	tn.t.Helper()
	deployment := &appsv1.Deployment{}
	if err := kubeClient.Get(tn.t.Context(), tn.key, deployment); err != nil {
		tn.t.Fatalf("reading Deployment %s: %v", tn.key, err)
	}
	return deployment
}

// mustSettle fails the test unless a period of length while passes without writes to the
// Instance or its owned objects. It tries up to three periods, because status updates of
// newly ready pods may arrive in the first one.
func (tn tenant) mustSettle(while time.Duration) {
	tn.t.Helper()
	before, written := tn.resourceVersions(), ""
	for range 3 {
		time.Sleep(while)
		after := tn.resourceVersions()
		if written = cmp.Diff(before, after); written == "" {
			return
		}
		before = after
	}
	tn.t.Errorf("objects are still being written within %s (-before +after):\n%s", while, written)
}

// resourceVersions returns the resource versions of the Instance and its owned objects.
func (tn tenant) resourceVersions() map[string]string {
	tn.t.Helper()
	versions := map[string]string{"the Instance": tn.get().ResourceVersion}
	for kind, list := range map[string]client.ObjectList{
		"Deployment": &appsv1.DeploymentList{}, "Service": &corev1.ServiceList{}, "ConfigMap": &corev1.ConfigMapList{},
		"Secret": &corev1.SecretList{}, "ServiceAccount": &corev1.ServiceAccountList{},
		"NetworkPolicy": &networkingv1.NetworkPolicyList{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{},
	} {
		labels := client.MatchingLabels{"app.kubernetes.io/managed-by": "anamnesis-operator", "app.kubernetes.io/instance": tn.key.Name}
		if err := kubeClient.List(tn.t.Context(), list, client.InNamespace(tn.key.Namespace), labels); err != nil {
			tn.t.Fatalf("listing %s objects of %s: %v", kind, tn.key, err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			versions[kind+" "+object.GetName()] = object.GetResourceVersion()
			return err
		})
		if err != nil {
			tn.t.Fatal(err)
		}
	}
	return versions
}
