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

// A backup that is restored often leaves out what is in status. The operator must
// find all of it again, and change nothing else.

// settled are Instances at rest: how each came there, and what it shows.
var settled = map[string]struct {
	build func(*platform, string) *v1alpha1.Instance
	then  func(*v1alpha1.Instance)
	shows []string
}{
	"embedded":   {build: (*platform).instance, shows: []string{"Ready=True Ready"}},
	"external":   {build: (*platform).external, shows: []string{"Ready=True Ready"}},
	"pinned":     {build: (*platform).external, then: func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = newestVersion }, shows: []string{"Ready=True Ready"}},
	"hibernated": {build: (*platform).instance, then: func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }, shows: []string{"Ready=True Hibernated"}},
	"suspended": {
		build: (*platform).external,
		then:  func(i *v1alpha1.Instance) { i.Spec.Suspend, i.Spec.Replicas = true, 5 },
		shows: []string{"Ready=True Suspended"},
	},
	"unfit": {
		build: (*platform).external,
		then:  func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-xx" },
		shows: []string{"Stalled=True ModelsUnavailable", "Available=True Serving"},
	},
	"failed": {
		build: (*platform).external,
		then:  serveOlder,
		shows: []string{"Stalled=True RolloutFailed", "Available=True Serving"},
	},
}

func serveOlder(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion }

func TestStatusThatARestoreLeavesOutComesBackAndNothingElseChanges(t *testing.T) {
	p := newPlatform(t)
	p.breakModel(olderVersion)
	names := slices.Sorted(maps.Keys(settled))
	for _, name := range names {
		p.create(settled[name].build(p, name))
	}
	for _, name := range names {
		p.reaches(name, "Ready=True Ready")
		if then := settled[name].then; then != nil {
			p.editInstance(name, then)
		}
	}
	p.reachAll(names)
	p.settle()
	before, versions, counted := p.timeless(), p.versions(), len(p.writes.all())

	p.stop()
	for _, name := range names {
		p.wipeStatus(name)
	}
	p.startOperator(serverImage)
	p.reachAll(names)
	p.settle()
	for _, write := range p.writes.all()[counted:] {
		if !strings.HasSuffix(write, "/status") {
			t.Errorf("%s: nothing but status was lost", write)
		}
	}
	if diff := cmp.Diff(versions, p.versions()); diff != "" {
		t.Errorf("children (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, p.timeless()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func (p *platform) reachAll(names []string) {
	p.t.Helper()
	for _, name := range names {
		p.reaches(name, settled[name].shows...)
	}
}

// timeless is the portrait but for when something was found: what a suspended
// Instance was made is said of the generation that it was made of, and after a
// restore of the one at which that is found again.
func (p *platform) timeless() string {
	return ofGeneration.ReplaceAllString(p.portrait(), "")
}

var ofGeneration = regexp.MustCompile(` of generation [0-9]+`)

// versions tells of each child which of its states it is in.
func (p *platform) versions() map[string]string {
	p.t.Helper()
	versions := map[string]string{}
	for _, object := range p.everything() {
		if _, isInstance := object.(*v1alpha1.Instance); !isInstance {
			versions[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
		}
	}
	return versions
}

// wipeStatus takes away what the operator said of an Instance.
func (p *platform) wipeStatus(name string) {
	p.t.Helper()
	p.Eventually(func() error {
		instance := read(p, name, &v1alpha1.Instance{})
		instance.Status = v1alpha1.InstanceStatus{}
		return p.Status().Update(p.t.Context(), instance)
	}).Should(gomega.Succeed())
}
