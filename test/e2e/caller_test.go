// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A caller sends plain HTTP requests to an Instance, without the client library. It
// opens a new connection for each request, so that any replica may respond, and returns
// each response as received.
type caller struct {
	client     *http.Client
	host       string
	instanceID string
}

// newCaller returns a caller for the Instance that is relayed at address.
func (tn tenant) newCaller(address string) caller {
	tn.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(tn.secret(tn.key.Name+"-app-default", "ca.crt"))) {
		tn.t.Fatalf("application Secret of %s has no CA certificate in ca.crt", tn.key)
	}
	transport := newTransport(address, &tls.Config{RootCAs: authorities, ServerName: tn.host(), MinVersion: tls.VersionTLS12}, "http/1.1")
	transport.DisableKeepAlives, transport.MaxConnsPerHost = true, 0
	return caller{&http.Client{Transport: transport, Timeout: 20 * time.Second}, tn.host(), tn.key.Name}
}

// send sends a request and returns the response body. A status of 400 or above is an
// error.
func (c caller) send(ctx context.Context, method, path string, body io.Reader, edit func(*http.Request)) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+c.host+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Instance-Id", c.instanceID+"-mgp")
	edit(request)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s %s", method, path, response.Status, answer)
	}
	return answer, err
}

// postJSON posts a JSON object and returns the object in the response, if any.
func (c caller) postJSON(ctx context.Context, path string, content map[string]string) (said map[string]string, err error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, http.MethodPost, path, bytes.NewReader(body), func(request *http.Request) {
		request.Header.Set("Content-Type", "application/json")
	})
	if err == nil && len(answer) > 0 {
		err = json.Unmarshal(answer, &said)
	}
	return said, err
}

// token requests an access token with the key of the default application.
func (c caller) token(ctx context.Context, key string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}}.Encode()
	answer, err := c.send(ctx, http.MethodPost, "/api/auth/token", strings.NewReader(form), func(request *http.Request) {
		request.SetBasicAuth("default", key)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
	if err != nil {
		return "", err
	}
	var said struct {
		AccessToken string `json:"access_token"`
	}
	err = json.Unmarshal(answer, &said)
	return said.AccessToken, err
}

// findUser looks up the test user by email address, and returns an error if the user is
// not found.
func (c caller) findUser(ctx context.Context, token string) error {
	answer, err := c.send(ctx, http.MethodGet, "/api/mgp/v1/users?email="+userEmail, nil, func(request *http.Request) {
		request.Header.Set("Authorization", "Bearer "+token)
	})
	if err == nil && strings.Count(string(answer), userEmail+`"`) != 1 {
		err = fmt.Errorf("user not found: %s", answer)
	}
	return err
}

// countSigningKeys returns the number of keys in the published JWKS.
func (c caller) countSigningKeys(ctx context.Context) (int, error) {
	answer, err := c.send(ctx, http.MethodGet, "/.well-known/jwks.json", nil, func(*http.Request) {})
	var said struct{ Keys []struct{} }
	if err == nil {
		err = json.Unmarshal(answer, &said)
	}
	return len(said.Keys), err
}
