// SPDX-License-Identifier: Apache-2.0

// Package probe checks whether an Instance is reachable at the address of its Service. The
// address becomes reachable later than the pods become ready, because the endpoints of the
// Service and the proxy on every node need time to update. Until then, nodes refuse or
// drop connections to the Service. The package uses no Kubernetes client and sets no
// conditions.
package probe

import (
	"errors"
	"net"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// ReasonEndpointUnreachable is the Ready reason while the pods are ready but not reachable
// through the Service.
const ReasonEndpointUnreachable = "EndpointUnreachable"

const (
	// probeTimeout is how long after a pod became available the operator keeps probing. A
	// cluster may block traffic from the operator to tenants; the operator then relies on
	// the EndpointSlice alone.
	probeTimeout = 10 * time.Second
	// probeInterval is the delay between probes. It is short because proxies lag by a few
	// tenths of a second while users wait for Ready.
	probeInterval = 300 * time.Millisecond
)

// Facts are the observed state of an Instance's address.
type Facts struct {
	// HasEndpoint reports whether the Service has a serving endpoint.
	HasEndpoint bool
	// ProbeErr is the error of the last connection to the Service, or nil if it succeeded.
	ProbeErr error
	// AvailableFor is how long a pod has been available.
	AvailableFor time.Duration
}

// ShouldProbe reports whether a probe can still change the result of Evaluate.
func (f Facts) ShouldProbe() bool { return f.HasEndpoint && f.AvailableFor < probeTimeout }

// Evaluate returns a problem if the address is not reachable yet.
func Evaluate(facts Facts) error {
	switch {
	case !facts.HasEndpoint:
		return unreachable("the Service has no serving endpoint yet")
	case facts.ProbeErr != nil && facts.AvailableFor < probeTimeout:
		return unreachable("the Service does not route to the pods yet: " + cause(facts.ProbeErr))
	}
	return nil
}

func unreachable(message string) error {
	found := problem.Waiting("", ReasonEndpointUnreachable, "%s", message)
	found.RequeueAfter = probeInterval
	return found
}

// cause strips the addresses from a connection error, because the local address differs
// on each attempt.
func cause(err error) string {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// HasServingEndpoint reports whether any endpoint of a Service accepts requests. By the
// API definition, an unset condition of an endpoint counts as true.
func HasServingEndpoint(slices []discoveryv1.EndpointSlice) bool {
	for _, slice := range slices {
		if len(slice.Ports) == 0 {
			continue // the pods have no port with the name that the Service targets
		}
		for _, endpoint := range slice.Endpoints {
			if isServing(endpoint) {
				return true
			}
		}
	}
	return false
}

func isServing(endpoint discoveryv1.Endpoint) bool {
	conditions := endpoint.Conditions
	return len(endpoint.Addresses) > 0 &&
		ptr.Deref(conditions.Ready, true) && ptr.Deref(conditions.Serving, true) && !ptr.Deref(conditions.Terminating, false)
}
