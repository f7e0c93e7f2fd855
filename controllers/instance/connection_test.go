// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// A connection connects one operator to the API server. While it is cut, every request
// fails, and pending requests end, including watches.
type connection struct {
	mutex        sync.Mutex
	disconnected bool
	inFlight     map[*http.Request]context.CancelFunc
}

var errDisconnected = errors.New("connection refused: the line is cut")

func (l *connection) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(request *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(request.Context())
		request = request.WithContext(ctx)
		if !l.track(request, cancel) {
			cancel()
			return nil, errDisconnected
		}
		response, err := next.RoundTrip(request)
		if err != nil {
			l.untrack(request)
			return nil, err
		}
		response.Body = trackedBody{response.Body, func() { l.untrack(request) }}
		return response, nil
	})
}

func (l *connection) track(request *http.Request, cancel context.CancelFunc) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.disconnected {
		return false
	}
	if l.inFlight == nil {
		l.inFlight = map[*http.Request]context.CancelFunc{}
	}
	l.inFlight[request] = cancel
	return true
}

func (l *connection) untrack(request *http.Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if cancel := l.inFlight[request]; cancel != nil {
		cancel()
		delete(l.inFlight, request)
	}
}

// disconnect cuts the connection and cancels pending requests.
func (l *connection) disconnect() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.disconnected = true
	for _, cancel := range l.inFlight {
		cancel()
	}
	clear(l.inFlight)
}

func (l *connection) isDisconnected() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.disconnected
}

func (l *connection) reconnect() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.disconnected = false
}

// A trackedBody is the body of a response. Closing it ends the request.
type trackedBody struct {
	io.ReadCloser
	onClose func()
}

func (b trackedBody) Close() error {
	defer b.onClose()
	return b.ReadCloser.Close()
}
