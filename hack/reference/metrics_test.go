// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFileMetricsReadsEveryKindOfDeclaration(t *testing.T) {
	t.Parallel()
	got, err := fileMetrics("x.go", `package x
import p "github.com/prometheus/client_golang/prometheus"
var desc = p.NewDesc("anamnesis_releases", "Served " + "releases.", []string{"model"}, p.Labels{"tenant": id})
func f(values chan<- p.Metric) {
	p.NewRegistry()
	p.NewCounterVec(p.CounterOpts{Name: "anamnesis_calls_total", Help: "Calls."}, []string{"endpoint", "status"})
	p.NewHistogram(p.HistogramOpts{Name: "anamnesis_seconds", Help: "Latency.", Buckets: []float64{1}})
	p.NewGaugeFunc(p.GaugeOpts{Name: "anamnesis_info", Help: "Identity.", ConstLabels: p.Labels{"id": id}}, func() float64 { return 1 })
	values <- p.MustNewConstMetric(desc, p.GaugeValue, 1, "en")
}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []metric{
		{"anamnesis_releases", "gauge", "Served releases.", []string{"model", "tenant"}},
		{"anamnesis_calls_total", "counter", "Calls.", []string{"endpoint", "status"}},
		{"anamnesis_seconds", "histogram", "Latency.", nil},
		{"anamnesis_info", "gauge", "Identity.", []string{"id"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(metric{})); diff != "" {
		t.Error(diff)
	}
}

func TestFileMetricsIgnoresOtherPackages(t *testing.T) {
	t.Parallel()
	if got, err := fileMetrics("x.go", `package x; import "other/prometheus"; var c = prometheus.NewCounter(opts)`); err != nil || got != nil {
		t.Errorf("got %v, %v; want no metrics", got, err)
	}
}

// TestFileMetricsRejectsUnsupportedDeclarations checks that no declaration is skipped.
func TestFileMetricsRejectsUnsupportedDeclarations(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`prometheus.NewCounter(options)`:                                                                 "expected an options literal",
		`prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: "Calls."})`:                      "expected a string literal",
		`prometheus.NewCounter(prometheus.CounterOpts{Name: "anamnesis_calls_total"})`:                   "missing help",
		`prometheus.NewCounter(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."})`:             "prefix anamnesis_",
		`prometheus.NewCounter(prometheus.CounterOpts{Namespace: "anamnesis"})`:                          "full name",
		`prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anamnesis_x", Help: "X."}, []string{label})`: "labels",
		`prometheus.NewDesc("anamnesis_x", "X.", nil, nil)`:                                              "MustNewConstMetric",
		`prometheus.NewNovelty()`: "unknown constructor NewNovelty",
	} {
		source := "package x\nimport \"github.com/prometheus/client_golang/prometheus\"\nvar x = " + expression
		if got, err := fileMetrics("x.go", source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, error %v; want error %q", expression, got, err, want)
		}
	}
	if _, err := fileMetrics("x.go", `package x; import "github.com/prometheus/client_golang/prometheus/promauto"`); err == nil {
		t.Error("got no error for promauto")
	}
}

// TestMetricsOfBothBinariesAreFound fails if a directory with metrics was moved.
func TestMetricsOfBothBinariesAreFound(t *testing.T) {
	t.Chdir("../..")
	for _, b := range binaries {
		found, err := collectMetrics(b.sources)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) < 5 {
			t.Errorf("%s: got %v, want at least 5 metrics", b.heading, found)
		}
	}
}
