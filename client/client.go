// SPDX-License-Identifier: Apache-2.0

// Package client is a Go client for an Anamnesis instance: the symptom assessment
// under /v3 as Engine, and the guidance platform under /api as Guidance. Types and
// calls are generated from the two contracts into the subpackages. This package contains
// the shared parts: credentials, access tokens, errors and options. It neither contains
// nor imports server code.
//
// The caller keeps the evidence of an interview. Each call sends all of it, and the
// caller adds the answer to each question:
//
//	c, err := client.New("https://demo.example", client.Credentials{AppID: "portal", AppKey: key})
//	…
//	interview := enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34}, Evidence: evidence}
//	diagnosis, err := c.Engine.Diagnose(ctx, interview, client.InterviewID(id))
//
// Pass the editors of a single call after its arguments, like InterviewID above; pass
// the editors of all calls to New, using WithEditors.
//
// A response other than success is returned as an *Error; use errors.AsType to find
// it. The client does not retry, except when an access token is rejected before it
// expires. Use a context to limit the duration of a call.
package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// A Client calls one instance as one application. It is safe for concurrent use.
type Client struct {
	// Engine is the symptom assessment, /v3.
	Engine *enginev3.API
	// Guidance is the guidance platform, /api.
	Guidance *guidance.API
}

// Credentials are the credentials of an application. The engine takes the ID and key
// on every call; the guidance platform takes an access token, which the client obtains
// with them.
type Credentials struct {
	AppID, AppKey string
	// InstanceID is the ID of the instance, without -mgp. It is required for access
	// tokens, and therefore for calls to the guidance platform.
	InstanceID string
	// Scopes of the access token. Defaults to all scopes of the application.
	Scopes []string
}

// String returns the application's ID without its key.
func (c Credentials) String() string { return "application " + c.AppID }

// New returns a client for the instance at an address such as https://demo.example,
// the common base URL of both APIs.
func New(address string, credentials Credentials, options ...Option) (*Client, error) {
	base, err := parseBaseURL(address)
	if err != nil {
		return nil, err
	}
	s := clientConfig{http: &http.Client{}}
	for _, option := range options {
		option(&s)
	}
	plain := newDoer(s.http)
	engine := &enginev3.Client{Server: base + "/v3/", Client: plain, RequestEditors: []enginev3.RequestEditorFn{credentials.setHeaders}}
	platform := &guidance.Client{Server: base + "/", Client: &bearerDoer{doer: plain, tokens: newTokenSource(base, credentials, plain)}}
	for _, edit := range s.editors {
		engine.RequestEditors = append(engine.RequestEditors, edit)
		platform.RequestEditors = append(platform.RequestEditors, edit)
	}
	return &Client{Engine: enginev3.NewAPI(engine), Guidance: guidance.NewAPI(platform)}, nil
}

// parseBaseURL validates an address and returns it without a trailing slash.
func parseBaseURL(address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parsing the instance address: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return "", fmt.Errorf("invalid instance address %q: expected a URL such as https://demo.example", base.Redacted())
	}
	return strings.TrimSuffix(base.String(), "/"), nil
}

// An Option configures a Client.
type Option func(*clientConfig)

type clientConfig struct {
	http    *http.Client
	editors []Editor
}

// WithHTTPClient sets the HTTP client, for example to set its timeout or transport.
// Redirects are not followed in any case, because they would send the application's
// key to another server.
func WithHTTPClient(client *http.Client) Option {
	return func(s *clientConfig) { s.http = client }
}

// WithRootCAs makes the client use its own HTTP client, which trusts these CAs instead
// of the system's. An example is the CA that the operator creates for an Instance:
// ca.crt in the Secret <instance>-serving-tls.
func WithRootCAs(roots *x509.CertPool) Option {
	return func(s *clientConfig) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		s.http = &http.Client{Transport: transport}
	}
}

// WithEditors applies editors to every call, before the editors of the call itself.
func WithEditors(editors ...Editor) Option {
	return func(s *clientConfig) { s.editors = append(s.editors, editors...) }
}
