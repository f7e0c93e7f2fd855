// SPDX-License-Identifier: Apache-2.0

// Package client calls an instance of Anamnesis from Go: the symptom
// assessment under /v3 as Engine, the guidance platform under /api as
// Guidance. Types and calls are generated from the two contracts and stand in
// the folders beside; here is what both need: credentials, access tokens,
// errors and options. No code of the server lives here or is imported.
//
// An interview keeps its evidence with the caller. Each call sends all of it,
// and the answer to each question is added to it:
//
//	c, err := client.New("https://demo.example", client.Credentials{AppID: "portal", AppKey: key})
//	…
//	interview := enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34}, Evidence: evidence}
//	diagnosis, err := c.Engine.Diagnose(ctx, interview, client.InterviewID(id))
//
// What holds for one call is given behind its arguments, as InterviewID is
// here; what holds for all of them is given to New, by WithEditors.
//
// An answer that is not a success is an *Error, which errors.AsType finds.
// Nothing is sent again, save where an access token was refused before its
// time; a context ends a call that takes too long.
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

// A Client calls one instance as one application. It may be shared.
type Client struct {
	// Engine is the symptom assessment, /v3.
	Engine *enginev3.API
	// Guidance is the guidance platform, /api.
	Guidance *guidance.API
}

// Credentials are an application's. The engine takes the id and the key on
// every call; the guidance platform takes an access token that is got for them.
type Credentials struct {
	AppID, AppKey string
	// InstanceID is the id of the instance, without -mgp. It is needed for
	// access tokens, and so for calls to the guidance platform.
	InstanceID string
	// Scopes of the access token; empty for all that the application has.
	Scopes []string
}

// String names the application and keeps its key to itself.
func (c Credentials) String() string { return "application " + c.AppID }

// New makes a client of the instance at an address such as
// https://demo.example, which is where both APIs begin.
func New(address string, credentials Credentials, options ...Option) (*Client, error) {
	base, err := parse(address)
	if err != nil {
		return nil, err
	}
	s := settings{http: &http.Client{}}
	for _, option := range options {
		option(&s)
	}
	plain := newCaller(s.http)
	engine := &enginev3.Client{Server: base + "/v3/", Client: plain, RequestEditors: []enginev3.RequestEditorFn{credentials.sign}}
	platform := &guidance.Client{Server: base + "/", Client: &bearer{caller: plain, tokens: newTokens(base, credentials, plain)}}
	for _, edit := range s.editors {
		engine.RequestEditors = append(engine.RequestEditors, edit)
		platform.RequestEditors = append(platform.RequestEditors, edit)
	}
	return &Client{Engine: enginev3.NewAPI(engine), Guidance: guidance.NewAPI(platform)}, nil
}

// parse checks an address and returns it without a slash at its end.
func parse(address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("reading the address of the instance: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return "", fmt.Errorf("the address of the instance is %q, and has to be one such as https://demo.example", base.Redacted())
	}
	return strings.TrimSuffix(base.String(), "/"), nil
}

// An Option changes how a Client calls.
type Option func(*settings)

type settings struct {
	http    *http.Client
	editors []Editor
}

// WithHTTPClient has calls made by an HTTP client, as for its timeout or its
// transport. Redirects are not followed all the same: they would take the
// application's key elsewhere.
func WithHTTPClient(client *http.Client) Option {
	return func(s *settings) { s.http = client }
}

// WithRoots has calls made by an HTTP client of its own that trusts these
// authorities in place of the system's, as the one that the operator makes for
// an Instance: ca.crt in the Secret <instance>-serving-tls.
func WithRoots(roots *x509.CertPool) Option {
	return func(s *settings) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		s.http = &http.Client{Transport: transport}
	}
}

// WithEditors edits every call, before those edit it that are given to it.
func WithEditors(editors ...Editor) Option {
	return func(s *settings) { s.editors = append(s.editors, editors...) }
}
