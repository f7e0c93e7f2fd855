// SPDX-License-Identifier: Apache-2.0

package conditions_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestTransitionEvents(t *testing.T) {
	t.Parallel()
	after := func(err error) []metav1.Condition {
		var all []metav1.Condition
		conditions.SetReady(&all, 3, noon, err, "Ready", "running as specified")
		return all
	}
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		want          []conditions.Event
	}{
		"becomes ready":                {nil, after(nil), []conditions.Event{{"Normal", "Ready", "running as specified"}}},
		"stays ready":                  {after(nil), after(nil), nil},
		"waits":                        {after(nil), after(problem.Waiting("", "SecretNotFound", "x")), []conditions.Event{{"Normal", "SecretNotFound", "x"}}},
		"waits on":                     {after(problem.Waiting("", "SecretNotFound", "1 of 2")), after(problem.Waiting("", "SecretNotFound", "2 of 2")), nil},
		"stalls":                       {after(nil), after(problem.Stalled("", "Refused", "x")), []conditions.Event{{"Warning", "Refused", "x"}}},
		"stays stalled":                {after(problem.Stalled("", "Refused", "x")), after(problem.Stalled("", "Refused", "x")), nil},
		"stalls differently":           {after(problem.Stalled("", "Refused", "x")), after(problem.Stalled("", "Refused", "y")), []conditions.Event{{"Warning", "Refused", "y"}}},
		"stalls on what it waited for": {after(problem.Waiting("", "Refused", "x")), after(problem.Stalled("", "Refused", "x")), []conditions.Event{{"Warning", "Refused", "x"}}},
		"nothing is known":             {nil, nil, nil},
	} {
		if diff := cmp.Diff(test.want, conditions.TransitionEvents(test.before, test.after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
