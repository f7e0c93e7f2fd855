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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// An outcome is how a visit ended.
type outcome string

const (
	outcomeReady     outcome = "ready"
	outcomeWaiting   outcome = "waiting"
	outcomeStalled   outcome = "stalled"
	outcomeTransient outcome = "transient"
	outcomeSuspended outcome = "suspended"
	outcomeDeleted   outcome = "deleted"
	outcomeRace      outcome = "race"
)

// outcomeOf names how steps ended, by the worst of what kept them from it.
func outcomeOf(failures []error) outcome {
	worst := problem.Worst(failures)
	found := problem.Of(worst)
	switch {
	case worst == nil:
		return outcomeReady
	case found == nil:
		return outcomeTransient
	case found.Stalled:
		return outcomeStalled
	}
	return outcomeWaiting
}

// measurements are what the operator tells Prometheus about Instances.
type measurements struct {
	reconciles     *prometheus.CounterVec
	secondsToReady prometheus.Histogram
}

// newMeasurements registers them, together with the count of the Instances that
// reader finds, and how far a wave is.
func newMeasurements(registry prometheus.Registerer, reader client.Reader, servers *wave.Wave) (*measurements, error) {
	made := &measurements{
		reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_operator_reconciles_total",
			Help: "Reconciles of Instances by outcome.",
		}, []string{"outcome"}),
		secondsToReady: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anamnesis_operator_seconds_to_ready",
			Help:    "Seconds from the first reconcile of a change to the Instance being ready with it.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
		}),
	}
	for _, collector := range []prometheus.Collector{made.reconciles, made.secondsToReady, conditionCollector{reader}, waveCollector{servers}} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return made, nil
}

// count counts one reconcile.
func (m *measurements) count(outcome outcome) {
	m.reconciles.WithLabelValues(string(outcome)).Inc()
}

// observe measures a change when the Instance becomes ready with it: Reconciling
// appeared when the operator first saw the change.
func (m *measurements) observe(before, after *v1alpha1.Instance) {
	if duration, became := timeToReady(before.Status.Conditions, after.Status.Conditions); became {
		m.secondsToReady.Observe(duration.Seconds())
	}
}

// timeToReady is how long an Instance was reconciling when it has just become
// ready.
func timeToReady(before, after []metav1.Condition) (duration time.Duration, became bool) {
	since := meta.FindStatusCondition(before, v1alpha1.ConditionReconciling)
	ready := meta.FindStatusCondition(after, v1alpha1.ConditionReady)
	if since == nil || ready == nil || ready.Status != metav1.ConditionTrue {
		return 0, false
	}
	return ready.LastTransitionTime.Sub(since.LastTransitionTime.Time), true
}

// instancesDescription is the metric that conditionCollector gives.
var instancesDescription = prometheus.NewDesc("anamnesis_operator_instances",
	"Instances by condition and status.", []string{"condition", "status"}, nil)

// A conditionCollector counts Instances by their conditions when it is asked to,
// from the cache, so that no count can drift.
type conditionCollector struct{ reader client.Reader }

// Describe implements prometheus.Collector.
func (c conditionCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- instancesDescription
}

// Collect implements prometheus.Collector.
func (c conditionCollector) Collect(counts chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var list v1alpha1.InstanceList
	if err := c.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		// The cache is not filled yet: no count is better than no metrics at all.
		return
	}
	for key, count := range countConditions(list.Items) {
		counts <- prometheus.MustNewConstMetric(instancesDescription, prometheus.GaugeValue, float64(count), key.kind, string(key.status))
	}
}

type conditionKey struct {
	kind   string
	status metav1.ConditionStatus
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

// The metrics that waveCollector gives.
var (
	waveStateDescription = prometheus.NewDesc("anamnesis_operator_wave_state",
		"1 for the state that the wave to the server image is in, 0 for the others.", []string{"state"}, nil)
	waveInstancesDescription = prometheus.NewDesc("anamnesis_operator_wave_instances",
		"Instances by the reason of their condition ServerCurrent, as decided last.", []string{"reason"}, nil)
)

// A waveCollector says how far a wave is. Where none is looked after, because
// another replica leads, it says nothing.
type waveCollector struct{ wave *wave.Wave }

// Describe implements prometheus.Collector.
func (c waveCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- waveStateDescription
	descriptions <- waveInstancesDescription
}

// Collect implements prometheus.Collector.
func (c waveCollector) Collect(values chan<- prometheus.Metric) {
	current, reasons, looked := c.wave.Summary()
	if !looked {
		return
	}
	for _, state := range wave.States {
		value := 0.0
		if state == current {
			value = 1
		}
		values <- prometheus.MustNewConstMetric(waveStateDescription, prometheus.GaugeValue, value, string(state))
	}
	for _, reason := range wave.Reasons {
		values <- prometheus.MustNewConstMetric(waveInstancesDescription, prometheus.GaugeValue, float64(reasons[reason]), string(reason))
	}
}
