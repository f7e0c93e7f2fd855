// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	anamnesis "github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/probe"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	// callTimeout limits a call including its response, so that a hanging Instance cannot
	// block a worker.
	callTimeout = 5 * time.Second
	// maxResponseBytes limits how much of a response is read. Responses are not trusted,
	// because tenants choose the images of their servers.
	maxResponseBytes = 1 << 20
	// idleTimeout is how long a connection is kept open for the next call of the same
	// reconcile. It is short because the next reconcile is a minute away, and there may be
	// thousands of Instances.
	idleTimeout = 10 * time.Second
	// connectionTTL is how long an unused connection stays in the pool.
	connectionTTL = 10 * time.Minute
)

// An endpoint holds everything needed to call an Instance. A connection is replaced if any
// part of its endpoint changes.
type endpoint struct {
	// Instance is the UID of the Instance, and InstanceID its name. URL is the URL of
	// requests, which the server's certificate need not cover. HostPort is the address of
	// the server.
	Instance                  types.UID
	InstanceID, URL, HostPort string
	// ApplicationKey is the operator's key.
	ApplicationKey string
	// ServingCertificates are the server's certificates, and CABundle is the CA bundle of its
	// clients, both in PEM.
	ServingCertificates, CABundle []byte
}

// loadEndpoint reads an Instance's endpoint from the objects that the operator created
// for it.
func loadEndpoint(ctx context.Context, reader client.Reader, instance *v1alpha1.Instance) (endpoint, error) {
	service, serving, credentials := &corev1.Service{}, &corev1.Secret{}, &corev1.Secret{}
	for name, object := range map[string]client.Object{
		resources.ServerName(instance):            service,
		resources.TLSSecretName(instance):         serving,
		resources.CredentialsSecretName(instance): credentials,
	} {
		err := reader.Get(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: name}, object)
		if client.IgnoreNotFound(err) != nil {
			return endpoint{}, fmt.Errorf("loading the endpoint of Instance %s: %w", instance.Name, err)
		}
	}
	found := endpoint{
		Instance:            instance.UID,
		InstanceID:          instance.Name,
		URL:                 resources.ClusterURL(instance),
		HostPort:            net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(resources.ServicePort)),
		ApplicationKey:      resources.ParseApplicationKeys(credentials.Data, resources.OperatorApplicationName).Current,
		ServingCertificates: serving.Data[corev1.TLSCertKey],
		CABundle:            serving.Data[resources.TLSCAKey],
	}
	if service.Spec.ClusterIP == "" || found.ApplicationKey == "" || len(found.ServingCertificates) == 0 {
		return endpoint{}, problem.Waiting("", reasonInstanceNotReady, "the Service, certificate or credentials of Instance %s are not ready yet", instance.Name)
	}
	return found, nil
}

// fingerprint identifies an endpoint.
func (e endpoint) fingerprint() [sha256.Size]byte {
	encoded, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("encoding strings: %v", err))
	}
	return sha256.Sum256(encoded)
}

// connectionPool caches the connections to all Instances, so that access tokens are
// reused across reconciles.
type connectionPool struct {
	// dial connects to host:port. If nil, a net.Dialer is used. Tests without a cluster set
	// it.
	dial func(ctx context.Context, network, hostPort string) (net.Conn, error)
	now  func() time.Time

	mutex      sync.Mutex
	byInstance map[types.UID]*connection
	lastSweep  time.Time
	dialer     net.Dialer
}

type connection struct {
	fingerprint [sha256.Size]byte
	api         *guidance.API
	transport   *http.Transport
	lastUsed    time.Time
}

// get returns the API client for an Instance.
func (c *connectionPool) get(target endpoint) (*guidance.API, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now, fingerprint := c.now(), target.fingerprint()
	c.sweep(now)
	if known := c.byInstance[target.Instance]; known != nil {
		if known.fingerprint == fingerprint {
			known.lastUsed = now
			return known.api, nil
		}
		known.transport.CloseIdleConnections()
	}
	created, err := c.connect(target)
	if err != nil {
		return nil, err
	}
	created.fingerprint, created.lastUsed = fingerprint, now
	if c.byInstance == nil {
		c.byInstance = map[types.UID]*connection{}
	}
	c.byInstance[target.Instance] = created
	return created.api, nil
}

// sweep periodically removes unused connections.
func (c *connectionPool) sweep(now time.Time) {
	if now.Sub(c.lastSweep) < time.Minute {
		return
	}
	c.lastSweep = now
	for uid, known := range c.byInstance {
		if now.Sub(known.lastUsed) > connectionTTL {
			known.transport.CloseIdleConnections()
			delete(c.byInstance, uid)
		}
	}
}

// connect creates a client that connects to the Instance's server with TLS, at the address
// of its Service and without a proxy.
func (c *connectionPool) connect(target endpoint) (*connection, error) {
	config, err := probe.TLSConfig(target.ServingCertificates, target.CABundle)
	if err != nil {
		return nil, fmt.Errorf("loading the CA certificates of Instance %s: %w", target.InstanceID, err)
	}
	dial := c.dial
	if dial == nil {
		dial = c.dialer.DialContext
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial(ctx, network, target.HostPort)
		},
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    callTimeout,
		MaxConnsPerHost:        2,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: 1 << 16,
	}
	caller := &http.Client{Transport: limitedTransport{transport}, Timeout: callTimeout}
	created, err := anamnesis.New(target.URL,
		anamnesis.Credentials{AppID: resources.OperatorApplicationName, AppKey: target.ApplicationKey, InstanceID: target.InstanceID},
		anamnesis.WithHTTPClient(caller))
	if err != nil {
		return nil, fmt.Errorf("calling Instance %s: %w", target.InstanceID, err)
	}
	return &connection{api: created.Guidance, transport: transport}, nil
}

// limitedTransport reads at most maxResponseBytes of a response.
type limitedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxResponseBytes), response.Body}
	return response, nil
}
