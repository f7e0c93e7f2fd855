// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// A connection connects one operator to the API server. While it is disconnected, all
// requests fail, including pending requests and watches.
type connection struct {
	mutex        sync.Mutex
	disconnected bool
	inFlight     map[*http.Request]context.CancelFunc
}

var errDisconnected = errors.New("connection refused: disconnected by the test")

func (c *connection) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(request *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(request.Context())
		request = request.WithContext(ctx)
		if !c.track(request, cancel) {
			cancel()
			return nil, errDisconnected
		}
		response, err := next.RoundTrip(request)
		if err != nil {
			c.untrack(request)
			return nil, err
		}
		response.Body = trackedBody{response.Body, func() { c.untrack(request) }}
		return response, nil
	})
}

func (c *connection) track(request *http.Request, cancel context.CancelFunc) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.disconnected {
		return false
	}
	if c.inFlight == nil {
		c.inFlight = map[*http.Request]context.CancelFunc{}
	}
	c.inFlight[request] = cancel
	return true
}

func (c *connection) untrack(request *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if cancel := c.inFlight[request]; cancel != nil {
		cancel()
		delete(c.inFlight, request)
	}
}

// disconnect cuts the connection and cancels pending requests.
func (c *connection) disconnect() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.disconnected = true
	for _, cancel := range c.inFlight {
		cancel()
	}
	clear(c.inFlight)
}

func (c *connection) isDisconnected() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.disconnected
}

func (c *connection) reconnect() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.disconnected = false
}

// A trackedBody is a response body that calls onClose when it is closed.
type trackedBody struct {
	io.ReadCloser
	onClose func()
}

func (b trackedBody) Close() error {
	defer b.onClose()
	return b.ReadCloser.Close()
}
