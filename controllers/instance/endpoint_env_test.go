// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An Instance must not become ready before its address is reachable.

func TestReadyWaitsForEndpoint(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.endpointsPaused = true })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False EndpointUnreachable", "Reconciling=True EndpointUnreachable", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("no serving endpoint"))
	h.clockOffset.Store(int64(time.Minute)) // probing ends after a timeout, but waiting for an endpoint does not
	h.Consistently(func() []string { return h.conditionLines("acme") }, "2s").Should(gomega.ContainElement("Ready=False EndpointUnreachable"))

	deployment := mustGet(h, "acme", &appsv1.Deployment{})
	h.cluster.update(func(c *fakeCluster) {
		c.endpointsPaused = false
		if err := c.updateEndpoints(t.Context(), deployment); err != nil {
			t.Error(err)
		}
	})
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestReadyWaitsForSuccessfulProbe(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.probeErr = errors.New("connection refused") })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False EndpointUnreachable", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("connection refused"))

	h.cluster.update(func(c *fakeCluster) { c.probeErr = nil })
	h.waitForConditions("acme", "Ready=True Ready")
}

// TestReadyFallsBackToEndpointWhenProbeIsBlocked covers a cluster that blocks traffic
// from the operator to tenants.
func TestReadyFallsBackToEndpointWhenProbeIsBlocked(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.probeErr = errors.New("i/o timeout") })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False EndpointUnreachable")
	h.clockOffset.Store(int64(time.Minute))
	h.waitForConditions("acme", "Ready=True Ready")
}

// TestReadyInstanceIsNotProbedAgain checks that a settled Instance's address causes no
// requests, even after an operator restart.
func TestReadyInstanceIsNotProbedAgain(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	probes := func() (probes int) {
		h.cluster.update(func(c *fakeCluster) { probes = c.probeCount })
		return probes
	}
	before := probes()
	if before == 0 {
		t.Fatal("the Instance became ready without a probe")
	}
	// From now on, reading the endpoints would return none.
	if err := h.DeleteAllOf(t.Context(), &discoveryv1.EndpointSlice{}, client.InNamespace(h.namespace)); err != nil {
		t.Fatal(err)
	}
	h.triggerReconcile("acme")
	h.startOperator(serverImage)
	h.waitUntilIdle()
	if h.reconcileCount() == 0 {
		t.Fatal("the restarted operator did not reconcile the Instance")
	}
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(probes()).To(gomega.Equal(before))
}

func TestInstanceIsProbedAgainAfterPodsReturn(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	h.waitForConditions("acme", "Ready=True Hibernated")
	h.cluster.update(func(c *fakeCluster) { c.probeErr = errors.New("connection refused") })
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = false })
	h.waitForConditions("acme", "Ready=False EndpointUnreachable")
	h.cluster.update(func(c *fakeCluster) { c.probeErr = nil })
	h.waitForConditions("acme", "Ready=True Ready")
}
