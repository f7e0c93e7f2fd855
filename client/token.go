// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// A bearerDoer sends requests with an access token.
type bearerDoer struct {
	doer
	tokens *tokenSource
}

// Do implements the Doer of the generated clients. If the instance rejects a token
// before it expires, for example after rotating its signing keys, Do replaces the
// token once.
func (b *bearerDoer) Do(request *http.Request) (*http.Response, error) {
	token, err := b.tokens.token(request.Context(), nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(request)
	response, err := b.doer.Do(request)
	if apiErr, ok := errors.AsType[*Error](err); !ok || apiErr.Status != http.StatusUnauthorized {
		return response, err
	}
	retry, ok := cloneRequest(request)
	if !ok {
		return nil, err
	}
	if token, err = b.tokens.token(request.Context(), token); err != nil {
		return nil, err
	}
	token.SetAuthHeader(retry)
	return b.doer.Do(retry)
}

// cloneRequest copies a request to send it again, or returns false if its body cannot
// be read twice.
func cloneRequest(request *http.Request) (*http.Request, bool) {
	clone := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return clone, true
	}
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	clone.Body = body
	return clone, err == nil
}

// tokenSource fetches access tokens and caches the last one until it expires. The
// token sources of the OAuth library cache tokens too, but do not use the context of
// the call that needs the token.
type tokenSource struct {
	instanceID string // ID of the instance
	httpClient *http.Client
	config     clientcredentials.Config
	// cached holds the last token, or nil. It is empty while a caller fetches a new token.
	cached chan *oauth2.Token
}

func newTokenSource(base string, credentials Credentials, calls doer) *tokenSource {
	fetcher := *calls.http
	fetcher.Transport = instanceTransport{credentials.InstanceID, fetcher.Transport}
	t := &tokenSource{
		instanceID: credentials.InstanceID,
		httpClient: &fetcher,
		config: clientcredentials.Config{
			ClientID: credentials.AppID, ClientSecret: credentials.AppKey, Scopes: credentials.Scopes,
			TokenURL: base + "/api/auth/token", AuthStyle: oauth2.AuthStyleInHeader,
		},
		cached: make(chan *oauth2.Token, 1),
	}
	t.cached <- nil
	return t
}

// token returns a valid token other than the rejected token.
func (t *tokenSource) token(ctx context.Context, rejected *oauth2.Token) (token *oauth2.Token, err error) {
	select {
	case token = <-t.cached:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for an access token: %w", context.Cause(ctx))
	}
	defer func() { t.cached <- token }()
	if token.Valid() && token != rejected {
		return token, nil
	}
	return t.fetch(ctx)
}

func (t *tokenSource) fetch(ctx context.Context) (*oauth2.Token, error) {
	if t.instanceID == "" {
		return nil, errors.New("getting an access token: credentials have no InstanceID: set it to the ID of the instance")
	}
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.httpClient))
	if err != nil {
		return nil, fmt.Errorf("getting an access token: %w", tokenError(err))
	}
	return token, nil
}

// tokenError converts the error of a token request to an Error.
func tokenError(err error) error {
	answered, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || answered.Response.StatusCode < 300 {
		return stripURL(err)
	}
	return newError(answered.Response.Request, answered.Response, answered.Body)
}

// instanceTransport adds the header with the instance ID, which is not part of
// OAuth.
type instanceTransport struct {
	id   string
	next http.RoundTripper // if nil, http.DefaultTransport
}

// RoundTrip implements http.RoundTripper.
func (i instanceTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	next := i.next
	if next == nil {
		next = http.DefaultTransport
	}
	request = request.Clone(request.Context())
	request.Header.Set("Instance-Id", i.id+"-mgp")
	return next.RoundTrip(request)
}
