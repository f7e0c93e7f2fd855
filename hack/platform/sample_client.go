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

// newSampleClient returns a client for the sample Instance over HTTPS, set up as real
// clients are: with the credentials and the CA that the operator created.
func (p Platform) newSampleClient(ctx context.Context, listen, authority string) (*client.Client, error) {
	credentials := client.Credentials{AppID: "default", InstanceID: SampleInstance}
	var err error
	if credentials.AppKey, err = p.SecretValue(ctx, SampleNamespace, SampleInstance+"-app-default", "key"); err != nil {
		return nil, err
	}
	relayed, err := newRelayHTTPClient(listen, authority)
	if err != nil {
		return nil, err
	}
	return client.New("https://"+sampleHost, credentials, client.WithHTTPClient(relayed))
}

// newRelayHTTPClient returns an HTTP client that trusts the Instance's CA and connects
// through the relay.
func newRelayHTTPClient(listen, authority string) (*http.Client, error) {
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(authority)) {
		return nil, errors.New("parsing the Instance's CA certificate: expected a PEM certificate")
	}
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, listen)
			},
			TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
		},
	}, nil
}

// diagnose sends the request that the curl example shows to users, and checks that the
// response is presentable.
func diagnose(ctx context.Context, c *client.Client) (diagnosis enginev3.Diagnosis, err error) {
	var patient enginev3.Interview
	if err := json.Unmarshal([]byte(sampleInterview), &patient); err != nil {
		return diagnosis, fmt.Errorf("parsing the sample request: %w", err)
	}
	diagnosis, err = c.Engine.Diagnose(ctx, patient)
	if err == nil && (len(diagnosis.Conditions) == 0 || diagnosis.Question == nil) {
		err = errors.New("the response has no conditions or no question")
	}
	return diagnosis, err
}
