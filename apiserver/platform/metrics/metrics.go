// SPDX-License-Identifier: Apache-2.0

// Package metrics declares the server's Prometheus metrics. The names are a contract
// with dashboards and alerts. No label contains client input.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/version"
)

// Metrics are the metrics of one server.
type Metrics struct {
	registry       *prometheus.Registry
	requests       *prometheus.CounterVec
	durations      *prometheus.HistogramVec
	storageUp      prometheus.Gauge
	reloads        *prometheus.CounterVec
	flushes        *prometheus.CounterVec
	callsOverLimit *prometheus.CounterVec
	rejections     *prometheus.CounterVec
	notifications  *prometheus.CounterVec
	surveys        surveyMetrics
	webhooks       webhookMetrics
}

// Sources are read at each scrape.
type Sources struct {
	Instance string
	// Releases returns the served releases.
	Releases func() []model.Meta
	// BufferedUsage returns the number of calls not yet written to storage.
	BufferedUsage func() int64
	// CertificateExpiry returns the expiry of the TLS certificate in use, or the zero time
	// without TLS.
	CertificateExpiry func() time.Time
}

// New creates and registers the metrics of a server.
func New(sources Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_http_requests_total",
			Help: "HTTP requests by endpoint and status code; endpoint is \"none\" if no route matched.",
		}, []string{"endpoint", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "anamnesis_http_request_duration_seconds",
			Help:    "HTTP request latency, from reading the first header byte to writing the response.",
			Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 10},
		}, []string{"endpoint"}),
		storageUp: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anamnesis_storage_up",
			Help: "Whether storage accepts writes (1) or not (0).",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_config_reloads_total",
			Help: "Configuration reloads by source and outcome: applied, or refused with the previous configuration kept.",
		}, []string{"source", "outcome"}),
		flushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_usage_flushes_total",
			Help: "Flushes of buffered usage counts by outcome: stored or failed.",
		}, []string{"outcome"}),
		callsOverLimit: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_quota_exceeded_total",
			Help: "Requests rejected because the application's monthly quota was exhausted, by plan and service.",
		}, []string{"plan", "service"}),
		rejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_http_requests_rejected_total",
			Help: "Requests and connections rejected by load shedding, by exhausted resource: calls, body_bytes, assessments or connections.",
		}, []string{"reason"}),
		surveys: newSurveyMetrics(),
		notifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_notifications_total",
			Help: "Messages to users by channel (email, sms) and outcome: sent, failed, or dropped before any attempt.",
		}, []string{"channel", "outcome"}),
		webhooks: newWebhookMetrics(),
	}
	m.registry.MustRegister(m.surveys.collectors()...)
	m.registry.MustRegister(m.webhooks.collectors()...)
	m.registry.MustRegister(
		version.NewCollector(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.durations, m.storageUp, m.reloads, m.flushes, m.callsOverLimit, m.rejections, m.notifications,
		&releaseCollector{sources.Releases},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anamnesis_usage_buffered_calls",
			Help: "Calls counted in memory but not yet stored.",
		}, func() float64 { return float64(sources.BufferedUsage()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anamnesis_tls_certificate_expiry_timestamp_seconds",
			Help: "Expiry of the serving certificate in seconds since the Unix epoch; 0 without TLS.",
		}, func() float64 { return max(0, float64(sources.CertificateExpiry().Unix())) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "anamnesis_instance_info",
			Help:        "Identity of this instance; always 1.",
			ConstLabels: prometheus.Labels{"instance_id": sources.Instance},
		}, func() float64 { return 1 }),
	)
	return m
}

// Handler returns the metrics endpoint.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observe records a response.
func (m *Metrics) Observe(endpoint string, status int, duration time.Duration) {
	if endpoint == "" {
		endpoint = "none"
	}
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(endpoint).Observe(duration.Seconds())
}

// SetStorageUp sets whether storage is writable.
func (m *Metrics) SetStorageUp(up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.storageUp.Set(value)
}

// RecordReload counts an attempt to reload changed files.
func (m *Metrics) RecordReload(source string, err error) {
	m.reloads.WithLabelValues(source, outcomeLabel(err, "applied", "refused")).Inc()
}

// RecordUsageFlush counts an attempt to store usage counts.
func (m *Metrics) RecordUsageFlush(err error) {
	m.flushes.WithLabelValues(outcomeLabel(err, "stored", "failed")).Inc()
}

// RecordOverLimit counts a call that exceeds a plan's limit for a service.
func (m *Metrics) RecordOverLimit(plan string, service quota.Operation) {
	m.callsOverLimit.WithLabelValues(plan, string(service)).Inc()
}

// RecordRejection counts a call or connection rejected for lack of capacity.
func (m *Metrics) RecordRejection(reason string) {
	m.rejections.WithLabelValues(reason).Inc()
}

// RecordNotification counts a message to a user.
func (m *Metrics) RecordNotification(channel notify.Channel, outcome notify.Outcome) {
	m.notifications.WithLabelValues(string(channel), string(outcome)).Inc()
}

func outcomeLabel(err error, success, failure string) string {
	if err != nil {
		return failure
	}
	return success
}

var releaseInfoDesc = prometheus.NewDesc("anamnesis_release_info",
	"Served releases by model and version; always 1.", []string{"model", "version"}, nil)

// releaseCollector collects the currently served releases.
type releaseCollector struct{ releases func() []model.Meta }

// Describe implements prometheus.Collector.
func (c *releaseCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- releaseInfoDesc
}

// Collect implements prometheus.Collector.
func (c *releaseCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, release := range c.releases() {
		metrics <- prometheus.MustNewConstMetric(releaseInfoDesc, prometheus.GaugeValue, 1, release.ModelID, release.Version)
	}
}
