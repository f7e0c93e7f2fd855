// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// A line is what connects one operator to the API server. While it is cut,
// every request is refused, and what was under way ends, watches included.
type line struct {
	mutex sync.Mutex
	cut   bool
	open  map[*http.Request]context.CancelFunc
}

var errLineCut = errors.New("connection refused: the line is cut")

func (l *line) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(request.Context())
		request = request.WithContext(ctx)
		if !l.begin(request, cancel) {
			cancel()
			return nil, errLineCut
		}
		response, err := next.RoundTrip(request)
		if err != nil {
			l.end(request)
			return nil, err
		}
		response.Body = lineBody{response.Body, func() { l.end(request) }}
		return response, nil
	})
}

func (l *line) begin(request *http.Request, cancel context.CancelFunc) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.cut {
		return false
	}
	if l.open == nil {
		l.open = map[*http.Request]context.CancelFunc{}
	}
	l.open[request] = cancel
	return true
}

func (l *line) end(request *http.Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if cancel := l.open[request]; cancel != nil {
		cancel()
		delete(l.open, request)
	}
}

// sever cuts the line, and mend makes it whole again.
func (l *line) sever() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.cut = true
	for _, cancel := range l.open {
		cancel()
	}
	clear(l.open)
}

func (l *line) isCut() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.cut
}

func (l *line) mend() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.cut = false
}

// A lineBody is the answer to a request, which ends with it.
type lineBody struct {
	io.ReadCloser
	end func()
}

func (b lineBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
