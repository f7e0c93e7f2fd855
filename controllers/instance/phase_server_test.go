// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// A failingReader fails to list Instances.
type failingReader struct{ client.Reader }

var errCacheUnavailable = errors.New("the cache is unavailable")

func (failingReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errCacheUnavailable
}

// TestNothingIsCreatedWithoutServerDecision checks that a reconcile ends if the server
// build cannot be selected, because all other objects depend on it.
func TestNothingIsCreatedWithoutServerDecision(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	deps := &dependencies{ServerRollout: wave.New(failingReader{}, v1alpha1.ServerBuild{Image: "server:1", Revision: 1}, wave.Options{Limit: 1})}
	s := newScope(deps, instance, inventory.New(inventory.Clients{}, instance), noon)
	failures := s.Run(t.Context())
	if len(failures) != 1 || !errors.Is(failures[0], errCacheUnavailable) {
		t.Errorf("got failures %v, want only the failed server decision", failures)
	}
	s.SetServerCondition(t.Context())
	if condition := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionServerCurrent); condition != nil {
		t.Errorf("got condition %+v without a decision, want none", condition)
	}
}

// An emptyReader lists no Instances.
type emptyReader struct{ client.Reader }

func (emptyReader) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestReconcilingRestartsOnServerChange checks that a new server build resets the
// Instance's Reconciling time and clears the conditions about the previous build.
// Otherwise the server rollout would consider the Instance stuck or failed.
func TestReconcilingRestartsOnServerChange(t *testing.T) {
	t.Parallel()
	target := v1alpha1.ServerBuild{Image: "server:2", Revision: 1}
	for name, test := range map[string]struct {
		image    string
		restarts bool
	}{
		"the same":     {"", false},
		"another":      {"server:3", true},
		"the same one": {"server:2", false},
	} {
		instance := &v1alpha1.Instance{}
		instance.Status.Server = target
		instance.Spec.Rollout = &v1alpha1.RolloutSpec{Image: test.image}
		for _, kind := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionServerCurrent} {
			setInstanceCondition(instance, noon, kind, metav1.ConditionTrue, "Before", "")
		}
		s := newScope(&dependencies{ServerRollout: wave.New(emptyReader{}, target, wave.Options{Limit: 1})}, instance, inventory.New(inventory.Clients{}, instance), noon)
		if err := s.pinServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		restarted := len(instance.Status.Conditions) == 0
		if len(instance.Status.Conditions) == 1 {
			t.Errorf("%s: only one of the two conditions was removed", name)
		}
		if restarted != test.restarts || (instance.Status.Server != target) != test.restarts || s.input.Server != instance.Status.Server {
			t.Errorf("%s: got server %v, restarted %v", name, instance.Status.Server, restarted)
		}
	}
}
