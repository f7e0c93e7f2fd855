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
	says := func(reason Reason) []metav1.Condition {
		if reason == "" {
			return nil
		}
		return []metav1.Condition{{Type: v1alpha1.ConditionServerUpToDate, Reason: string(reason), Message: "why"}}
	}
	for name, test := range map[string]struct {
		was, is Reason
		want    string
	}{
		"nothing yet":              {"", "", ""},
		"a new one":                {"", ReasonNotReady, ""},
		"a new one is there":       {ReasonNotReady, ReasonCurrent, ""},
		"waits":                    {ReasonCurrent, ReasonWaitingForTurn, ""},
		"waits for a halted one":   {ReasonWaitingForTurn, ReasonHalted, ""},
		"the canary":               {ReasonWaitingForTurn, ReasonCanary, "Normal ServerCanary"},
		"still the canary":         {ReasonCanary, ReasonCanary, ""},
		"the canary soaks":         {ReasonCanary, ReasonSoaking, ""},
		"the canary passed":        {ReasonSoaking, ReasonCurrent, "Normal ServerPassed"},
		"passed without a soak":    {ReasonCanary, ReasonCurrent, "Normal ServerPassed"},
		"the canary is replaced":   {ReasonCanary, ReasonOwnTrouble, ""},
		"the canary failed":        {ReasonCanary, ReasonFailed, "Warning ServerHalted"},
		"failed in the soak":       {ReasonSoaking, ReasonFailed, "Warning ServerHalted"},
		"failed later":             {ReasonNotReady, ReasonFailed, "Warning ServerHalted"},
		"still failed":             {ReasonFailed, ReasonFailed, ""},
		"failed, and tried again":  {ReasonFailed, ReasonCanary, "Normal ServerCanary"},
		"failed, and well at last": {ReasonFailed, ReasonCurrent, ""},
	} {
		got := ""
		for _, note := range Transitions(says(test.was), says(test.is)) {
			got += note.Type + " " + note.Reason
			if len(note.Message) < 3 || note.Message[:3] != "why" {
				t.Errorf("%s: the message is %q", name, note.Message)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := Transitions(nil, says(ReasonFailed)); len(got) != 1 || got[0].Type != corev1.EventTypeWarning {
		t.Errorf("a first failure: got events %v, want one warning", got)
	}
}
