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

// sampleClient calls the sample Instance over HTTPS, as its clients would: with the
// credentials and the authority that the operator made.
func (p Platform) sampleClient(ctx context.Context, listen, authority string) (*client.Client, error) {
	credentials := client.Credentials{AppID: "default", InstanceID: SampleInstance}
	var err error
	if credentials.AppKey, err = p.SecretKey(ctx, SampleNamespace, SampleInstance+"-app-default", "key"); err != nil {
		return nil, err
	}
	relayed, err := relayedClient(listen, authority)
	if err != nil {
		return nil, err
	}
	return client.New("https://"+sampleHost, credentials, client.WithHTTPClient(relayed))
}

// relayedClient trusts the Instance's authority and calls it through the relay.
func relayedClient(listen, authority string) (*http.Client, error) {
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(authority)) {
		return nil, errors.New("the Instance's certificate authority is not a certificate in PEM")
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

// diagnose asks the question that people are shown for curl, and wants an
// answer that can be shown to them.
func diagnose(ctx context.Context, c *client.Client) (diagnosis enginev3.Diagnosis, err error) {
	var patient enginev3.Interview
	if err := json.Unmarshal([]byte(sampleQuestion), &patient); err != nil {
		return diagnosis, fmt.Errorf("reading the sample question: %w", err)
	}
	diagnosis, err = c.Engine.Diagnose(ctx, patient)
	if err == nil && (len(diagnosis.Conditions) == 0 || diagnosis.Question == nil) {
		err = errors.New("the answer ranks nothing or asks nothing")
	}
	return diagnosis, err
}
