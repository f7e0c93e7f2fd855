// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// A Health knows what is wrong with each of the operator's namespaces, and tells
// it when that changes: once in the log, and in a metric. It may be used by
// several goroutines at a time.
type Health struct {
	log  logr.Logger
	well *prometheus.GaugeVec

	mutex sync.Mutex
	// troubles of each namespace: what is wrong, by what it is wrong with.
	troubles map[string]map[string]string
}

// NewHealth makes the health of namespaces of which nothing bad is known, and
// registers its metric.
func NewHealth(log logr.Logger, registry prometheus.Registerer, namespaces []string) (*Health, error) {
	health := &Health{
		log: log,
		well: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anamnesis_operator_namespace_well",
			Help: "1 when the operator has the rights in a namespace that it needs, else 0.",
		}, []string{"namespace"}),
		troubles: map[string]map[string]string{},
	}
	if err := registry.Register(health.well); err != nil {
		return nil, fmt.Errorf("registering the metric of namespaces: %w", err)
	}
	for _, namespace := range namespaces {
		health.well.WithLabelValues(namespace).Set(1)
	}
	return health, nil
}

// Report says what is wrong with a part of a namespace; empty when it is well.
func (h *Health) Report(namespace, part, trouble string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	before := h.summary(namespace)
	if trouble == "" {
		delete(h.troubles[namespace], part)
	} else {
		if h.troubles[namespace] == nil {
			h.troubles[namespace] = map[string]string{}
		}
		h.troubles[namespace][part] = trouble
	}
	if after := h.summary(namespace); after != before {
		h.tell(namespace, after)
	}
}

// tell says in the log and in the metric how a namespace is now.
func (h *Health) tell(namespace, summary string) {
	if summary == "" {
		h.well.WithLabelValues(namespace).Set(1)
		h.log.Info("a namespace is as it should be", "namespace", namespace)
		return
	}
	h.well.WithLabelValues(namespace).Set(0)
	h.log.Info("a namespace is not as it should be; the others are cared for", "namespace", namespace, "trouble", summary)
}

// summary is what is wrong with a namespace, without saying with which parts of
// it, so that ten kinds that cannot be read are one trouble.
func (h *Health) summary(namespace string) string {
	distinct := slices.Sorted(maps.Values(h.troubles[namespace]))
	return strings.Join(slices.Compact(distinct), "; ")
}

// Troubles gives a line for each trouble of each namespace, with the parts that
// have it: "namespace clinic: ...: Deployment, Secret".
func (h *Health) Troubles() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	lines := make([]string, 0, len(h.troubles))
	for _, namespace := range slices.Sorted(maps.Keys(h.troubles)) {
		parts := map[string][]string{}
		for _, part := range slices.Sorted(maps.Keys(h.troubles[namespace])) {
			trouble := h.troubles[namespace][part]
			parts[trouble] = append(parts[trouble], part)
		}
		for _, trouble := range slices.Sorted(maps.Keys(parts)) {
			lines = append(lines, fmt.Sprintf("namespace %s: %s: %s", namespace, trouble, strings.Join(parts[trouble], ", ")))
		}
	}
	return lines
}
