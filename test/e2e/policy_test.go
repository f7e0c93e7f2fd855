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

// policyGrace is what the policy of this test makes of the grace period of pods,
// which the operator sends otherwise.
const policyGrace = 45

// TestMutatingPolicyIsNotFought puts a policy over a namespace that labels each
// Deployment and rewrites what the operator sends of it. The Instance becomes
// ready all the same, and nobody writes any more once it is.
func TestMutatingPolicyIsNotFought(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "policy")
	rewriteDeployments(t, namespace)
	n := apply(t, namespace, "ruled", embedded())
	deployment := n.deployment()
	if grace := deployment.Spec.Template.Spec.TerminationGracePeriodSeconds; ptr.Deref(grace, 0) != policyGrace || deployment.Labels["team"] != "blue" {
		t.Fatalf("the policy did not act: a grace period of %d s, labels %v", ptr.Deref(grace, 0), deployment.Labels)
	}
	n.comesToRest(10 * time.Second)

	before := n.podNames()
	n.edit(func(s *v1alpha1.InstanceSpec) {
		s.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
	})
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	n.comesToRest(5 * time.Second)
	if diff := cmp.Diff(before, n.podNames()); diff != "" {
		t.Errorf("an edit that concerns no pod replaced some (-before +after):\n%s", diff)
	}
}

// rewriteDeployments makes a mutating policy for the Deployments of a namespace,
// and waits until it acts.
func rewriteDeployments(t *testing.T, namespace string) {
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
					spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{terminationGracePeriodSeconds: ` + strconv.Itoa(policyGrace) + `}}}
				}`},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: namespace},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := kube.Delete(context.Background(), object); err != nil {
				t.Errorf("delete the policy: %v", err)
			}
		})
	}
	NewWithT(t).Eventually(func(g Gomega) {
		probe := probeDeployment(namespace)
		g.Expect(kube.Create(t.Context(), probe, client.DryRunAll)).To(Succeed())
		g.Expect(probe.Labels).To(HaveKeyWithValue("team", "blue"))
	}, patience, "500ms").Should(Succeed(), "the policy does not act")
}

// probeDeployment is one to show what becomes of it, and not to be kept.
func probeDeployment(namespace string) *appsv1.Deployment {
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

// deployment reads the Instance's Deployment.
func (n tenant) deployment() *appsv1.Deployment {
	n.t.Helper()
	deployment := &appsv1.Deployment{}
	if err := kube.Get(n.t.Context(), n.key, deployment); err != nil {
		n.t.Fatalf("read deployment %s: %v", n.key, err)
	}
	return deployment
}

// comesToRest fails the test unless there is a while in which nobody writes the
// Instance or what the operator made of it. What others still have to say of
// pods that just became ready may come in the first one.
func (n tenant) comesToRest(while time.Duration) {
	n.t.Helper()
	before, written := n.versions(), ""
	for range 3 {
		time.Sleep(while)
		after := n.versions()
		if written = cmp.Diff(before, after); written == "" {
			return
		}
		before = after
	}
	n.t.Errorf("it is written again and again, last within %s (-before +after):\n%s", while, written)
}

// versions are those of the Instance and of what the operator made of it.
func (n tenant) versions() map[string]string {
	n.t.Helper()
	versions := map[string]string{"the Instance": n.get().ResourceVersion}
	for kind, list := range map[string]client.ObjectList{
		"Deployment": &appsv1.DeploymentList{}, "Service": &corev1.ServiceList{}, "ConfigMap": &corev1.ConfigMapList{},
		"Secret": &corev1.SecretList{}, "ServiceAccount": &corev1.ServiceAccountList{},
		"NetworkPolicy": &networkingv1.NetworkPolicyList{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{},
	} {
		labels := client.MatchingLabels{"app.kubernetes.io/managed-by": "anamnesis-operator", "app.kubernetes.io/instance": n.key.Name}
		if err := kube.List(n.t.Context(), list, client.InNamespace(n.key.Namespace), labels); err != nil {
			n.t.Fatalf("list each %s of %s: %v", kind, n.key, err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			versions[kind+" "+object.GetName()] = object.GetResourceVersion()
			return err
		})
		if err != nil {
			n.t.Fatal(err)
		}
	}
	return versions
}
