// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem/problemtest"
)

func TestJudgeProgress(t *testing.T) {
	t.Parallel()
	pending, lost := problem.Waiting("", "VolumePending", "pending"), problem.Stalled("", "VolumeLost", "lost")
	for name, test := range map[string]struct {
		plan   Plan
		state  State
		volume *problem.Problem
		want   string
		says   string
		hides  string
	}{
		"settled":                     {state: Settled},
		"on its way":                  {state: Progressing, want: "waiting RolloutProgressing", says: "1 of 2: crashing"},
		"just made":                   {state: Absent, want: "waiting RolloutProgressing"},
		"waits for its volume":        {state: Progressing, volume: pending, want: "waiting VolumePending"},
		"sleeps without its volume":   {state: Settled, volume: pending},
		"lost its volume":             {state: Settled, volume: lost, want: "stalled VolumeLost"},
		"failed":                      {plan: Plan{Failed: true, Memory: v1alpha1.Rollout{FailedBecause: "it crashed"}}, state: Overdue, want: "stalled RolloutFailed", says: "(it crashed) and go on trying", hides: "kubectl"},
		"failed for its volume":       {plan: Plan{Failed: true}, state: Overdue, volume: lost, want: "stalled VolumeLost"},
		"failed, volume pending":      {plan: Plan{Failed: true}, state: Overdue, volume: pending, want: "stalled RolloutFailed"},
		"failed and put back":         {plan: Plan{Failed: true, PutBack: true}, state: Settled, want: "stalled RolloutFailed", says: "the pods did not become ready in time: those that were ready before are put back; to try at once, change the spec or run: kubectl annotate instance -n tenants acme anamnesis.dev/retry=$(date +%s) --overwrite", hides: "by itself"},
		"failed and tried again":      {plan: Plan{Failed: true, PutBack: true, RetryAt: noon}, state: Settled, want: "stalled RolloutFailed", says: "put back; it is tried again by itself after 2026-11-21T12:00:00Z; to try at once"},
		"failed and put back in vain": {plan: Plan{Failed: true, PutBack: true, InVain: true}, state: Overdue, want: "stalled RolloutFailed", says: "put back, and do not become ready either; to try"},
		"what was ready is no more":   {state: Overdue, want: "stalled RolloutFailed", says: "crashing"},
	} {
		err := JudgeProgress(types.NamespacedName{Namespace: "tenants", Name: "acme"}, test.plan, test.state, "1 of 2", "crashing", test.volume)
		problemtest.Expect(t, name, err, test.want)
		if err != nil && (!strings.Contains(err.Error(), test.says) || test.hides != "" && strings.Contains(err.Error(), test.hides)) {
			t.Errorf("%s: got %q, want %q in it and not %q", name, err, test.says, test.hides)
		}
	}
}
