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

// Calls share a token, also those that need one at the same time.
func TestTokenIsKept(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	c := dial(t, i.handler, portal)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := listUsage(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := i.tokens.Load(); got != 1 {
		t.Errorf("%d tokens for 8 calls", got)
	}
}

// shortly makes every token expire before it can be used twice.
func shortly(next http.Handler) http.Handler {
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
	i := newInstance(t)
	c := dial(t, shortly(i.handler), portal)
	for range 3 {
		if err := listUsage(t, c); err != nil {
			t.Error(err)
		}
	}
	if got := i.tokens.Load(); got != 3 {
		t.Errorf("%d tokens for 3 calls, each after the token of the one before has expired", got)
	}
}

// An instance with other keys refuses the tokens that were signed before.
func TestTokenRefused(t *testing.T) {
	t.Parallel()
	before, after := newInstance(t), newInstance(t)
	var now atomic.Pointer[instance]
	now.Store(before)
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().handler.ServeHTTP(w, r) }), portal)
	for _, i := range []*instance{before, after} {
		now.Store(i)
		for range 2 {
			if err := listUsage(t, c); err != nil {
				t.Error(err)
			}
		}
		if got := i.tokens.Load(); got != 1 {
			t.Errorf("%d tokens for 2 calls", got)
		}
	}
}

// An instance that refuses every token is not asked for ever.
func TestTokenRefusedAgain(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/mgp/") {
			r.Header.Set("Authorization", "Bearer forged")
		}
		i.handler.ServeHTTP(w, r)
	}), portal)
	err := listUsage(t, c)
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != 401 || i.tokens.Load() != 2 {
		t.Errorf("got %v after %d tokens, want 401 after 2", err, i.tokens.Load())
	}
}

// Whoever waits for a token that somebody else fetches may leave.
func TestTokenCancelled(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		t.Errorf("the one that fetched: %v", err)
	}
}

// A call that ends while it fetches a token leaves nothing that another would
// wait for.
func TestTokenFetchCancelled(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	ctx, cancel := context.WithCancel(t.Context())
	var fetches atomic.Int64
	left := make(chan struct{})
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		t.Errorf("the next: %v", err)
	}
}

func TestTokenNeedsInstance(t *testing.T) {
	t.Parallel()
	c := dial(t, newInstance(t).handler, client.Credentials{AppID: "portal", AppKey: portal.AppKey})
	if err := listUsage(t, c); err == nil || !strings.Contains(err.Error(), "InstanceID") {
		t.Errorf("got %v", err)
	}
}

// A call with a body is made again with the same body, and one whose body is
// gone is not.
func TestTokenRefusedWithBody(t *testing.T) {
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
			_, err = c.Guidance.ListUsage(t.Context(), &guidance.ListUsageParams{}, withBody(again))
			if (err == nil) != again || again && strings.Join(bodies, " ") != "text text" {
				t.Errorf("got %v with bodies %q", err, bodies)
			}
		})
	}
}

// withBody gives a body to a call, which can be read twice or not.
func withBody(twice bool) client.Editor {
	return func(_ context.Context, request *http.Request) error {
		text := strings.NewReader("text")
		replacement, err := http.NewRequest(http.MethodPost, request.URL.String(), text)
		if err != nil {
			return err
		}
		request.Method, request.Body, request.ContentLength = http.MethodPost, replacement.Body, replacement.ContentLength
		if twice {
			request.GetBody = replacement.GetBody
		}
		return nil
	}
}
