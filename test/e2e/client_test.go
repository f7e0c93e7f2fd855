// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An apiClient calls one Instance as a tenant's program would: over HTTPS, with
// the authority and the credentials that the operator made.
type apiClient struct {
	host, id, key string
	http          *http.Client
}

// dial relays the Instance's Service to a loopback port and returns a client
// for its default application. The protocol is "h2" or "http/1.1".
func (n tenant) dial(protocol string) apiClient {
	n.t.Helper()
	return n.dialAt(n.relay(), protocol)
}

// relay makes the Instance's Service reachable and returns its address.
func (n tenant) relay() string {
	n.t.Helper()
	address, err := cluster.Relay(n.t.Context(), "127.0.0.1:0", n.key.Namespace, n.key.Name, 443)
	if err != nil {
		n.t.Fatalf("relay %s: %v", n.key, err)
	}
	return address
}

// dialAt is a client with one connection of its own to a relayed address.
func (n tenant) dialAt(address, protocol string) apiClient {
	n.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(n.secret(n.key.Name+"-serving-tls", "ca.crt"))) {
		n.t.Fatalf("secret %s-tls holds no authority in ca.crt", n.key.Name)
	}
	host := fmt.Sprintf("%s.%s.svc", n.key.Name, n.key.Namespace)
	application := n.key.Name + "-app-default"
	transport := newTransport(address, &tls.Config{RootCAs: authorities, ServerName: host}, protocol)
	n.t.Cleanup(transport.CloseIdleConnections)
	return apiClient{
		host: host,
		id:   n.secret(application, "id"),
		key:  n.secret(application, "key"),
		http: &http.Client{Transport: transport, Timeout: 20 * time.Second},
	}
}

func newTransport(address string, config *tls.Config, protocol string) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP2(protocol == "h2")
	protocols.SetHTTP1(protocol != "h2")
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig: config,
		Protocols:       &protocols,
		MaxConnsPerHost: 1,
	}
}

// An answer is what a call brought back.
type answer struct {
	status int
	body   []byte
}

// decode reads the body of a successful answer.
func (a answer) decode(into any) error {
	if a.status != http.StatusOK {
		return fmt.Errorf("status %d: %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%w in %s", err, a.body)
	}
	return nil
}

// call sends one request. Its body cannot be read twice, so that the transport
// never sends it again: a request that fails is seen to fail.
func (c apiClient) call(ctx context.Context, method, path, body string, header http.Header) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+c.host+path, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return answer{}, err
	}
	request.ContentLength = int64(len(body))
	request.Header = header
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, body: read}, err
}

// headache is an adult's first report.
const headache = `{"sex":"female","age":{"value":34},"evidence":[{"id":"s_33","choice_id":"present","source":"initial"}]}`

// diagnose asks for a diagnosis with the given key.
func (c apiClient) diagnose(ctx context.Context, key string) (answer, error) {
	return c.call(ctx, http.MethodPost, "/v3/diagnosis", headache, http.Header{
		"Content-Type": {"application/json"},
		"App-Id":       {c.id},
		"App-Key":      {key},
	})
}

// mustDiagnose asks for a diagnosis and fails the test unless it is answered.
func (c apiClient) mustDiagnose(t *testing.T) {
	t.Helper()
	got, err := c.diagnose(t.Context(), c.key)
	if err != nil {
		t.Fatalf("diagnosis: %v", err)
	}
	var diagnosis struct {
		Question   *struct{ Text string }
		Conditions []struct{ ID string }
	}
	if err := got.decode(&diagnosis); err != nil {
		t.Fatalf("diagnosis: %v", err)
	}
	if diagnosis.Question == nil || diagnosis.Question.Text == "" || len(diagnosis.Conditions) == 0 {
		t.Fatalf("diagnosis asks nothing or ranks nothing: %s", got.body)
	}
}

// diagnosesCounted is how many diagnoses the Instance has counted, read as the
// tenant would read it.
func (c apiClient) diagnosesCounted(ctx context.Context, instance string) (int, error) {
	token, err := c.token(ctx, instance)
	if err != nil {
		return 0, err
	}
	today := time.Now().UTC()
	path := fmt.Sprintf("/api/mgp/v1/usage?from=%s&to=%s", today.AddDate(0, 0, -1).Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly))
	got, err := c.call(ctx, http.MethodGet, path, "", http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return 0, err
	}
	var counts []struct {
		Endpoint string
		Calls    int
	}
	if err := got.decode(&counts); err != nil {
		return 0, fmt.Errorf("usage: %w", err)
	}
	total := 0
	for _, count := range counts {
		if strings.HasSuffix(count.Endpoint, "/diagnosis") {
			total += count.Calls
		}
	}
	return total, nil
}

func (c apiClient) token(ctx context.Context, instance string) (string, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Instance-Id": {instance + "-mgp"}}
	request := &http.Request{Header: header}
	request.SetBasicAuth(c.id, c.key)
	got, err := c.call(ctx, http.MethodPost, "/api/auth/token", `{"grant_type":"client_credentials"}`, header)
	if err != nil {
		return "", err
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := got.decode(&token); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return token.AccessToken, nil
}
