// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

func TestCheckProgress(t *testing.T) {
	t.Parallel()
	pending, lost := problem.Waiting("", "VolumePending", "pending"), problem.Stalled("", "VolumeLost", "lost")
	for name, test := range map[string]struct {
		plan     Plan
		state    State
		volume   *problem.Error
		want     string
		contains string
		excludes string
	}{
		"settled":                     {state: Complete},
		"on its way":                  {state: Progressing, want: "waiting RolloutProgressing", contains: "1 of 2: crashing"},
		"just made":                   {state: Absent, want: "waiting RolloutProgressing"},
		"waits for its volume":        {state: Progressing, volume: pending, want: "waiting VolumePending"},
		"sleeps without its volume":   {state: Complete, volume: pending},
		"lost its volume":             {state: Complete, volume: lost, want: "stalled VolumeLost"},
		"failed":                      {plan: Plan{Failed: true, Status: v1alpha1.RolloutStatus{FailureMessage: "it crashed"}}, state: DeadlineExceeded, want: "stalled RolloutFailed", contains: "(it crashed) and keep restarting", excludes: "kubectl"},
		"failed for its volume":       {plan: Plan{Failed: true}, state: DeadlineExceeded, volume: lost, want: "stalled VolumeLost"},
		"failed, volume pending":      {plan: Plan{Failed: true}, state: DeadlineExceeded, volume: pending, want: "stalled RolloutFailed"},
		"failed and rolled back":      {plan: Plan{Failed: true, RollBack: true}, state: Complete, want: "stalled RolloutFailed", contains: "the pods did not become ready in time: rolled back to the last ready pods; to retry now, change the spec or run: kubectl annotate instance -n tenants acme anamnesis.dev/retry=$(date +%s) --overwrite", excludes: "the next retry"},
		"failed and tried again":      {plan: Plan{Failed: true, RollBack: true, RetryAt: noon}, state: Complete, want: "stalled RolloutFailed", contains: "last ready pods; the next retry is after 2026-11-21T12:00:00Z; to retry now"},
		"failed, rollback failed too": {plan: Plan{Failed: true, RollBack: true, RollbackFailed: true}, state: DeadlineExceeded, want: "stalled RolloutFailed", contains: "last ready pods, which did not become ready either; to retry"},
		"what was ready is no more":   {state: DeadlineExceeded, want: "stalled RolloutFailed", contains: "crashing"},
	} {
		err := CheckProgress(types.NamespacedName{Namespace: "tenants", Name: "acme"}, test.plan, test.state, "1 of 2", "crashing", test.volume)
		problemtest.Expect(t, name, err, test.want)
		if err != nil && (!strings.Contains(err.Error(), test.contains) || test.excludes != "" && strings.Contains(err.Error(), test.excludes)) {
			t.Errorf("%s: got %q, want %q in it and not %q", name, err, test.contains, test.excludes)
		}
	}
}
