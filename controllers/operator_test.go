// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

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
