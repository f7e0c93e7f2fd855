// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A diagnosis is the part of an answer that is shown to a person.
type diagnosis struct {
	Conditions []struct {
		CommonName  string  `json:"common_name"`
		Probability float64 `json:"probability"`
	} `json:"conditions"`
	Question struct {
		Text string `json:"text"`
	} `json:"question"`
}

// ask asks the sample Instance for a diagnosis over HTTPS, as its clients
// would: with the credentials and the authority that the operator made.
func (p Platform) ask(ctx context.Context, listen, authority string) (diagnosis, error) {
	key, err := p.SecretKey(ctx, SampleNamespace, SampleInstance+"-app-default", "key")
	if err != nil {
		return diagnosis{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+sampleHost+"/v3/diagnosis", strings.NewReader(sampleQuestion))
	if err != nil {
		return diagnosis{}, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "App-Id": {"default"}, "App-Key": {key}}
	client, err := sampleClient(listen, authority)
	if err != nil {
		return diagnosis{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return diagnosis{}, err
	}
	defer func() { _ = response.Body.Close() }()
	return readDiagnosis(response)
}

// sampleClient trusts the Instance's authority and calls it through the relay.
func sampleClient(listen, authority string) (*http.Client, error) {
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

func readDiagnosis(response *http.Response) (d diagnosis, err error) {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return d, err
	}
	if response.StatusCode != http.StatusOK {
		return d, fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return d, fmt.Errorf("%w in %s", err, body)
	}
	if len(d.Conditions) == 0 || d.Question.Text == "" {
		return d, fmt.Errorf("nothing ranked or nothing asked: %s", body)
	}
	return d, nil
}
