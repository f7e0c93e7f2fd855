// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// A Health tracks the problems of each of the operator's namespaces. It logs each change
// once and exports a metric. It is safe for concurrent use.
type Health struct {
	log        logr.Logger
	accessible *prometheus.GaugeVec

	mutex sync.Mutex
	// problems holds the problems of each namespace, by the affected part.
	problems map[string]map[string]string
}

// NewHealth creates a Health without known problems and registers its metric.
func NewHealth(log logr.Logger, registry prometheus.Registerer, namespaces []string) (*Health, error) {
	health := &Health{
		log: log,
		accessible: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anamnesis_operator_namespace_accessible",
			Help: "Whether the operator has the permissions it needs in the namespace (1) or not (0).",
		}, []string{"namespace"}),
		problems: map[string]map[string]string{},
	}
	if err := registry.Register(health.accessible); err != nil {
		return nil, fmt.Errorf("registering the namespace metric: %w", err)
	}
	for _, namespace := range namespaces {
		health.accessible.WithLabelValues(namespace).Set(1)
	}
	return health, nil
}

// Report sets the problem of a part of a namespace. An empty problem means healthy.
func (h *Health) Report(namespace, part, problem string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	before := h.summary(namespace)
	if problem == "" {
		delete(h.problems[namespace], part)
	} else {
		if h.problems[namespace] == nil {
			h.problems[namespace] = map[string]string{}
		}
		h.problems[namespace][part] = problem
	}
	if after := h.summary(namespace); after != before {
		h.publish(namespace, after)
	}
}

// publish logs the state of a namespace and updates the metric.
func (h *Health) publish(namespace, summary string) {
	if summary == "" {
		h.accessible.WithLabelValues(namespace).Set(1)
		h.log.Info("watching namespace again", "namespace", namespace)
		return
	}
	h.accessible.WithLabelValues(namespace).Set(0)
	h.log.Error(errors.New(summary), "failed to watch namespace; continuing with the others", "namespace", namespace)
}

// summary describes the problems of a namespace without the affected parts, so that ten
// unreadable kinds count as one problem.
func (h *Health) summary(namespace string) string {
	distinct := slices.Sorted(maps.Values(h.problems[namespace]))
	return strings.Join(slices.Compact(distinct), "; ")
}

// Problems returns one line per problem of each namespace, with the affected parts:
// "namespace clinic: ...: Deployment, Secret".
func (h *Health) Problems() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	lines := make([]string, 0, len(h.problems))
	for _, namespace := range slices.Sorted(maps.Keys(h.problems)) {
		parts := map[string][]string{}
		for _, part := range slices.Sorted(maps.Keys(h.problems[namespace])) {
			problem := h.problems[namespace][part]
			parts[problem] = append(parts[problem], part)
		}
		for _, problem := range slices.Sorted(maps.Keys(parts)) {
			lines = append(lines, fmt.Sprintf("namespace %s: %s: %s", namespace, problem, strings.Join(parts[problem], ", ")))
		}
	}
	return lines
}
