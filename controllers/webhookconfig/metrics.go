// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
)

// newMetrics registers the metrics, including the number of WebhookConfigs read from
// reader, and returns the tracker of reconciles.
func newMetrics(registry prometheus.Registerer, reader client.Reader) (*outcome.Tracker, error) {
	if err := registry.Register(conditionCollector{reader}); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return outcome.NewTracker(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anamnesis_operator_webhookconfig_reconciles_total",
		Help: "WebhookConfig reconciles by outcome: ready, waiting, stalled, transient, suspended, deleted or conflict.",
	}, []string{"outcome"}))
}

// configsDesc describes the metric that conditionCollector collects.
var configsDesc = prometheus.NewDesc("anamnesis_operator_webhookconfigs",
	"WebhookConfigs by condition, status and reason.", []string{"condition", "status", "reason"}, nil)

// A conditionCollector counts WebhookConfigs by condition. It counts on each scrape,
// from the cache, so the numbers cannot drift.
type conditionCollector struct{ reader client.Reader }

// Describe implements prometheus.Collector.
func (c conditionCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- configsDesc
}

// Collect implements prometheus.Collector.
func (c conditionCollector) Collect(counts chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var list v1alpha1.WebhookConfigList
	if err := c.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache has not synced yet; omitting the count is better than failing the scrape
	}
	for key, count := range countConditions(list.Items) {
		counts <- prometheus.MustNewConstMetric(configsDesc, prometheus.GaugeValue, float64(count), key.kind, string(key.status), key.reason)
	}
}

type conditionKey struct {
	kind   string
	status metav1.ConditionStatus
	reason string
}

func countConditions(configs []v1alpha1.WebhookConfig) map[conditionKey]int {
	counts := map[conditionKey]int{}
	for i := range configs {
		for _, condition := range configs[i].Status.Conditions {
			counts[conditionKey{condition.Type, condition.Status, condition.Reason}]++
		}
	}
	return counts
}
