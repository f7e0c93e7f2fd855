// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.EOF
}

// sendUnread calls with a body of a declared length, -1 for none.
func (r *rig) sendUnread(t *testing.T, method, path string, length int64, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, unread{t})
	request.ContentLength = length
	all := r.header()
	maps.Copy(all, header)
	for name, value := range all {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	r.handler.ServeHTTP(recorder, request)
	return recorder
}

// Whoever is refused for what the headers say is refused before anything of the
// body is read, wherever it is sent.
func TestRefusedUnread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, test := range map[string]struct {
		header map[string]string
		length int64
		status int
		posts  bool // that it is refused where there is a body to read only
	}{
		"a stranger":                    {map[string]string{"App-Id": "", "App-Key": ""}, -1, 403, false},
		"a wrong key":                   {map[string]string{"App-Key": "wrong"}, 10, 403, false},
		"a stranger with a long body":   {map[string]string{"App-Key": ""}, 1 << 30, 403, false},
		"an unknown model":              {map[string]string{"Model": "nonsense"}, -1, 400, false},
		"a bad Interview-Id":            {map[string]string{"Interview-Id": "a b"}, -1, 400, false},
		"another content type":          {map[string]string{"Content-Type": "text/plain"}, -1, 400, true},
		"a body that is said to be big": {nil, 1<<20 + 1, 413, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, endpoint := range endpoints {
				if test.posts && endpoint.method != http.MethodPost {
					continue
				}
				got := r.sendUnread(t, endpoint.method, endpoint.path, test.length, test.header)
				if got.Code != test.status {
					t.Errorf("%s answered %d %v: %s", endpoint.route, got.Code, got.Header(), got.Body)
				}
			}
		})
	}
	for path, want := range map[string]int{
		"/v3/nothing": 404, "/v3/info": 405, "/docs": 405, "/docs/nothing": 404, "/openapi/engine-v3.yaml": 405, "/metrics": 404,
	} {
		for _, length := range []int64{-1, 10, 1 << 30} {
			if got := r.sendUnread(t, http.MethodPost, path, length, nil); got.Code != want {
				t.Errorf("%s answered %d, want %d: %s", path, got.Code, want, got.Body)
			}
		}
	}
}
