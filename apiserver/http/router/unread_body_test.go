// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
)

// failOnRead is a body that must not be read.
type failOnRead struct{ t *testing.T }

func (f failOnRead) Read([]byte) (int, error) {
	f.t.Error("body was read")
	return 0, io.EOF
}

// sendUnreadBody sends a call with a body of a declared length, -1 for unknown.
func (s *testServer) sendUnreadBody(t *testing.T, method, path string, length int64, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, failOnRead{t})
	request.ContentLength = length
	all := s.header()
	maps.Copy(all, header)
	for name, value := range all {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	return recorder
}

// TestRejectedBeforeBodyIsRead checks that requests with invalid headers are rejected before
// the body is read, on every endpoint.
func TestRejectedBeforeBodyIsRead(t *testing.T) {
	t.Parallel()
	r := newTestServer(t)
	for name, test := range map[string]struct {
		header map[string]string
		length int64
		status int
		posts  bool // rejected only by endpoints that read a body
	}{
		"a stranger":                  {map[string]string{"App-Id": "", "App-Key": ""}, -1, 403, false},
		"a wrong key":                 {map[string]string{"App-Key": "wrong"}, 10, 403, false},
		"a stranger with a long body": {map[string]string{"App-Key": ""}, 1 << 30, 403, false},
		"an unknown model":            {map[string]string{"Model": "nonsense"}, -1, 400, false},
		"a bad Interview-Id":          {map[string]string{"Interview-Id": "a b"}, -1, 400, false},
		"another content type":        {map[string]string{"Content-Type": "text/plain"}, -1, 400, true},
		"a large Content-Length":      {nil, 1<<20 + 1, 413, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, endpoint := range endpoints {
				if test.posts && endpoint.method != http.MethodPost {
					continue
				}
				got := r.sendUnreadBody(t, endpoint.method, endpoint.path, test.length, test.header)
				if got.Code != test.status {
					t.Errorf("%s: got status %d %v: %s", endpoint.route, got.Code, got.Header(), got.Body)
				}
			}
		})
	}
	for path, want := range map[string]int{
		"/v3/nothing": 404, "/v3/info": 405, "/docs": 405, "/docs/nothing": 404, "/openapi/engine-v3.yaml": 405, "/metrics": 404,
	} {
		for _, length := range []int64{-1, 10, 1 << 30} {
			if got := r.sendUnreadBody(t, http.MethodPost, path, length, nil); got.Code != want {
				t.Errorf("%s: got status %d, want %d: %s", path, got.Code, want, got.Body)
			}
		}
	}
}
