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

// Ready promises clients that the address answers.

func TestReadyWaitsForEndpoint(t *testing.T) {
	p := newHarness(t)
	p.cluster.update(func(w *fakeCluster) { w.endpointsPaused = true })
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False EndpointUnreachable", "Reconciling=True EndpointUnreachable", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("no serving endpoint"))
	p.clockOffset.Store(int64(time.Minute)) // probing ends after a timeout, but waiting for an endpoint does not
	p.Consistently(func() []string { return p.conditionLines("acme") }, "2s").Should(gomega.ContainElement("Ready=False EndpointUnreachable"))

	deployment := mustGet(p, "acme", &appsv1.Deployment{})
	p.cluster.update(func(w *fakeCluster) {
		w.endpointsPaused = false
		if err := w.updateEndpoints(t.Context(), deployment); err != nil {
			t.Error(err)
		}
	})
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestReadyWaitsForSuccessfulProbe(t *testing.T) {
	p := newHarness(t)
	p.cluster.update(func(w *fakeCluster) { w.probeErr = errors.New("connection refused") })
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False EndpointUnreachable", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("connection refused"))

	p.cluster.update(func(w *fakeCluster) { w.probeErr = nil })
	p.waitForConditions("acme", "Ready=True Ready")
}

// TestReadyFallsBackToEndpointWhenProbeIsBlocked covers a cluster that blocks traffic
// from the operator to tenants.
func TestReadyFallsBackToEndpointWhenProbeIsBlocked(t *testing.T) {
	p := newHarness(t)
	p.cluster.update(func(w *fakeCluster) { w.probeErr = errors.New("i/o timeout") })
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False EndpointUnreachable")
	p.clockOffset.Store(int64(time.Minute))
	p.waitForConditions("acme", "Ready=True Ready")
}

// TestReadyInstanceIsNotProbedAgain checks that a settled Instance's address causes no
// requests, even after an operator restart.
func TestReadyInstanceIsNotProbedAgain(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.waitUntilIdle()
	calls := func() (calls int) {
		p.cluster.update(func(w *fakeCluster) { calls = w.probeCount })
		return calls
	}
	before := calls()
	if before == 0 {
		t.Fatal("it became ready without a call: nothing is counted")
	}
	// A read of the endpoints would return none.
	if err := p.DeleteAllOf(t.Context(), &discoveryv1.EndpointSlice{}, client.InNamespace(p.namespace)); err != nil {
		t.Fatal(err)
	}
	p.triggerReconcile("acme")
	p.startOperator(serverImage)
	p.waitUntilIdle()
	if p.reconcileCount() == 0 {
		t.Fatal("the restarted operator did not reconcile the Instance")
	}
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(calls()).To(gomega.Equal(before))
}

func TestInstanceIsProbedAgainAfterPodsReturn(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	p.waitForConditions("acme", "Ready=True Hibernated")
	p.cluster.update(func(w *fakeCluster) { w.probeErr = errors.New("connection refused") })
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = false })
	p.waitForConditions("acme", "Ready=False EndpointUnreachable")
	p.cluster.update(func(w *fakeCluster) { w.probeErr = nil })
	p.waitForConditions("acme", "Ready=True Ready")
}
