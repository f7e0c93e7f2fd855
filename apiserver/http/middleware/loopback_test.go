// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAllowLoopbackHosts(t *testing.T) {
	t.Parallel()
	reject := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMisdirectedRequest) }
	handler := AllowLoopbackHosts(reject)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost":              200,
		"localhost:8080":         200,
		"LOCALHOST:8080":         200,
		"acme.localhost:8080":    200,
		"127.0.0.1:8080":         200,
		"127.8.8.8":              200,
		"[::1]:8080":             200,
		"[::1]":                  200,
		"":                       421,
		"10.0.0.7:8080":          421,
		"evil.example:8080":      421,
		"127.0.0.1.evil.example": 421,
		"localhost.evil.example": 421,
		"notlocalhost":           421,
		"[::2]:8080":             421,
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Host = host
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != want {
			t.Errorf("%q: got status %d, want %d", host, recorder.Code, want)
		}
	}
}
