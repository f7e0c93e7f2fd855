// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// An unreadable cluster does not say which Instances there are.
type unreadable struct{ client.Reader }

var errUnreadable = errors.New("the cache is not there")

func (unreadable) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errUnreadable
}

// TestNothingIsMadeWithoutAServer shows that a visit ends when no server can be
// chosen: whatever else was made would be made for none.
func TestNothingIsMadeWithoutAServer(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	means := &Means{Wave: wave.New(unreadable{}, v1alpha1.ServerPin{Image: "server:1", Revision: 1}, wave.Options{Limit: 1})}
	v := NewVisit(means, instance, children.None(children.Access{}, instance), noon)
	failures := v.Run(t.Context())
	if len(failures) != 1 || !errors.Is(failures[0], errUnreadable) {
		t.Errorf("got %v, want only that no server was chosen", failures)
	}
	v.TellServer(t.Context())
	if told := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionServerCurrent); told != nil {
		t.Errorf("what is not known is told as %+v", told)
	}
}

// An empty cluster has no Instances.
type empty struct{ client.Reader }

func (empty) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestWorkBeginsAnewWithAnotherServer shows that the operator's work on an
// Instance counts from when that was given another server, and that what it said
// of the one before is over: the wave would take it for one that waits for ever,
// or has failed, else.
func TestWorkBeginsAnewWithAnotherServer(t *testing.T) {
	t.Parallel()
	target := v1alpha1.ServerPin{Image: "server:2", Revision: 1}
	for name, test := range map[string]struct {
		image  string
		begins bool
	}{
		"the same":     {"", false},
		"another":      {"server:3", true},
		"the same one": {"server:2", false},
	} {
		instance := &v1alpha1.Instance{}
		instance.Status.Server = target
		instance.Spec.Rollout = &v1alpha1.RolloutSpec{Image: test.image}
		for _, kind := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionServerCurrent} {
			status.Mark(instance, noon, kind, metav1.ConditionTrue, "Before", "")
		}
		v := NewVisit(&Means{Wave: wave.New(empty{}, target, wave.Options{Limit: 1})}, instance, children.None(children.Access{}, instance), noon)
		if err := v.pinServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		begins := len(instance.Status.Conditions) == 0
		if len(instance.Status.Conditions) == 1 {
			t.Errorf("%s: only one of both is over", name)
		}
		if begins != test.begins || (instance.Status.Server != target) != test.begins || v.input.Server != instance.Status.Server {
			t.Errorf("%s: with %v the work begins anew: %v", name, instance.Status.Server, begins)
		}
	}
}
