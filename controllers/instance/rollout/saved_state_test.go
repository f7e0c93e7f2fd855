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
	pin  = v1alpha1.ServerBuild{Image: "i", Revision: 1}
)

func deploymentWithState(text string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", Annotations: map[string]string{resources.RolloutAnnotation: text}}}
}

func TestLoadState(t *testing.T) {
	t.Parallel()
	status := v1alpha1.InstanceStatus{Server: v1alpha1.ServerBuild{Image: "status", Revision: 1}, Rollout: v1alpha1.RolloutStatus{LastReadyTemplateHash: "status"}}
	fromStatus := SavedState{Server: status.Server, RolloutStatus: status.Rollout}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       SavedState
		unreadable bool
	}{
		"no Deployment":                     {nil, fromStatus, false},
		"a Deployment of an early operator": {&appsv1.Deployment{}, fromStatus, false},
		"remembered": {
			deploymentWithState(`{"server":{"image":"i","revision":2},"lastReadyTemplateHash":"a","failedTemplateHash":"b","failureReason":"Instance","failedAt":"2026-11-21T12:00:00Z","attempts":3}`),
			SavedState{v1alpha1.ServerBuild{Image: "i", Revision: 2}, v1alpha1.RolloutStatus{LastReadyTemplateHash: "a", FailedTemplateHash: "b", FailureReason: v1alpha1.FailureReasonInstance, FailedAt: statusTime(noon), Attempts: 3}}, false},
		"with what a newer operator added": {
			deploymentWithState(`{"server":{"image":"i","revision":2,"digest":"d"},"lastReadyTemplateHash":"a","mood":{"good":true}}`),
			SavedState{v1alpha1.ServerBuild{Image: "i", Revision: 2}, v1alpha1.RolloutStatus{LastReadyTemplateHash: "a"}}, false},
		"rubbish":                    {deploymentWithState("rubbish"), fromStatus, true},
		"of another form":            {deploymentWithState(`{"server":{"image":"i"},"attempts":"three"}`), fromStatus, true},
		"nothing":                    {deploymentWithState("{}"), fromStatus, true},
		"null":                       {deploymentWithState("null"), fromStatus, true},
		"two things, one after else": {deploymentWithState(`{"server":{"image":"i"}}{}`), fromStatus, true},
	} {
		got, err := LoadState(test.deployment, status)
		if (err != nil) != test.unreadable {
			t.Errorf("%s: got error %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSavedStateIsCompact checks that unset fields are omitted.
func TestSavedStateIsCompact(t *testing.T) {
	t.Parallel()
	got, err := SavedState{Server: pin}.Encode()
	if want := `{"server":{"image":"i","revision":1}}`; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestSavedStateRoundTrip(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, 30, -1)
	moment := rapid.Custom(func(t *rapid.T) *metav1.Time {
		if rapid.Bool().Draw(t, "unknown") {
			return nil
		}
		return statusTime(noon.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "later"))))
	})
	build := rapid.Custom(func(t *rapid.T) v1alpha1.ServerBuild {
		return v1alpha1.ServerBuild{Image: rapid.StringN(1, 30, -1).Draw(t, "image"), Revision: rapid.Int32().Draw(t, "revision")}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := SavedState{build.Draw(t, "server"), v1alpha1.RolloutStatus{
			LastReadyTemplateHash: text.Draw(t, "last ready"), LastHealthyServer: build.Draw(t, "proven"), LastHealthyAt: moment.Draw(t, "proven at"),
			FailedTemplateHash: text.Draw(t, "failed"), FailedGeneration: rapid.Int64().Draw(t, "generation"), FailureMessage: text.Draw(t, "because"),
			FailedServer: build.Draw(t, "failed server"), FailedAt: moment.Draw(t, "failed at"), FailureReason: v1alpha1.FailureReason(text.Draw(t, "cause")),
			Attempts: rapid.Int32().Draw(t, "tries"), LastHandledRetry: text.Draw(t, "retried"),
		}}
		encoded, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := LoadState(deploymentWithState(encoded), v1alpha1.InstanceStatus{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", encoded, diff)
		}
	})
}

// FuzzLoadState checks that, for any annotation value, LoadState returns the decoded state
// or the state from the status, and that the state can be encoded again.
func FuzzLoadState(f *testing.F) {
	for _, text := range []string{"", "{}", "null", `{"server":{"image":"i"},"failedAt":"2026-11-21T12:00:00Z"}`, `{"server":{"image":"i"},"tries":-1e9}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		status := v1alpha1.InstanceStatus{Server: pin}
		state, err := LoadState(deploymentWithState(text), status)
		if state.Server.Image == "" || err != nil && state.Server != pin {
			t.Fatalf("got state %+v, error %v", state, err)
		}
		encoded, err := state.Encode()
		if err != nil {
			t.Fatal(err)
		}
		reloaded, err := LoadState(deploymentWithState(encoded), status)
		if diff := cmp.Diff(state, reloaded); diff != "" || err != nil {
			t.Fatalf("state changed after a round trip, %v (-want +got):\n%s", err, diff)
		}
	})
}
