// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEventTime(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, event := range map[string]corev1.Event{
		"a series":   {Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(noon)}, EventTime: metav1.NewMicroTime(noon.Add(-time.Hour))},
		"an old one": {LastTimestamp: metav1.NewTime(noon)},
		"a new one":  {EventTime: metav1.NewMicroTime(noon)},
	} {
		if got := eventTime(event); !got.Equal(noon) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
