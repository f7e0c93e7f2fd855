// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
)

// metrics holds the Prometheus metrics about Instances.
type metrics struct {
	reconciles  *outcome.Tracker
	timeToReady prometheus.Histogram
}

// newMetrics registers the metrics, including collectors for the number of Instances and
// the progress of the server rollout.
func newMetrics(registry prometheus.Registerer, reader client.Reader, serverRollout *wave.Wave) (*metrics, error) {
	reconciles, err := outcome.NewTracker(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anamnesis_operator_reconciles_total",
		Help: "Instance reconciles by outcome: ready, waiting, stalled, transient, suspended, deleted or conflict.",
	}, []string{"outcome"}))
	if err != nil {
		return nil, err
	}
	m := &metrics{
		reconciles: reconciles,
		timeToReady: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anamnesis_operator_time_to_ready_seconds",
			Help:    "Time from the first reconcile of a spec change until the Instance is ready with it.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
		}),
	}
	for _, collector := range []prometheus.Collector{m.timeToReady, conditionCollector{reader}, serverRolloutCollector{serverRollout}} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return m, nil
}

// observeTimeToReady records how long a change took once the Instance becomes ready with
// it. The time starts when the operator first saw the change and set Reconciling.
func (m *metrics) observeTimeToReady(before, after *v1alpha1.Instance) {
	if duration, isReady := timeToReady(before.Status.Conditions, after.Status.Conditions); isReady {
		m.timeToReady.Observe(duration.Seconds())
	}
}

// timeToReady returns how long an Instance took to become ready. isReady reports whether
// it has just become ready.
func timeToReady(before, after []metav1.Condition) (duration time.Duration, isReady bool) {
	since := meta.FindStatusCondition(before, v1alpha1.ConditionReconciling)
	ready := meta.FindStatusCondition(after, v1alpha1.ConditionReady)
	if since == nil || ready == nil || ready.Status != metav1.ConditionTrue {
		return 0, false
	}
	return ready.LastTransitionTime.Sub(since.LastTransitionTime.Time), true
}

// instancesDesc describes the metric that conditionCollector collects.
var instancesDesc = prometheus.NewDesc("anamnesis_operator_instances",
	"Instances by condition and status.", []string{"condition", "status"}, nil)

// A conditionCollector counts Instances by condition on every scrape. It counts cached
// Instances, so that the numbers cannot drift.
type conditionCollector struct{ reader client.Reader }

// Describe implements prometheus.Collector.
func (c conditionCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- instancesDesc
}

// Collect implements prometheus.Collector.
func (c conditionCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var list v1alpha1.InstanceList
	if err := c.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		// The cache has not synced yet: omit the count rather than fail the whole scrape.
		return
	}
	for key, count := range countConditions(list.Items) {
		metrics <- prometheus.MustNewConstMetric(instancesDesc, prometheus.GaugeValue, float64(count), key.conditionType, string(key.status))
	}
}

type conditionKey struct {
	conditionType string
	status        metav1.ConditionStatus
}

func countConditions(instances []v1alpha1.Instance) map[conditionKey]int {
	counts := map[conditionKey]int{}
	for i := range instances {
		for _, condition := range instances[i].Status.Conditions {
			counts[conditionKey{condition.Type, condition.Status}]++
		}
	}
	return counts
}

// Descriptions of the metrics that serverRolloutCollector collects.
var (
	serverRolloutStateDesc = prometheus.NewDesc("anamnesis_operator_wave_state",
		"1 for the current state of the server image rollout, 0 for the others.", []string{"state"}, nil)
	serverRolloutInstancesDesc = prometheus.NewDesc("anamnesis_operator_wave_instances",
		"Instances by the reason of their ServerCurrent condition, as of the last plan.", []string{"reason"}, nil)
)

// A serverRolloutCollector reports the progress of a server rollout. It reports nothing
// on a replica that is not the leader.
type serverRolloutCollector struct{ rollout *wave.Wave }

// Describe implements prometheus.Collector.
func (c serverRolloutCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- serverRolloutStateDesc
	descriptions <- serverRolloutInstancesDesc
}

// Collect implements prometheus.Collector.
func (c serverRolloutCollector) Collect(metrics chan<- prometheus.Metric) {
	current, reasons, planned := c.rollout.Summary()
	if !planned {
		return
	}
	for _, state := range wave.States {
		value := 0.0
		if state == current {
			value = 1
		}
		metrics <- prometheus.MustNewConstMetric(serverRolloutStateDesc, prometheus.GaugeValue, value, string(state))
	}
	for _, reason := range wave.Reasons {
		metrics <- prometheus.MustNewConstMetric(serverRolloutInstancesDesc, prometheus.GaugeValue, float64(reasons[reason]), string(reason))
	}
}
