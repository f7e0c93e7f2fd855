// SPDX-License-Identifier: Apache-2.0

// Package address finds out whether an Instance answers where its clients call
// it, which is later than its pods are ready: the Service has to learn of them,
// and after it every node's proxy, each in its own time. Until then a node
// refuses connections to the Service, or loses them.
package address

import (
	"errors"
	"net"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// ReasonNotAnswering is the reason of Ready while the pods are ready and their
// Service does not lead to them yet.
const ReasonNotAnswering = "AddressNotAnswering"

const (
	// patience is how long after a pod became available the address is called in
	// vain. A cluster may forbid the operator to reach tenants, and then the
	// endpoint is all that can be known.
	patience = 10 * time.Second
	// lookAgain is how soon the next look is. A proxy is behind for some tenths
	// of a second, and somebody waits for Ready.
	lookAgain = 300 * time.Millisecond
)

// Facts are what is known of an Instance's address.
type Facts struct {
	// Served says that the Service has an endpoint that serves.
	Served bool
	// Refusal is why a call to the Service was not answered; nil when it was.
	Refusal error
	// Available is for how long a pod has been available.
	Available time.Duration
}

// WorthCalling says whether a call to the address can still change what is said
// of it.
func (f Facts) WorthCalling() bool { return f.Served && f.Available < patience }

// Judge says what is left until the address answers, or nil.
func Judge(facts Facts) error {
	switch {
	case !facts.Served:
		return waiting("the Service has no endpoint that serves yet")
	case facts.Refusal != nil && facts.Available < patience:
		return waiting("the Service does not lead to the pods yet: " + cause(facts.Refusal))
	}
	return nil
}

func waiting(message string) error {
	found := problem.Waiting("", ReasonNotAnswering, "%s", message)
	found.After = lookAgain
	return found
}

// cause leaves out the addresses of a connection, of which one is another each
// time.
func cause(err error) string {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// Served says whether one of a Service's endpoints takes requests. What is not
// said of an endpoint's conditions means, by their definition, that it does.
func Served(slices []discoveryv1.EndpointSlice) bool {
	for _, slice := range slices {
		if len(slice.Ports) == 0 {
			continue // the pods have no port of the name that the Service looks for
		}
		for _, endpoint := range slice.Endpoints {
			if serves(endpoint) {
				return true
			}
		}
	}
	return false
}

func serves(endpoint discoveryv1.Endpoint) bool {
	conditions := endpoint.Conditions
	return len(endpoint.Addresses) > 0 &&
		ptr.Deref(conditions.Ready, true) && ptr.Deref(conditions.Serving, true) && !ptr.Deref(conditions.Terminating, false)
}
