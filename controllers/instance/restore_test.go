// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Restored backups often lack the status. The operator must rebuild the status and change
// nothing else.

// settledInstances maps names of Instances to functions that create and update them and to
// their expected conditions.
var settledInstances = map[string]struct {
	build      func(*harness, string) *v1alpha1.Instance
	update     func(*v1alpha1.Instance)
	conditions []string
}{
	"embedded":   {build: (*harness).newInstance, conditions: []string{"Ready=True Ready"}},
	"external":   {build: (*harness).newExternalInstance, conditions: []string{"Ready=True Ready"}},
	"pinned":     {build: (*harness).newExternalInstance, update: func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = newestVersion }, conditions: []string{"Ready=True Ready"}},
	"hibernated": {build: (*harness).newInstance, update: func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }, conditions: []string{"Ready=True Hibernated"}},
	"suspended": {
		build:      (*harness).newExternalInstance,
		update:     func(i *v1alpha1.Instance) { i.Spec.Suspend, i.Spec.Replicas = true, 5 },
		conditions: []string{"Ready=True Suspended"},
	},
	"unfit": {
		build:      (*harness).newExternalInstance,
		update:     func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-xx" },
		conditions: []string{"Stalled=True ModelsUnavailable", "Available=True Serving"},
	},
	"failed": {
		build:      (*harness).newExternalInstance,
		update:     useOlderModel,
		conditions: []string{"Stalled=True RolloutFailed", "Available=True Serving"},
	},
}

func useOlderModel(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion }

func TestStatusIsRebuiltAfterRestoreWithoutOtherChanges(t *testing.T) {
	h := newHarness(t)
	h.breakModel(olderVersion)
	names := slices.Sorted(maps.Keys(settledInstances))
	for _, name := range names {
		h.mustCreate(settledInstances[name].build(h, name))
	}
	for _, name := range names {
		h.waitForConditions(name, "Ready=True Ready")
		if change := settledInstances[name].update; change != nil {
			h.updateInstance(name, change)
		}
	}
	h.waitForSettledInstances(names)
	h.waitUntilIdle()
	before, versions, writesBefore := h.snapshotWithoutGenerations(), h.resourceVersions(), len(h.writes.all())

	h.stop()
	for _, name := range names {
		h.clearStatus(name)
	}
	h.startOperator(serverImage)
	h.waitForSettledInstances(names)
	h.waitUntilIdle()
	for _, write := range h.writes.all()[writesBefore:] {
		if !strings.HasSuffix(write, "/status") {
			t.Errorf("unexpected write %s: only the status was removed", write)
		}
	}
	if diff := cmp.Diff(versions, h.resourceVersions()); diff != "" {
		t.Errorf("owned objects (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, h.snapshotWithoutGenerations()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func (h *harness) waitForSettledInstances(names []string) {
	h.t.Helper()
	for _, name := range names {
		h.waitForConditions(name, settledInstances[name].conditions...)
	}
}

// snapshotWithoutGenerations returns a snapshot without observed generations, because they
// may change in a restore: the conditions of a suspended Instance refer to the applied
// generation before a restore and to the current generation afterward.
func (h *harness) snapshotWithoutGenerations() string {
	return generationPattern.ReplaceAllString(h.snapshot(), "")
}

var generationPattern = regexp.MustCompile(` of generation [0-9]+`)

// resourceVersions returns the resource version of each owned object.
func (h *harness) resourceVersions() map[string]string {
	h.t.Helper()
	versions := map[string]string{}
	for _, object := range h.managedObjects() {
		if _, isInstance := object.(*v1alpha1.Instance); !isInstance {
			versions[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
		}
	}
	return versions
}

// clearStatus removes an Instance's status.
func (h *harness) clearStatus(name string) {
	h.t.Helper()
	h.Eventually(func() error {
		instance := mustGet(h, name, &v1alpha1.Instance{})
		instance.Status = v1alpha1.InstanceStatus{}
		return h.Status().Update(h.t.Context(), instance)
	}).Should(gomega.Succeed())
}
