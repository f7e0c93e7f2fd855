// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

func listUsage(t *testing.T, c *client.Client) error {
	t.Helper()
	_, err := c.Guidance.ListUsage(t.Context(), nil)
	return err
}

// Calls share a token, even concurrent ones.
func TestTokenIsCached(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	c := newClient(t, i.handler, portal)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := listUsage(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := i.tokenRequests.Load(); got != 1 {
		t.Errorf("got %d token requests for 8 calls", got)
	}
}

// withShortLivedTokens makes every token expire before it can be used twice.
func withShortLivedTokens(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(bytes.Replace(recorded.Body.Bytes(), []byte(`"expires_in":3600`), []byte(`"expires_in":1`), 1))
	})
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	c := newClient(t, withShortLivedTokens(i.handler), portal)
	for range 3 {
		if err := listUsage(t, c); err != nil {
			t.Error(err)
		}
	}
	if got := i.tokenRequests.Load(); got != 3 {
		t.Errorf("got %d token requests for 3 calls with expired tokens", got)
	}
}

// An instance rejects tokens signed before its keys were rotated.
func TestRejectedTokenIsReplaced(t *testing.T) {
	t.Parallel()
	before, after := newTestInstance(t), newTestInstance(t)
	var now atomic.Pointer[testInstance]
	now.Store(before)
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().handler.ServeHTTP(w, r) }), portal)
	for _, i := range []*testInstance{before, after} {
		now.Store(i)
		for range 2 {
			if err := listUsage(t, c); err != nil {
				t.Error(err)
			}
		}
		if got := i.tokenRequests.Load(); got != 1 {
			t.Errorf("got %d token requests for 2 calls", got)
		}
	}
}

// The client does not retry endlessly if an instance rejects every token.
func TestRejectedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/mgp/") {
			r.Header.Set("Authorization", "Bearer forged")
		}
		i.handler.ServeHTTP(w, r)
	}), portal)
	err := listUsage(t, c)
	if apiErr, ok := errors.AsType[*client.Error](err); !ok || apiErr.Status != 401 || i.tokenRequests.Load() != 2 {
		t.Errorf("got %v after %d tokens, want 401 after 2", err, i.tokenRequests.Load())
	}
}

// A caller can stop waiting for a token that another caller is fetching.
func TestWaitForTokenIsCancelable(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/auth/") {
			close(asked)
			<-answer
		}
		i.handler.ServeHTTP(w, r)
	}), portal)
	first := make(chan error)
	go func() { first <- listUsage(t, c) }()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Guidance.ListUsage(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(answer)
	if err := <-first; err != nil {
		t.Errorf("call that fetched the token: %v", err)
	}
}

// A call canceled while it fetches a token does not block later calls.
func TestCanceledTokenFetchReleasesLock(t *testing.T) {
	t.Parallel()
	i := newTestInstance(t)
	ctx, cancel := context.WithCancel(t.Context())
	var fetches atomic.Int64
	left := make(chan struct{})
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/auth/") && fetches.Add(1) == 1 {
			cancel()
			<-left
			return
		}
		i.handler.ServeHTTP(w, r)
	}), portal)
	if _, err := c.Guidance.ListUsage(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(left)
	if err := listUsage(t, c); err != nil {
		t.Errorf("next call: %v", err)
	}
}

func TestTokenRequiresInstanceID(t *testing.T) {
	t.Parallel()
	c := newClient(t, newTestInstance(t).handler, client.Credentials{AppID: "portal", AppKey: portal.AppKey})
	if err := listUsage(t, c); err == nil || !strings.Contains(err.Error(), "InstanceID") {
		t.Errorf("got %v", err)
	}
}

// A call is retried with the same body, unless the body cannot be read again.
func TestRejectedTokenRetriesBody(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"kept": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies []string
			listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/api/auth/") {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer","expires_in":3600}`))
					return
				}
				var body bytes.Buffer
				_, _ = body.ReadFrom(r.Body)
				if bodies = append(bodies, body.String()); len(bodies) == 1 {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = w.Write([]byte("[]"))
			}))
			t.Cleanup(listening.Close)
			c, err := client.New(listening.URL, portal)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Guidance.ListUsage(t.Context(), &guidance.ListUsageParams{}, setBody(again))
			if (err == nil) != again || again && strings.Join(bodies, " ") != "text text" {
				t.Errorf("got %v with bodies %q", err, bodies)
			}
		})
	}
}

// setBody sets the body of a request, which may or may not be readable twice.
func setBody(replayable bool) client.Editor {
	return func(_ context.Context, request *http.Request) error {
		text := strings.NewReader("text")
		replacement, err := http.NewRequest(http.MethodPost, request.URL.String(), text)
		if err != nil {
			return err
		}
		request.Method, request.Body, request.ContentLength = http.MethodPost, replacement.Body, replacement.ContentLength
		if replayable {
			request.GetBody = replacement.GetBody
		}
		return nil
	}
}
