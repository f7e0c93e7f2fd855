// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

func TestHasServingEndpoint(t *testing.T) {
	t.Parallel()
	endpoint := func(ready, serving, terminating *bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{
			Addresses:  []string{"10.244.0.7"},
			Conditions: discoveryv1.EndpointConditions{Ready: ready, Serving: serving, Terminating: terminating},
		}
	}
	slice := func(endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
		return discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{{Port: ptr.To[int32](8443)}}, Endpoints: endpoints}
	}
	isTrue, isFalse := ptr.To(true), ptr.To(false)
	ready, starting := endpoint(isTrue, isTrue, isFalse), endpoint(isFalse, isFalse, isFalse)
	noPort, noAddress := slice(ready), slice(ready)
	noPort.Ports = nil
	noAddress.Endpoints[0].Addresses = nil
	for name, test := range map[string]struct {
		slices []discoveryv1.EndpointSlice
		want   bool
	}{
		"no slice yet":                   {nil, false},
		"no endpoint yet":                {[]discoveryv1.EndpointSlice{slice()}, false},
		"one that starts":                {[]discoveryv1.EndpointSlice{slice(starting)}, false},
		"one that serves":                {[]discoveryv1.EndpointSlice{slice(ready)}, true},
		"one of several":                 {[]discoveryv1.EndpointSlice{slice(starting, ready)}, true},
		"one in another slice":           {[]discoveryv1.EndpointSlice{slice(starting), slice(ready)}, true},
		"one without conditions":         {[]discoveryv1.EndpointSlice{slice(endpoint(nil, nil, nil))}, true},
		"one that drains":                {[]discoveryv1.EndpointSlice{slice(endpoint(isFalse, isTrue, isTrue))}, false},
		"one that is ready and leaves":   {[]discoveryv1.EndpointSlice{slice(endpoint(isTrue, isTrue, isTrue))}, false},
		"one that is to be ready early":  {[]discoveryv1.EndpointSlice{slice(endpoint(isTrue, isFalse, isFalse))}, false},
		"pods without the port":          {[]discoveryv1.EndpointSlice{noPort}, false},
		"an endpoint without an address": {[]discoveryv1.EndpointSlice{noAddress}, false},
	} {
		if got := HasServingEndpoint(test.slices); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	dialErr := errors.New("connection refused")
	for name, test := range map[string]struct {
		facts       Facts
		shouldProbe bool
		want        string
	}{
		"no endpoint yet":             {Facts{}, false, "waiting EndpointUnreachable"},
		"no endpoint for long":        {Facts{AvailableFor: time.Hour}, false, "waiting EndpointUnreachable"},
		"the proxy is behind":         {Facts{HasEndpoint: true, ProbeErr: dialErr}, true, "waiting EndpointUnreachable"},
		"the proxy is still behind":   {Facts{HasEndpoint: true, ProbeErr: dialErr, AvailableFor: probeTimeout - time.Second}, true, "waiting EndpointUnreachable"},
		"it answers":                  {Facts{HasEndpoint: true}, true, ""},
		"it may never be called":      {Facts{HasEndpoint: true, ProbeErr: dialErr, AvailableFor: probeTimeout}, false, ""},
		"it was never out of service": {Facts{HasEndpoint: true, AvailableFor: time.Hour}, false, ""},
	} {
		problemtest.Expect(t, name, Evaluate(test.facts), test.want)
		if got := test.facts.ShouldProbe(); got != test.shouldProbe {
			t.Errorf("%s: got ShouldProbe %v, want %v", name, got, test.shouldProbe)
		}
	}
}

// TestMessageIsStable checks that the message stays the same: each change would cause a
// status write.
func TestMessageIsStable(t *testing.T) {
	t.Parallel()
	dialError := func(port int) error {
		return fmt.Errorf("calling 10.96.0.7:443: %w", &net.OpError{
			Op: "dial", Net: "tcp",
			Source: &net.TCPAddr{IP: net.IPv4(10, 244, 0, 5), Port: port}, Addr: &net.TCPAddr{IP: net.IPv4(10, 96, 0, 7), Port: 443},
			Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
		})
	}
	first, second := problem.FromError(Evaluate(Facts{HasEndpoint: true, ProbeErr: dialError(40001)})), problem.FromError(Evaluate(Facts{HasEndpoint: true, ProbeErr: dialError(40002)}))
	if first.Message != second.Message || !strings.Contains(first.Message, "connection refused") {
		t.Errorf("got messages %q and %q, want the same message with its cause", first.Message, second.Message)
	}
	if first.RequeueAfter <= 0 || first.RequeueAfter > time.Second {
		t.Errorf("requeue after %s, want at most a second", first.RequeueAfter)
	}
}
