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

// A caller calls an Instance as any program may, without the client's help: each
// call on a connection of its own, so that none knows which replica answers, and
// each answer as it came.
type caller struct {
	http *http.Client
	host string
	id   string
}

// calls is a caller of the Instance, relayed at an address.
func (n tenant) calls(address string) caller {
	n.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(n.secret(n.key.Name+"-app-default", "ca.crt"))) {
		n.t.Fatalf("the application of %s has no authority in ca.crt", n.key)
	}
	transport := newTransport(address, &tls.Config{RootCAs: authorities, ServerName: n.host(), MinVersion: tls.VersionTLS12}, "http/1.1")
	transport.DisableKeepAlives, transport.MaxConnsPerHost = true, 0
	return caller{&http.Client{Transport: transport, Timeout: 20 * time.Second}, n.host(), n.key.Name}
}

// send calls a path and returns what a success answers with; any other status is
// an error.
func (c caller) send(ctx context.Context, method, path string, body io.Reader, edit func(*http.Request)) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+c.host+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Instance-Id", c.id+"-mgp")
	edit(request)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s %s", method, path, response.Status, answer)
	}
	return answer, err
}

// postJSON sends an object and returns the one that is answered, if any.
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

// token gets an access token for the key of the default application.
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

// findUser wants the user of the tests to be found by address, with a token.
func (c caller) findUser(ctx context.Context, token string) error {
	answer, err := c.send(ctx, http.MethodGet, "/api/mgp/v1/users?email="+userAddress, nil, func(request *http.Request) {
		request.Header.Set("Authorization", "Bearer "+token)
	})
	if err == nil && strings.Count(string(answer), userAddress+`"`) != 1 {
		err = fmt.Errorf("the user is not found: %s", answer)
	}
	return err
}

// signingKeys are how many keys tokens may be signed by.
func (c caller) signingKeys(ctx context.Context) (int, error) {
	answer, err := c.send(ctx, http.MethodGet, "/.well-known/jwks.json", nil, func(*http.Request) {})
	var said struct{ Keys []struct{} }
	if err == nil {
		err = json.Unmarshal(answer, &said)
	}
	return len(said.Keys), err
}
