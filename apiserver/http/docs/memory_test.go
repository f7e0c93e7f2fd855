// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
)

// countingWriter is a response that discards its content.
type countingWriter struct {
	header http.Header
	bytes  int
}

func (c *countingWriter) Header() http.Header { return c.header }
func (c *countingWriter) WriteHeader(int)     {}
func (c *countingWriter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// TestAssetsUseLittleMemory checks that serving a public asset takes almost no memory,
// regardless of its size and of whether the client accepts compression.
func TestAssetsUseLittleMemory(t *testing.T) {
	router := chi.NewRouter()
	docs.Mount(router, docs.Application{})
	for _, encoding := range []string{"gzip", ""} {
		for _, path := range []string{"/docs/swagger-ui-bundle.js", "/openapi/engine-v3.yaml"} {
			fetch := func() int {
				request := httptest.NewRequest(http.MethodGet, path, nil)
				request.Header.Set("Accept-Encoding", encoding)
				response := &countingWriter{header: http.Header{}}
				router.ServeHTTP(response, request)
				return response.bytes
			}
			length := fetch() // the first request may decompress
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fetch()
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<10 || length < 64<<10 {
				t.Errorf("%s with the encoding %q: serving %d bytes allocated %d bytes, want at most 16 KiB", path, encoding, length, allocated)
			}
		}
	}
}
