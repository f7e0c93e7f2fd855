// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// servingInstance returns an Instance that can be called.
func servingInstance() *v1alpha1.Instance {
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	instance.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAvailable, Status: metav1.ConditionTrue}}
	return instance
}

func TestInstanceProblem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		instance *v1alpha1.Instance
		want     string
	}{
		"it serves":                 {servingInstance(), ""},
		"it does not exist":         {nil, reasonInstanceNotFound},
		"it goes":                   {modifiedInstance(servingInstance(), func(i *v1alpha1.Instance) { i.DeletionTimestamp = &metav1.Time{Time: noon} }), reasonInstanceTerminating},
		"it hibernates":             {modifiedInstance(servingInstance(), func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }), reasonInstanceHibernated},
		"it has no server yet":      {&v1alpha1.Instance{}, reasonInstanceNotReady},
		"no pod serves":             {modifiedInstance(servingInstance(), func(i *v1alpha1.Instance) { i.Status.Conditions[0].Status = metav1.ConditionFalse }), reasonInstanceNotReady},
		"it serves, but is stalled": {modifiedInstance(servingInstance(), func(i *v1alpha1.Instance) { setStalled(i) }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if found := instanceProblem("acme", test.instance); found != nil {
				got = found.Reason
				if found.Stalled {
					t.Error("problem is stalled, want waiting")
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.instance != nil && (test.want == "") == instanceReadinessChanged(event.UpdateEvent{ObjectOld: servingInstance(), ObjectNew: test.instance}) {
				t.Error("instanceReadinessChanged returned the wrong result")
			}
		})
	}
}

func modifiedInstance(instance *v1alpha1.Instance, change func(*v1alpha1.Instance)) *v1alpha1.Instance {
	change(instance)
	return instance
}

func setStalled(instance *v1alpha1.Instance) {
	instance.Status.Conditions = append(instance.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue})
}

// TestIsDeletionOverdue checks that the timeout counts while the Instance should
// respond, and not while it hibernates.
func TestIsDeletionOverdue(t *testing.T) {
	t.Parallel()
	since := func(ago time.Duration) *v1alpha1.Instance {
		instance := servingInstance()
		instance.Status.Conditions = append(instance.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, LastTransitionTime: metav1.NewTime(noon.Add(-ago))})
		return instance
	}
	for name, test := range map[string]struct {
		deleted  time.Duration
		instance *v1alpha1.Instance
		want     bool
	}{
		"just deleted":                    {time.Minute, since(time.Hour), false},
		"deleted a day ago":               {25 * time.Hour, since(1000 * time.Hour), true},
		"of another operator":             {25 * time.Hour, nil, true},
		"the Instance woke an hour ago":   {1000 * time.Hour, since(time.Hour), false},
		"the Instance woke long ago":      {1000 * time.Hour, since(25 * time.Hour), true},
		"the Instance hibernates for now": {1000 * time.Hour, modifiedInstance(since(1000*time.Hour), func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }), false},
	} {
		config := newConfig("a", receiverURL, 0)
		config.DeletionTimestamp = &metav1.Time{Time: noon.Add(-test.deleted)}
		v := &scope{config: &config, instance: test.instance, startedAt: noon}
		if got := v.isDeletionOverdue(); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
