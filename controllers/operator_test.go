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

// TestNamespaceIsDeletedWithItsInstances deletes a tenant's namespace under a
// namespaced install: the Instance must be able to leave, or the namespace never
// ends.
func TestNamespaceIsDeletedWithItsInstances(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"deleted"})
	i.start()
	i.Consistently(i.binding("deleted"), "2s").Should(gomega.BeEmpty(), "held without any Instance")
	i.createInstance("deleted")
	i.Eventually(i.cared("deleted")).Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	if got := i.binding("deleted")(); !slices.Contains(got, namespaces.Finalizer) {
		t.Errorf("the Instance has its finalizer before the RoleBinding: %v", got)
	}
	i.deleteNamespace("deleted")
	i.Eventually(i.cared("deleted")).Should(gone, "the Instance cannot leave")
	i.Eventually(i.binding("deleted")).Should(gone, "the RoleBinding stays when the last Instance went")

	i.endNamespace("deleted")
	i.createNamespace("deleted")
	i.giveRights("deleted")
	i.createInstance("deleted")
	i.Eventually(i.cared("deleted")).Should(gomega.Equal([]string{v1alpha1.Finalizer}), "the namespace is not taken up again")
}

// TestNamespaceIsDeletedWithItsWebhookConfigs, of an Instance that goes along and
// of one that is gone: they must be able to leave, and keep the rights for that.
func TestNamespaceIsDeletedWithItsWebhookConfigs(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"told"})
	operator := i.start()
	i.createInstance("told")
	for _, name := range []string{"acme", "bygone"} {
		config := &v1alpha1.WebhookConfig{
			// As it is once it was subscribed.
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "told", Finalizers: []string{v1alpha1.SubscriptionFinalizer}},
			Spec: v1alpha1.WebhookConfigSpec{
				InstanceRef: v1alpha1.InstanceReference{Name: name}, URL: "https://portal.example/",
				AuthorizationTokenSecretRef: v1alpha1.TokenReference{Name: "portal-token"},
			},
		}
		if err := i.Create(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	left := func(name string) func() []string {
		return func() []string { return i.finalizers(&v1alpha1.WebhookConfig{}, "told", name) }
	}
	i.Eventually(i.cared("told")).Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	i.Eventually(i.binding("told")).Should(gomega.Equal([]string{namespaces.Finalizer}))
	i.deleteNamespace("told")
	for _, name := range []string{"acme", "bygone"} {
		i.Eventually(left(name)).Should(gone, "WebhookConfig "+name+" cannot leave")
	}
	i.Eventually(i.cared("told")).Should(gone)
	i.Eventually(i.binding("told")).Should(gone, "the RoleBinding stays when nothing needs it any more")
	if got := operator.log.count("webhookconfigs.anamnesis.dev is forbidden"); got > 0 {
		t.Errorf("the chart's rights lack something: %d refusals in the log", got)
	}
}

// TestNamespaceIsDeletedWhileNobodyWorks is the same, with an operator that only
// starts afterwards and knows the namespace by what it may still read.
func TestNamespaceIsDeletedWhileNobodyWorks(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"forsaken"})
	t.Run("the operator works for a while", func(t *testing.T) {
		before := *i
		before.t, before.WithT = t, gomega.NewWithT(t)
		before.SetDefaultEventuallyTimeout(patience)
		before.start()
		before.createInstance("forsaken")
		before.Eventually(before.cared("forsaken")).Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	})
	i.deleteNamespace("forsaken")
	i.Consistently(i.cared("forsaken"), "1s").Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	i.start()
	i.Eventually(i.cared("forsaken")).Should(gone, "the Instance cannot leave")
	i.Eventually(i.binding("forsaken")).Should(gone, "the RoleBinding stays when the last Instance went")
}

// TestInstanceLeavesBeforeItsNamespace lets go of the RoleBinding, so that
// nothing is in the way when the namespace is deleted without an operator.
func TestInstanceLeavesBeforeItsNamespace(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"left"})
	i.start()
	i.createInstance("left")
	i.Eventually(i.binding("left")).Should(gomega.Equal([]string{namespaces.Finalizer}))
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "left"}}
	if err := i.Delete(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	i.Eventually(i.cared("left")).Should(gone)
	i.Eventually(i.binding("left")).Should(gomega.BeEmpty())
}

// TestMissingNamespaceStopsNobody lists a namespace that does not exist, and one
// that does and in which the operator has no rights.
func TestMissingNamespaceStopsNobody(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"there"}, "absent", "rightless")
	i.createNamespace("rightless")
	operator := i.start()
	i.createInstance("there")
	i.Eventually(i.cared("there")).Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	i.Eventually(operator.ready).Should(gomega.And(gomega.HavePrefix("200 "),
		gomega.ContainSubstring("[!] namespace absent: cannot be read"), gomega.ContainSubstring("[!] namespace rightless: cannot be read")))

	i.createNamespace("absent")
	for _, late := range []string{"absent", "rightless"} {
		i.createInstance(late)
		i.giveRights(late)
		i.Eventually(i.cared(late)).Should(gomega.Equal([]string{v1alpha1.Finalizer}), "namespace "+late+" is not taken up")
		i.Eventually(operator.ready).ShouldNot(gomega.ContainSubstring("namespace " + late))
		if got := operator.log.count(`"namespace":"` + late + `","trouble":`); got != 1 {
			t.Errorf("the trouble of %s was logged %d times, want once", late, got)
		}
	}
}

// TestOperatorsWorkSideBySide runs three in one namespace: two replicas of one
// take turns, and another for another namespace does not wait for them. The
// second replica is ready although it does not work, or a rollout of the operator
// would never end.
func TestOperatorsWorkSideBySide(t *testing.T) {
	t.Parallel()
	i := newInstall(t, []string{"first", "second"})
	first, second := *i, *i
	first.arguments, second.arguments = i.argumentsFor("first"), i.argumentsFor("second")
	leader := first.start()
	i.Eventually(leader.ready).Should(gomega.Equal("200 [+] caches: filled\n[+] leadership: leads\nready\n"))
	other := second.start()
	i.Eventually(other.ready).Should(gomega.Equal("200 [+] caches: filled\n[+] leadership: leads\nready\n"))
	replica := first.start()
	i.Eventually(replica.ready).Should(gomega.Equal("200 [+] caches: filled\n[+] leadership: stands by\nready\n"))
	for _, namespace := range []string{"first", "second"} {
		i.createInstance(namespace)
		i.Eventually(i.cared(namespace)).Should(gomega.Equal([]string{v1alpha1.Finalizer}))
	}
	i.Eventually(func() int { return len(i.children("first")) }).Should(gomega.BeNumerically(">=", 5), "the Instance is not made what it should be")
	for _, operator := range []*process{leader, other, replica} {
		if got := operator.log.count("forbidden"); got > 0 {
			t.Errorf("the chart's rights lack something: %d refusals in the log of one operator", got)
		}
	}
	i.Eventually(func() []string { return i.events(i.own) }).Should(gomega.ContainElement("LeaderElection"))
	i.Eventually(func() []string { return i.events("first") }).ShouldNot(gomega.BeEmpty())
}
