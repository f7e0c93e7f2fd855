// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// TestPreflightMountsNoStorage checks that the Job is the same for every kind of
// storage, because a volume may allow only one writer.
func TestPreflightMountsNoStorage(t *testing.T) {
	t.Parallel()
	want := toMap(t, BuildPreflightJob(embeddedInput()))
	for name, in := range map[string]Input{
		"external storage": externalInput(),
		"hibernated":       embeddedInput(withHibernate),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, toMap(t, BuildPreflightJob(in))); diff != "" {
				t.Errorf("Job differs from embedded storage (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPreflightChecksSpecModels covers a spec without a version while an older version
// is pinned: the check must find the newest version, not the pinned one.
func TestPreflightChecksSpecModels(t *testing.T) {
	t.Parallel()
	in := embeddedInput(func(instance *v1alpha1.Instance) {
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

// TestPreflightInputs checks that only changes that affect the result trigger a new
// preflight check. The input's own hash, which is part of the Job's name, must not.
func TestPreflightInputs(t *testing.T) {
	t.Parallel()
	edited := func(edit func(*Input)) Input {
		in := externalInput()
		edit(&in)
		return in
	}
	for name, test := range map[string]struct {
		in      Input
		another bool
	}{
		"another image":          {edited(func(in *Input) { in.Server.Image = "registry.example/apiserver:2" }), true},
		"another model":          {externalInput(func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-de" }), true},
		"a version in the spec":  {externalInput(func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = "2026-11-21T00:00:00Z" }), true},
		"its own hash":           {edited(func(in *Input) { in.PreflightHash = "" }), false},
		"the hash of a template": {edited(func(in *Input) { in.TemplateHash = "" }), false},
		"the versions pinned":    {edited(func(in *Input) { in.Models = nil }), false},
		"the database":           {edited(func(in *Input) { in.DatabaseChecksum = "" }), false},
		"resources":              {externalInput(func(i *v1alpha1.Instance) { i.Spec.Resources = memoryRequirements("1Gi") }), false},
		"scaling":                {externalInput(withReplicas(9)), false},
		"a newer operator":       {edited(func(in *Input) { in.Server.Revision++ }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			another := preflightHash(t, test.in) != preflightHash(t, externalInput())
			if another != test.another {
				t.Errorf("got another check: %t, want %t", another, test.another)
			}
		})
	}
}

func preflightHash(t *testing.T, in Input) string {
	t.Helper()
	hash, err := ssa.Hash(PreflightInputs(in))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestPreflightPodIsNotSelectedAsServer checks that the Job's pod does not match the
// Service, the disruption budget or the spread constraints of the server's pods.
func TestPreflightPodIsNotSelectedAsServer(t *testing.T) {
	t.Parallel()
	in := embeddedInput()
	labels := BuildPreflightJob(in).Spec.Template.Labels
	for key, value := range Selector(in.Instance) {
		if labels[key] != value {
			return
		}
	}
	t.Errorf("preflight pod labels %v match the selector of the Deployment", labels)
}
