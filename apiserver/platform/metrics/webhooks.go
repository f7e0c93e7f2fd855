// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// webhookMetrics are the metrics of event deliveries.
type webhookMetrics struct {
	attempts     *prometheus.CounterVec
	queueDepth   prometheus.Gauge
	oldestDue    prometheus.Gauge
	openCircuits prometheus.Gauge
}

func newWebhookMetrics() webhookMetrics {
	return webhookMetrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_webhook_attempts_total",
			Help: "Webhook delivery attempts by outcome: delivered, failed (will be retried), or given_up.",
		}, []string{"outcome"}),
		queueDepth: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_queue_depth",
			Help: "Pending deliveries and notifications in queues with overdue items, as of the last poll.",
		}),
		oldestDue: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_oldest_pending_seconds",
			Help: "Age of the oldest due delivery or notification, as of the last poll.",
		}),
		openCircuits: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_open_circuits",
			Help: "Receivers whose circuit breaker is open after five consecutive failures.",
		}),
	}
}

func (w webhookMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{w.attempts, w.queueDepth, w.oldestDue, w.openCircuits}
}

// WebhookAttempted counts a delivery attempt.
func (m *Metrics) WebhookAttempted(outcome string) {
	m.webhooks.attempts.WithLabelValues(outcome).Inc()
}

// OutboxObserved records the state of the outbox: the number of due deliveries, the
// age of the oldest, and the number of open circuits.
func (m *Metrics) OutboxObserved(due int64, oldest time.Duration, circuits int) {
	m.webhooks.queueDepth.Set(float64(due))
	m.webhooks.oldestDue.Set(oldest.Seconds())
	m.webhooks.openCircuits.Set(float64(circuits))
}
