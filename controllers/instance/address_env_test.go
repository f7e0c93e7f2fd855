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

// Ready is a promise to clients: the address answers.

func TestReadyWaitsForAnEndpoint(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.unserved = true })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False AddressNotAnswering", "Reconciling=True AddressNotAnswering", "Available=True Serving")
	p.Expect(p.message("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("no endpoint"))
	p.ahead.Store(int64(time.Minute)) // the address is not called for ever, but an endpoint is waited for
	p.Consistently(func() []string { return p.state("acme") }, "2s").Should(gomega.ContainElement("Ready=False AddressNotAnswering"))

	deployment := read(p, "acme", &appsv1.Deployment{})
	p.world.change(func(w *world) {
		w.unserved = false
		if err := w.leadService(t.Context(), deployment); err != nil {
			t.Error(err)
		}
	})
	p.reaches("acme", "Ready=True Ready")
}

func TestReadyWaitsUntilTheAddressAnswers(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.refused = errors.New("connection refused") })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False AddressNotAnswering", "Available=True Serving")
	p.Expect(p.message("acme", v1alpha1.ConditionReady)).To(gomega.ContainSubstring("connection refused"))

	p.world.change(func(w *world) { w.refused = nil })
	p.reaches("acme", "Ready=True Ready")
}

// TestAddressThatMayNotBeCalledIsReadyByItsEndpoint: a cluster may forbid the
// operator to reach tenants.
func TestAddressThatMayNotBeCalledIsReadyByItsEndpoint(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.refused = errors.New("i/o timeout") })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False AddressNotAnswering")
	p.ahead.Store(int64(time.Minute))
	p.reaches("acme", "Ready=True Ready")
}

// TestReadyInstanceIsNotCalledAgain: the address of one that is settled costs no
// request, nor does it when the operator begins anew.
func TestReadyInstanceIsNotCalledAgain(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	calls := func() (calls int) {
		p.world.change(func(w *world) { calls = w.calls })
		return calls
	}
	before := calls()
	if before == 0 {
		t.Fatal("it became ready without a call: nothing is counted")
	}
	// Whoever looks at the endpoints finds none.
	if err := p.DeleteAllOf(t.Context(), &discoveryv1.EndpointSlice{}, client.InNamespace(p.namespace)); err != nil {
		t.Fatal(err)
	}
	p.visitAgain("acme")
	p.startOperator(serverImage)
	p.settle()
	if p.visits() == 0 {
		t.Fatal("the operator that began anew did not visit it")
	}
	p.reaches("acme", "Ready=True Ready")
	p.Expect(calls()).To(gomega.Equal(before))
}

func TestAddressIsCalledAgainAfterThePodsWereAway(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	p.reaches("acme", "Ready=True Hibernated")
	p.world.change(func(w *world) { w.refused = errors.New("connection refused") })
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = false })
	p.reaches("acme", "Ready=False AddressNotAnswering")
	p.world.change(func(w *world) { w.refused = nil })
	p.reaches("acme", "Ready=True Ready")
}
