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

// A bearer makes calls with an access token.
type bearer struct {
	caller
	tokens *tokens
}

// Do implements the Doer of the generated clients. A token that is refused
// before its time, as when the instance has other signing keys since, is
// replaced once.
func (b *bearer) Do(request *http.Request) (*http.Response, error) {
	token, err := b.tokens.get(request.Context(), nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(request)
	response, err := b.caller.Do(request)
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Status != http.StatusUnauthorized {
		return response, err
	}
	again, ok := repeat(request)
	if !ok {
		return nil, err
	}
	if token, err = b.tokens.get(request.Context(), token); err != nil {
		return nil, err
	}
	token.SetAuthHeader(again)
	return b.caller.Do(again)
}

// repeat makes a request once more; false where its body cannot be read twice.
func repeat(request *http.Request) (*http.Request, bool) {
	again := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return again, true
	}
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	again.Body = body
	return again, err == nil
}

// tokens gets access tokens and keeps the last one until it expires. The
// sources of the library keep tokens too, but fetch them without the context of
// the call that needs one.
type tokens struct {
	instance string // its id
	fetcher  *http.Client
	config   clientcredentials.Config
	// last holds the last token, nil for none, and nothing while somebody
	// fetches another.
	last chan *oauth2.Token
}

func newTokens(base string, credentials Credentials, calls caller) *tokens {
	fetcher := *calls.http
	fetcher.Transport = toInstance{credentials.InstanceID, fetcher.Transport}
	t := &tokens{
		instance: credentials.InstanceID,
		fetcher:  &fetcher,
		config: clientcredentials.Config{
			ClientID: credentials.AppID, ClientSecret: credentials.AppKey, Scopes: credentials.Scopes,
			TokenURL: base + "/api/auth/token", AuthStyle: oauth2.AuthStyleInHeader,
		},
		last: make(chan *oauth2.Token, 1),
	}
	t.last <- nil
	return t
}

// get returns a token that is valid for some time yet, and is not the refused
// one.
func (t *tokens) get(ctx context.Context, refused *oauth2.Token) (token *oauth2.Token, err error) {
	select {
	case token = <-t.last:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for an access token: %w", context.Cause(ctx))
	}
	defer func() { t.last <- token }()
	if token.Valid() && token != refused {
		return token, nil
	}
	return t.fetch(ctx)
}

func (t *tokens) fetch(ctx context.Context) (*oauth2.Token, error) {
	if t.instance == "" {
		return nil, errors.New("getting an access token: the credentials have no InstanceID, and have to name the instance")
	}
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.fetcher))
	if err != nil {
		return nil, fmt.Errorf("getting an access token: %w", explain(err))
	}
	return token, nil
}

// explain makes an Error of an answer that brought no token.
func explain(err error) error {
	answered, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || answered.Response.StatusCode < 300 {
		return withoutAddress(err)
	}
	return newError(answered.Response.Request, answered.Response, answered.Body)
}

// toInstance adds the header by which an instance knows that it is meant, which
// is not in OAuth.
type toInstance struct {
	id   string
	next http.RoundTripper // nil for the default
}

// RoundTrip implements http.RoundTripper.
func (i toInstance) RoundTrip(request *http.Request) (*http.Response, error) {
	next := i.next
	if next == nil {
		next = http.DefaultTransport
	}
	request = request.Clone(request.Context())
	request.Header.Set("Instance-Id", i.id+"-mgp")
	return next.RoundTrip(request)
}
