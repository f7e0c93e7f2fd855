// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// webhookMetrics are how receivers are told of events.
type webhookMetrics struct {
	attempts *prometheus.CounterVec
	due      prometheus.Gauge
	oldest   prometheus.Gauge
	resting  prometheus.Gauge
}

func newWebhookMetrics() webhookMetrics {
	return webhookMetrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_webhook_attempts_total",
			Help: "Attempts to tell receivers of events, by outcome: delivered, failed and tried again, or given_up.",
		}, []string{"outcome"}),
		due: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_queue_depth",
			Help: "Deliveries and notifications in queues in which some are due, at the last look.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_oldest_due_seconds",
			Help: "For how long the oldest delivery or notification that is due has been, at the last look.",
		}),
		resting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_webhook_circuits_open",
			Help: "Receivers that failed five times in a row and are left alone for a while.",
		}),
	}
}

func (w webhookMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{w.attempts, w.due, w.oldest, w.resting}
}

// WebhookAttempt counts an attempt to tell a receiver.
func (m *Metrics) WebhookAttempt(outcome string) { m.webhooks.attempts.WithLabelValues(outcome).Inc() }

// OutboxSeen notes what is still to be told.
func (m *Metrics) OutboxSeen(due int64, oldest time.Duration, resting int) {
	m.webhooks.due.Set(float64(due))
	m.webhooks.oldest.Set(oldest.Seconds())
	m.webhooks.resting.Set(float64(resting))
}
