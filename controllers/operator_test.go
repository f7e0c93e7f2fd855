// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/namespaces"
)

// TestNamespaceDeletionRemovesInstances deletes a tenant's namespace in a namespaced
// installation. The Instance's finalizer must be removed, or the namespace stays
// terminating.
func TestNamespaceDeletionRemovesInstances(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"deleted"})
	i.startOperator()
	i.Consistently(i.roleBindingFinalizers("deleted"), "2s").Should(gomega.BeEmpty(), "held without any Instance")
	i.createInstance("deleted")
	i.Eventually(i.instanceFinalizers("deleted")).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	if got := i.roleBindingFinalizers("deleted")(); !slices.Contains(got, namespaces.RoleBindingFinalizer) {
		t.Errorf("Instance has its finalizer before the RoleBinding: %v", got)
	}
	i.deleteNamespace("deleted")
	i.Eventually(i.instanceFinalizers("deleted")).Should(beNotFound, "the Instance cannot leave")
	i.Eventually(i.roleBindingFinalizers("deleted")).Should(beNotFound, "the RoleBinding stays when the last Instance went")

	i.finalizeNamespace("deleted")
	i.createNamespace("deleted")
	i.grantAccess("deleted")
	i.createInstance("deleted")
	i.Eventually(i.instanceFinalizers("deleted")).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}), "the namespace is not taken up again")
}

// TestNamespaceDeletionRemovesWebhookConfigs covers WebhookConfigs of an Instance that is
// deleted at the same time, and of an Instance that does not exist. The operator must keep
// its permissions until it has removed the finalizers.
func TestNamespaceDeletionRemovesWebhookConfigs(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"told"})
	operator := i.startOperator()
	i.createInstance("told")
	for _, name := range []string{"acme", "bygone"} {
		config := &v1alpha1.WebhookConfig{
			// The state after subscribing.
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "told", Finalizers: []string{v1alpha1.SubscriptionFinalizer}},
			Spec: v1alpha1.WebhookConfigSpec{
				InstanceRef: v1alpha1.InstanceReference{Name: name}, URL: "https://portal.example/",
				AuthorizationTokenSecretRef: v1alpha1.TokenSecretReference{Name: "portal-token"},
			},
		}
		if err := i.Create(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	left := func(name string) func() []string {
		return func() []string { return i.finalizers(&v1alpha1.WebhookConfig{}, "told", name) }
	}
	i.Eventually(i.instanceFinalizers("told")).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	i.Eventually(i.roleBindingFinalizers("told")).Should(gomega.Equal([]string{namespaces.RoleBindingFinalizer}))
	i.deleteNamespace("told")
	for _, name := range []string{"acme", "bygone"} {
		i.Eventually(left(name)).Should(beNotFound, "WebhookConfig "+name+" cannot leave")
	}
	i.Eventually(i.instanceFinalizers("told")).Should(beNotFound)
	i.Eventually(i.roleBindingFinalizers("told")).Should(beNotFound, "the RoleBinding stays when nothing needs it any more")
	if got := operator.log.countOccurrences("webhookconfigs.anamnesis.dev is forbidden"); got > 0 {
		t.Errorf("chart roles lack a permission: found %d forbidden requests in the log", got)
	}
}

// TestNamespaceDeletionCompletesAfterOperatorRestart checks that an operator that starts
// only after the deletion of a namespace can still read the namespace and complete the
// deletion.
func TestNamespaceDeletionCompletesAfterOperatorRestart(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"forsaken"})
	t.Run("operator runs", func(t *testing.T) {
		before := *i
		before.t, before.WithT = t, gomega.NewWithT(t)
		before.SetDefaultEventuallyTimeout(eventuallyTimeout)
		before.startOperator()
		before.createInstance("forsaken")
		before.Eventually(before.instanceFinalizers("forsaken")).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	})
	i.deleteNamespace("forsaken")
	i.Consistently(i.instanceFinalizers("forsaken"), "1s").Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	i.startOperator()
	i.Eventually(i.instanceFinalizers("forsaken")).Should(beNotFound, "the Instance cannot leave")
	i.Eventually(i.roleBindingFinalizers("forsaken")).Should(beNotFound, "the RoleBinding stays when the last Instance went")
}

// TestRoleBindingIsReleasedAfterLastInstance checks that the finalizer is removed from
// the RoleBinding, so that nothing blocks the deletion of the namespace without an
// operator.
func TestRoleBindingIsReleasedAfterLastInstance(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"left"})
	i.startOperator()
	i.createInstance("left")
	i.Eventually(i.roleBindingFinalizers("left")).Should(gomega.Equal([]string{namespaces.RoleBindingFinalizer}))
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "left"}}
	if err := i.Delete(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	i.Eventually(i.instanceFinalizers("left")).Should(beNotFound)
	i.Eventually(i.roleBindingFinalizers("left")).Should(gomega.BeEmpty())
}

// TestMissingNamespaceDoesNotBlockOthers watches a namespace that does not exist and one
// in which the operator has no permissions.
func TestMissingNamespaceDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"there"}, "absent", "rightless")
	i.createNamespace("rightless")
	operator := i.startOperator()
	i.createInstance("there")
	i.Eventually(i.instanceFinalizers("there")).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	i.Eventually(operator.readyz).Should(gomega.And(gomega.HavePrefix("200 "),
		gomega.ContainSubstring("[!] namespace absent: not accessible"), gomega.ContainSubstring("[!] namespace rightless: not accessible")))

	i.createNamespace("absent")
	for _, late := range []string{"absent", "rightless"} {
		i.createInstance(late)
		i.grantAccess(late)
		i.Eventually(i.instanceFinalizers(late)).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}), "namespace "+late+" is not taken up")
		i.Eventually(operator.readyz).ShouldNot(gomega.ContainSubstring("namespace " + late))
		if got := operator.log.countOccurrences(`permissions","namespace":"` + late + `"`); got != 1 {
			t.Errorf("problem of namespace %s was logged %d times, want once", late, got)
		}
	}
}

// TestOperatorsRunSideBySide runs three operators in one namespace. Two replicas of one
// operator share a lease; an operator for another namespace does not wait for them. The
// standby replica must be ready, or a rollout of the operator would never complete.
func TestOperatorsRunSideBySide(t *testing.T) {
	t.Parallel()
	i := newChartRelease(t, []string{"first", "second"})
	first, second := *i, *i
	first.arguments, second.arguments = i.argumentsFor("first"), i.argumentsFor("second")
	leader := first.startOperator()
	i.Eventually(leader.readyz).Should(gomega.Equal("200 [+] caches: synced\n[+] leadership: leader\nready\n"))
	b := second.startOperator()
	i.Eventually(b.readyz).Should(gomega.Equal("200 [+] caches: synced\n[+] leadership: leader\nready\n"))
	replica := first.startOperator()
	i.Eventually(replica.readyz).Should(gomega.Equal("200 [+] caches: synced\n[+] leadership: standby\nready\n"))
	for _, namespace := range []string{"first", "second"} {
		i.createInstance(namespace)
		i.Eventually(i.instanceFinalizers(namespace)).Should(gomega.Equal([]string{v1alpha1.DataFinalizer}))
	}
	i.Eventually(func() int { return len(i.ownedObjects("first")) }).Should(gomega.BeNumerically(">=", 5), "the Instance is not made what it should be")
	for _, operator := range []*operatorProcess{leader, b, replica} {
		if got := operator.log.countOccurrences("forbidden"); got > 0 {
			t.Errorf("chart roles lack a permission: found %d forbidden requests in the log of an operator", got)
		}
	}
	i.Eventually(func() []string { return i.eventReasons(i.operatorNamespace) }).Should(gomega.ContainElement("LeaderElection"))
	i.Eventually(func() []string { return i.eventReasons("first") }).ShouldNot(gomega.BeEmpty())
}
