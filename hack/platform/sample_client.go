// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// newSampleClient returns a client for the sample Instance over HTTPS, with the
// credentials and the CA that the operator created, like any client.
func (p Platform) newSampleClient(ctx context.Context, listen, caCert string) (*client.Client, error) {
	credentials := client.Credentials{AppID: "default", InstanceID: SampleInstance}
	var err error
	if credentials.AppKey, err = p.SecretValue(ctx, SampleNamespace, SampleInstance+"-app-default", "key"); err != nil {
		return nil, err
	}
	httpClient, err := newRelayHTTPClient(listen, caCert)
	if err != nil {
		return nil, err
	}
	return client.New("https://"+sampleHost, credentials, client.WithHTTPClient(httpClient))
}

// newRelayHTTPClient returns an HTTP client that trusts the Instance's CA and connects
// through the relay.
func newRelayHTTPClient(listen, caCert string) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(caCert)) {
		return nil, errors.New("parsing the Instance's CA certificate: expected a PEM certificate")
	}
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, listen)
			},
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
	}, nil
}

// diagnose sends the request of the printed curl example, and checks that the response
// has conditions and a question.
func diagnose(ctx context.Context, c *client.Client) (diagnosis enginev3.Diagnosis, err error) {
	var patient enginev3.Interview
	if err := json.Unmarshal([]byte(sampleInterview), &patient); err != nil {
		return diagnosis, fmt.Errorf("parsing the sample request: %w", err)
	}
	diagnosis, err = c.Engine.Diagnose(ctx, patient)
	if err == nil && (len(diagnosis.Conditions) == 0 || diagnosis.Question == nil) {
		err = errors.New("incomplete diagnosis: expected conditions and a question")
	}
	return diagnosis, err
}
