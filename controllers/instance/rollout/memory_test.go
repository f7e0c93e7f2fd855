// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pin  = v1alpha1.ServerPin{Image: "i", Revision: 1}
)

func remembering(text string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", Annotations: map[string]string{resources.RolloutAnnotation: text}}}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	status := v1alpha1.InstanceStatus{Server: v1alpha1.ServerPin{Image: "status", Revision: 1}, Rollout: v1alpha1.Rollout{LastReady: "status"}}
	derived := Memory{Server: status.Server, Rollout: status.Rollout}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       Memory
		unreadable bool
	}{
		"no Deployment":                     {nil, derived, false},
		"a Deployment of an early operator": {&appsv1.Deployment{}, derived, false},
		"remembered": {
			remembering(`{"server":{"image":"i","revision":2},"lastReady":"a","failed":"b","failedCause":"Tenant","failedAt":"2026-11-21T12:00:00Z","tries":3}`),
			Memory{v1alpha1.ServerPin{Image: "i", Revision: 2}, v1alpha1.Rollout{LastReady: "a", Failed: "b", FailedCause: v1alpha1.FailureCauseTenant, FailedAt: timeOf(noon), Tries: 3}}, false},
		"with what a newer operator added": {
			remembering(`{"server":{"image":"i","revision":2,"digest":"d"},"lastReady":"a","mood":{"good":true}}`),
			Memory{v1alpha1.ServerPin{Image: "i", Revision: 2}, v1alpha1.Rollout{LastReady: "a"}}, false},
		"rubbish":                    {remembering("rubbish"), derived, true},
		"of another form":            {remembering(`{"server":{"image":"i"},"tries":"three"}`), derived, true},
		"nothing":                    {remembering("{}"), derived, true},
		"null":                       {remembering("null"), derived, true},
		"two things, one after else": {remembering(`{"server":{"image":"i"}}{}`), derived, true},
	} {
		got, err := Recall(test.deployment, status)
		if (err != nil) != test.unreadable {
			t.Errorf("%s: got error %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMemoryIsCompact: what is not known takes no room.
func TestMemoryIsCompact(t *testing.T) {
	t.Parallel()
	got, err := Memory{Server: pin}.Encode()
	if want := `{"server":{"image":"i","revision":1}}`; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestMemoryIsRecalledAsItWas(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, 30, -1)
	moment := rapid.Custom(func(t *rapid.T) *metav1.Time {
		if rapid.Bool().Draw(t, "unknown") {
			return nil
		}
		return timeOf(noon.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "later"))))
	})
	build := rapid.Custom(func(t *rapid.T) v1alpha1.ServerPin {
		return v1alpha1.ServerPin{Image: rapid.StringN(1, 30, -1).Draw(t, "image"), Revision: rapid.Int32().Draw(t, "revision")}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := Memory{build.Draw(t, "server"), v1alpha1.Rollout{
			LastReady: text.Draw(t, "last ready"), ProvenServer: build.Draw(t, "proven"), ProvenAt: moment.Draw(t, "proven at"),
			Failed: text.Draw(t, "failed"), FailedGeneration: rapid.Int64().Draw(t, "generation"), FailedBecause: text.Draw(t, "because"),
			FailedServer: build.Draw(t, "failed server"), FailedAt: moment.Draw(t, "failed at"), FailedCause: v1alpha1.FailureCause(text.Draw(t, "cause")),
			Tries: rapid.Int32().Draw(t, "tries"), Retried: text.Draw(t, "retried"),
		}}
		encoded, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Recall(remembering(encoded), v1alpha1.InstanceStatus{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", encoded, diff)
		}
	})
}

// FuzzRecall: whatever somebody wrote there, a memory is good or that of the
// status, and can be written again.
func FuzzRecall(f *testing.F) {
	for _, text := range []string{"", "{}", "null", `{"server":{"image":"i"},"failedAt":"2026-11-21T12:00:00Z"}`, `{"server":{"image":"i"},"tries":-1e9}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		status := v1alpha1.InstanceStatus{Server: pin}
		memory, err := Recall(remembering(text), status)
		if memory.Server.Image == "" || err != nil && memory.Server != pin {
			t.Fatalf("recalled %+v, %v", memory, err)
		}
		encoded, err := memory.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Recall(remembering(encoded), status)
		if diff := cmp.Diff(memory, again); diff != "" || err != nil {
			t.Fatalf("written again it is another, %v (-want +got):\n%s", err, diff)
		}
	})
}
