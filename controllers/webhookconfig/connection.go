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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/address"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	// callTimeout bounds one call, answer included, so that an Instance that hangs
	// holds a worker no longer.
	callTimeout = 5 * time.Second
	// mostAnswer is as much of an answer as is read, in bytes: which image a server
	// has is for its tenant to say.
	mostAnswer = 1 << 20
	// idleTimeout is how long a connection is kept for the next call of a visit. The
	// next visit is a minute later, and there may be thousands of Instances.
	idleTimeout = 10 * time.Second
	// forgetAfter is how long a connection is remembered that nobody asks for.
	forgetAfter = 10 * time.Minute
)

// A means is by what an Instance is called: everything on which a connection
// depends, so that another one is made when it changes.
type means struct {
	// Instance and InstanceID are the UID and the name; URL is one that its
	// certificate need not be good for, and HostPort where it is.
	Instance                  types.UID
	InstanceID, URL, HostPort string
	// Key is the operator's.
	Key string
	// Certificates are those of the server, and Authorities whom its clients trust,
	// in PEM.
	Certificates, Authorities []byte
}

// meansOf reads by what an Instance is called, from what the operator made for it.
func meansOf(ctx context.Context, reader client.Reader, instance *v1alpha1.Instance) (means, error) {
	service, serving, credentials := &corev1.Service{}, &corev1.Secret{}, &corev1.Secret{}
	for name, object := range map[string]client.Object{
		resources.ServerName(instance):      service,
		resources.TLSName(instance):         serving,
		resources.CredentialsName(instance): credentials,
	} {
		err := reader.Get(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: name}, object)
		if client.IgnoreNotFound(err) != nil {
			return means{}, fmt.Errorf("reading how Instance %s is called: %w", instance.Name, err)
		}
	}
	found := means{
		Instance:     instance.UID,
		InstanceID:   instance.Name,
		URL:          resources.URL(instance),
		HostPort:     net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(resources.ServicePort)),
		Key:          resources.KeysIn(credentials.Data, resources.OperatorName).Key,
		Certificates: serving.Data[corev1.TLSCertKey],
		Authorities:  serving.Data[resources.TLSAuthorityKey],
	}
	if service.Spec.ClusterIP == "" || found.Key == "" || len(found.Certificates) == 0 {
		return means{}, problem.Waiting("", reasonInstanceNotReady, "the Service, certificate or credentials of Instance %s were only just made", instance.Name)
	}
	return found, nil
}

// fingerprint tells means apart.
func (m means) fingerprint() [sha256.Size]byte {
	encoded, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("strings can always be encoded: %v", err))
	}
	return sha256.Sum256(encoded)
}

// connections are those to all Instances, so that an access token is got once and
// not for each visit.
type connections struct {
	// dial connects to host:port: that of net.Dialer, but in tests without a cluster.
	dial func(ctx context.Context, network, hostPort string) (net.Conn, error)
	now  func() time.Time

	mutex  sync.Mutex
	open   map[types.UID]*connection
	swept  time.Time
	dialer net.Dialer
}

type connection struct {
	fingerprint [sha256.Size]byte
	api         *guidance.API
	transport   *http.Transport
	used        time.Time
}

// to gives the API of an Instance.
func (c *connections) to(m means) (*guidance.API, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now, fingerprint := c.now(), m.fingerprint()
	c.forget(now)
	if known := c.open[m.Instance]; known != nil {
		if known.fingerprint == fingerprint {
			known.used = now
			return known.api, nil
		}
		known.transport.CloseIdleConnections()
	}
	made, err := c.connect(m)
	if err != nil {
		return nil, err
	}
	made.fingerprint, made.used = fingerprint, now
	if c.open == nil {
		c.open = map[types.UID]*connection{}
	}
	c.open[m.Instance] = made
	return made.api, nil
}

// forget lets go of connections that nobody asks for any more, looking now and
// then.
func (c *connections) forget(now time.Time) {
	if now.Sub(c.swept) < time.Minute {
		return
	}
	c.swept = now
	for uid, known := range c.open {
		if now.Sub(known.used) > forgetAfter {
			known.transport.CloseIdleConnections()
			delete(c.open, uid)
		}
	}
}

// connect makes a client that speaks TLS with the Instance's own server, at the
// address of its Service, by no proxy.
func (c *connections) connect(m means) (*connection, error) {
	config, err := address.Expect(m.Certificates, m.Authorities)
	if err != nil {
		return nil, fmt.Errorf("trusting Instance %s: %w", m.InstanceID, err)
	}
	dial := c.dial
	if dial == nil {
		dial = c.dialer.DialContext
	}
	transport := &http.Transport{
		DialContext:            func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, m.HostPort) },
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    callTimeout,
		MaxConnsPerHost:        2,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: 1 << 16,
	}
	caller := &http.Client{Transport: bounded{transport}, Timeout: callTimeout}
	made, err := anamnesis.New(m.URL,
		anamnesis.Credentials{AppID: resources.OperatorName, AppKey: m.Key, InstanceID: m.InstanceID},
		anamnesis.WithHTTPClient(caller))
	if err != nil {
		return nil, fmt.Errorf("calling Instance %s: %w", m.InstanceID, err)
	}
	return &connection{api: made.Guidance, transport: transport}, nil
}

// bounded reads no more of an answer than mostAnswer.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, mostAnswer), response.Body}
	return response, nil
}
