// SPDX-License-Identifier: Apache-2.0

// Package metrics declares what a server tells about itself to Prometheus. The
// names are a contract with dashboards and alerts. No label holds what a client
// wrote.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
)

// Metrics are the metrics of one server.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	storageUp prometheus.Gauge
	reloads   *prometheus.CounterVec
	flushes   *prometheus.CounterVec
	refused   *prometheus.CounterVec
	turned    *prometheus.CounterVec
	notified  *prometheus.CounterVec
	surveys   surveyMetrics
	webhooks  webhookMetrics
}

// Sources are what metrics are read from when somebody asks for them.
type Sources struct {
	Instance string
	// Releases are the releases that are served.
	Releases func() []model.Meta
	// BufferedUsage is how many calls storage does not know of yet.
	BufferedUsage func() int64
	// CertificateExpiry is when the TLS certificate in use stops being good,
	// zero when there is none.
	CertificateExpiry func() time.Time
}

// New makes the metrics of a server.
func New(sources Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_requests_total",
			Help: "Answers by endpoint, none where no route matched, and status.",
		}, []string{"endpoint", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "anamnesis_request_duration_seconds",
			Help:    "Time from the first byte of a request's header read to its answer written.",
			Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 10},
		}, []string{"endpoint"}),
		storageUp: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_storage_up",
			Help: "1 while storage can be written to, 0 while it cannot.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_reloads_total",
			Help: "Changed files by what they are for and outcome: applied, or refused so that the old ones stay.",
		}, []string{"source", "outcome"}),
		flushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_usage_flushes_total",
			Help: "Attempts to store usage counts, by outcome: stored or failed.",
		}, []string{"outcome"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_calls_over_limit_total",
			Help: "Calls refused because the application's plan allows no more of them this month, by plan and service.",
		}, []string{"plan", "service"}),
		turned: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_turned_away_total",
			Help: "Calls and connections turned away because the server had taken on all that it can, by what there was too much of: calls, body_bytes, assessments or connections.",
		}, []string{"reason"}),
		surveys: newSurveyMetrics(),
		notified: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_notifications_total",
			Help: "Messages to people by channel, email or sms, and outcome: sent, failed, or dropped without a try.",
		}, []string{"channel", "outcome"}),
		webhooks: newWebhookMetrics(),
	}
	m.registry.MustRegister(m.surveys.all()...)
	m.registry.MustRegister(m.webhooks.all()...)
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.durations, m.storageUp, m.reloads, m.flushes, m.refused, m.turned, m.notified,
		&releaseCollector{sources.Releases},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anamnesis_usage_buffered_calls",
			Help: "Calls that are counted and not stored yet.",
		}, func() float64 { return float64(sources.BufferedUsage()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anamnesis_tls_certificate_expiry_timestamp_seconds",
			Help: "When the TLS certificate in use stops being good, as seconds since the epoch; 0 without TLS.",
		}, func() float64 { return max(0, float64(sources.CertificateExpiry().Unix())) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "anamnesis_instance_info",
			Help:        "Which instance this is. Always 1.",
			ConstLabels: prometheus.Labels{"instance_id": sources.Instance},
		}, func() float64 { return 1 }),
	)
	return m
}

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observe counts an answer.
func (m *Metrics) Observe(endpoint string, status int, duration time.Duration) {
	if endpoint == "" {
		endpoint = "none"
	}
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(endpoint).Observe(duration.Seconds())
}

// StorageUp says whether storage can be written to.
func (m *Metrics) StorageUp(up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.storageUp.Set(value)
}

// Reloaded counts changed files that were applied, or refused with an error.
func (m *Metrics) Reloaded(source string, err error) {
	m.reloads.WithLabelValues(source, outcome(err, "applied", "refused")).Inc()
}

// Flushed counts an attempt to store usage counts.
func (m *Metrics) Flushed(err error) {
	m.flushes.WithLabelValues(outcome(err, "stored", "failed")).Inc()
}

// Refused counts a call beyond the limit that a plan sets for a service.
func (m *Metrics) Refused(plan string, service quota.Service) {
	m.refused.WithLabelValues(plan, string(service)).Inc()
}

// TurnedAway counts a call or a connection that the server had no room for.
func (m *Metrics) TurnedAway(reason guard.Reason) { m.turned.WithLabelValues(string(reason)).Inc() }

// Notified counts a message to a person.
func (m *Metrics) Notified(channel notify.Channel, outcome notify.Outcome) {
	m.notified.WithLabelValues(string(channel), string(outcome)).Inc()
}

func outcome(err error, success, failure string) string {
	if err != nil {
		return failure
	}
	return success
}

var releaseDescription = prometheus.NewDesc("anamnesis_release_info",
	"The releases that are served, by model and version. Always 1.", []string{"model", "version"}, nil)

// releaseCollector tells which releases are served at the moment.
type releaseCollector struct{ releases func() []model.Meta }

// Describe implements prometheus.Collector.
func (c *releaseCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- releaseDescription
}

// Collect implements prometheus.Collector.
func (c *releaseCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, release := range c.releases() {
		metrics <- prometheus.MustNewConstMetric(releaseDescription, prometheus.GaugeValue, 1, release.ModelID, release.Version)
	}
}
