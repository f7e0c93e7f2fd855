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

// Restored backups often lack the status. The operator must reconstruct all of it and
// change nothing else.

// settledInstances maps kinds of settled Instances to how to create them and the
// conditions that they show.
var settledInstances = map[string]struct {
	build func(*harness, string) *v1alpha1.Instance
	then  func(*v1alpha1.Instance)
	shows []string
}{
	"embedded":   {build: (*harness).newInstance, shows: []string{"Ready=True Ready"}},
	"external":   {build: (*harness).newExternalInstance, shows: []string{"Ready=True Ready"}},
	"pinned":     {build: (*harness).newExternalInstance, then: func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = newestVersion }, shows: []string{"Ready=True Ready"}},
	"hibernated": {build: (*harness).newInstance, then: func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }, shows: []string{"Ready=True Hibernated"}},
	"suspended": {
		build: (*harness).newExternalInstance,
		then:  func(i *v1alpha1.Instance) { i.Spec.Suspend, i.Spec.Replicas = true, 5 },
		shows: []string{"Ready=True Suspended"},
	},
	"unfit": {
		build: (*harness).newExternalInstance,
		then:  func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-xx" },
		shows: []string{"Stalled=True ModelsUnavailable", "Available=True Serving"},
	},
	"failed": {
		build: (*harness).newExternalInstance,
		then:  useOlderModel,
		shows: []string{"Stalled=True RolloutFailed", "Available=True Serving"},
	},
}

func useOlderModel(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion }

func TestStatusIsRebuiltAfterRestoreWithoutOtherChanges(t *testing.T) {
	p := newHarness(t)
	p.breakModel(olderVersion)
	names := slices.Sorted(maps.Keys(settledInstances))
	for _, name := range names {
		p.mustCreate(settledInstances[name].build(p, name))
	}
	for _, name := range names {
		p.waitForConditions(name, "Ready=True Ready")
		if then := settledInstances[name].then; then != nil {
			p.updateInstance(name, then)
		}
	}
	p.waitForSettledInstances(names)
	p.waitUntilIdle()
	before, versions, counted := p.snapshotWithoutGenerations(), p.resourceVersions(), len(p.writes.all())

	p.stop()
	for _, name := range names {
		p.clearStatus(name)
	}
	p.startOperator(serverImage)
	p.waitForSettledInstances(names)
	p.waitUntilIdle()
	for _, write := range p.writes.all()[counted:] {
		if !strings.HasSuffix(write, "/status") {
			t.Errorf("%s: nothing but status was lost", write)
		}
	}
	if diff := cmp.Diff(versions, p.resourceVersions()); diff != "" {
		t.Errorf("children (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, p.snapshotWithoutGenerations()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func (p *harness) waitForSettledInstances(names []string) {
	p.t.Helper()
	for _, name := range names {
		p.waitForConditions(name, settledInstances[name].shows...)
	}
}

// snapshotWithoutGenerations returns a snapshot without observed generations: a
// suspended Instance's conditions refer to the generation that was applied, and after a
// restore to the generation at which they were reconstructed.
func (p *harness) snapshotWithoutGenerations() string {
	return generationPattern.ReplaceAllString(p.snapshot(), "")
}

var generationPattern = regexp.MustCompile(` of generation [0-9]+`)

// resourceVersions returns the resource version of each owned object.
func (p *harness) resourceVersions() map[string]string {
	p.t.Helper()
	versions := map[string]string{}
	for _, object := range p.managedObjects() {
		if _, isInstance := object.(*v1alpha1.Instance); !isInstance {
			versions[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
		}
	}
	return versions
}

// clearStatus removes an Instance's status.
func (p *harness) clearStatus(name string) {
	p.t.Helper()
	p.Eventually(func() error {
		instance := mustGet(p, name, &v1alpha1.Instance{})
		instance.Status = v1alpha1.InstanceStatus{}
		return p.Status().Update(p.t.Context(), instance)
	}).Should(gomega.Succeed())
}
