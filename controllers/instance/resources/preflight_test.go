// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
)

// TestPreflightLeavesStorageAlone builds the same check whatever keeps the data,
// whose volume has room for a single writer.
func TestPreflightLeavesStorageAlone(t *testing.T) {
	t.Parallel()
	want := fields(t, BuildPreflightJob(embedded()))
	for name, in := range map[string]Input{
		"external storage": external(),
		"hibernated":       embedded(hibernated),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, fields(t, BuildPreflightJob(in))); diff != "" {
				t.Errorf("another check than with embedded storage (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPreflightAsksForTheSpec has a spec that leaves a version open while an
// older one is pinned: the check must find the newest, not the pinned one.
func TestPreflightAsksForTheSpec(t *testing.T) {
	t.Parallel()
	in := embedded(func(instance *v1alpha1.Instance) {
		instance.Spec.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-10-01T00:00:00Z"}, {ID: "service-en"}}
	})
	got := BuildPreflightJob(in).Spec.Template.Spec.Containers[0].Args
	want := []string{
		"model", "check", "--models=/models", "--model=service-de@2026-10-01T00:00:00Z", "--model=service-en",
		"--json", "--result-file=/dev/termination-log",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// TestPreflightQuestion says what makes another check: only what the answer
// depends on, and never its own hash, from which it gets its name.
func TestPreflightQuestion(t *testing.T) {
	t.Parallel()
	edited := func(edit func(*Input)) Input {
		in := external()
		edit(&in)
		return in
	}
	for name, test := range map[string]struct {
		in      Input
		another bool
	}{
		"another image":          {edited(func(in *Input) { in.Server.Image = "registry.example/apiserver:2" }), true},
		"another model":          {external(func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-de" }), true},
		"a version in the spec":  {external(func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = "2026-11-21T00:00:00Z" }), true},
		"its own hash":           {edited(func(in *Input) { in.PreflightHash = "" }), false},
		"the hash of a template": {edited(func(in *Input) { in.TemplateHash = "" }), false},
		"the versions pinned":    {edited(func(in *Input) { in.Models = nil }), false},
		"the database":           {edited(func(in *Input) { in.DatabaseChecksum = "" }), false},
		"resources":              {external(func(i *v1alpha1.Instance) { i.Spec.Resources = memory("1Gi") }), false},
		"scaling":                {external(replicated(9)), false},
		"a newer operator":       {edited(func(in *Input) { in.Server.Revision++ }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			another := preflightHash(t, test.in) != preflightHash(t, external())
			if another != test.another {
				t.Errorf("another check: %t, want %t", another, test.another)
			}
		})
	}
}

// TestPreflightQuestionIsKept holds the hashes that operators computed which knew
// no later revision: with another one they would ask every tenant's image again.
func TestPreflightQuestionIsKept(t *testing.T) {
	t.Parallel()
	wanted := map[string]string{
		"embedded": "efe186285d89", "external": "efe186285d89", "hibernated": "efe186285d89",
		"everything": "8f92a7f5d6f1",
	}
	for name, want := range wanted {
		in := revisionFixtures()[name].in
		for in.Server.Revision = 1; in.Server.Revision < int32(knowsQuestions); in.Server.Revision++ {
			if got := preflightHash(t, in); got != want {
				t.Errorf("%s, revision %d: hash %s, want %s", name, in.Server.Revision, got, want)
			}
		}
	}
}

func preflightHash(t *testing.T, in Input) string {
	t.Helper()
	hash, err := apply.Hash(PreflightQuestion(in))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestPreflightIsNoServer keeps a check's pod out of the Service, the budget
// and the spread of the pods that serve.
func TestPreflightIsNoServer(t *testing.T) {
	t.Parallel()
	in := embedded()
	labels := BuildPreflightJob(in).Spec.Template.Labels
	for key, value := range Selector(in.Instance) {
		if labels[key] != value {
			return
		}
	}
	t.Errorf("the labels of a check's pod %v match the selector of those that serve", labels)
}
