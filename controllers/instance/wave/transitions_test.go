// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	conditionsWith := func(reason Reason) []metav1.Condition {
		if reason == "" {
			return nil
		}
		return []metav1.Condition{{Type: v1alpha1.ConditionServerCurrent, Reason: string(reason), Message: "why"}}
	}
	for name, test := range map[string]struct {
		was, is Reason
		want    string
	}{
		"nothing yet":              {"", "", ""},
		"a new one":                {"", ReasonNotReady, ""},
		"a new one is there":       {ReasonNotReady, ReasonCurrent, ""},
		"waits":                    {ReasonCurrent, ReasonQueued, ""},
		"waits for a halted one":   {ReasonQueued, ReasonHalted, ""},
		"the canary":               {ReasonQueued, ReasonCanary, "Normal ServerCanary"},
		"still the canary":         {ReasonCanary, ReasonCanary, ""},
		"the canary soaks":         {ReasonCanary, ReasonSoaking, ""},
		"the canary passed":        {ReasonSoaking, ReasonCurrent, "Normal ServerPassed"},
		"passed without a soak":    {ReasonCanary, ReasonCurrent, "Normal ServerPassed"},
		"the canary is replaced":   {ReasonCanary, ReasonInstanceUnhealthy, ""},
		"the canary failed":        {ReasonCanary, ReasonFailed, "Warning ServerHalted"},
		"failed in the soak":       {ReasonSoaking, ReasonFailed, "Warning ServerHalted"},
		"failed later":             {ReasonNotReady, ReasonFailed, "Warning ServerHalted"},
		"still failed":             {ReasonFailed, ReasonFailed, ""},
		"failed, and tried again":  {ReasonFailed, ReasonCanary, "Normal ServerCanary"},
		"failed, and well at last": {ReasonFailed, ReasonCurrent, ""},
	} {
		got := ""
		for _, event := range Transitions(conditionsWith(test.was), conditionsWith(test.is)) {
			got += event.Type + " " + event.Reason
			if len(event.Message) < 3 || event.Message[:3] != "why" {
				t.Errorf("%s: got message %q, want the prefix why", name, event.Message)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := Transitions(nil, conditionsWith(ReasonFailed)); len(got) != 1 || got[0].Type != corev1.EventTypeWarning {
		t.Errorf("a first failure: got events %v, want one warning", got)
	}
}
