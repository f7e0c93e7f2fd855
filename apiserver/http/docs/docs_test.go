// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

// startSite starts a server for the pages.
func startSite(t *testing.T) *httptest.Server {
	t.Helper()
	router := chi.NewRouter()
	docs.Mount(router, docs.Application{})
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	// Keep compressed responses as they are, and do not follow redirects.
	server.Client().Transport.(*http.Transport).DisableCompression = true
	server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return server
}

// A testResponse is a response without its body.
type testResponse struct {
	StatusCode int
	Header     http.Header
}

// get fetches a URL; headers are pairs of name and value.
func get(t *testing.T, server *httptest.Server, method, address string, headers ...string) (testResponse, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return testResponse{response.StatusCode, response.Header}, body
}

// extractURLs returns the URLs that a page loads or links to.
func extractURLs(t *testing.T, page []byte) (addresses []string) {
	t.Helper()
	document, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for node := range document.Descendants() {
		for _, attribute := range node.Attr {
			switch {
			case attribute.Key == "src" || attribute.Key == "href":
				addresses = append(addresses, attribute.Val)
			case strings.HasPrefix(attribute.Key, "on") || attribute.Key == "style":
				t.Errorf("attribute in <%s %s=%q> violates the page's policy", node.Data, attribute.Key, attribute.Val)
			}
		}
		if (node.Data == "script" || node.Data == "style") && node.FirstChild != nil && node.Type == html.ElementNode {
			t.Errorf("inline content of <%s> violates the page's policy", node.Data)
		}
	}
	return addresses
}

var (
	quotedURL = regexp.MustCompile(`(?:url: |fetch\()"([^"]+)"`)
	cssURL    = regexp.MustCompile(`url\(\s*["']?([^)"']*)`)
)

// calledOperations are the operations that the page calls to fill in values for others.
var calledOperations = map[string]bool{"/v3/diagnosis": true, "/api/auth/token": true}

// TestPageLoadsNothingExternal checks that all URLs in the page, its script and its style
// sheets refer to this server.
func TestPageLoadsNothingExternal(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	base, err := url.Parse(server.URL + "/docs")
	if err != nil {
		t.Fatal(err)
	}
	_, page := get(t, server, http.MethodGet, base.String())
	named := extractURLs(t, page)
	_, script := get(t, server, http.MethodGet, server.URL+"/docs/page.js")
	for _, match := range quotedURL.FindAllSubmatch(script, -1) {
		named = append(named, string(match[1]))
	}
	for _, sheet := range []string{"/docs/page.css", "/docs/swagger-ui.css"} {
		_, css := get(t, server, http.MethodGet, server.URL+sheet)
		if bytes.Contains(css, []byte("@import")) {
			t.Errorf("%s imports another style sheet", sheet)
		}
		for _, match := range cssURL.FindAllSubmatch(css, -1) {
			if address := string(match[1]); !strings.HasPrefix(address, "data:") {
				named = append(named, address)
			}
		}
	}
	wanted := map[string]bool{
		"/openapi/engine-v3.yaml": false, "/openapi/guidance.yaml": false, "/docs/page.js": false, "/docs/page.css": false,
		"/docs/swagger-ui.css": false, "/docs/swagger-ui-bundle.js": false, "/docs/swagger-ui-standalone-preset.js": false,
		"/docs/favicon-32x32.png": false, "/docs/application.json": false,
	}
	for _, address := range named {
		target, err := base.Parse(address)
		if err != nil || target.Host != base.Host || target.Scheme != base.Scheme {
			t.Errorf("parsing URL %q of the page: %v", address, err)
			continue
		}
		if calledOperations[target.Path] {
			continue
		}
		response, body := get(t, server, http.MethodGet, target.String())
		if response.StatusCode != http.StatusOK || len(body) == 0 {
			t.Errorf("%s: got status %d with %d bytes", target, response.StatusCode, len(body))
		}
		wanted[target.Path] = true
	}
	for path, seen := range wanted {
		if !seen {
			t.Errorf("page does not refer to %s", path)
		}
	}
}

// TestContentSecurityPolicy checks that the policy allows neither external nor inline
// resources.
func TestContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	for _, path := range []string{"/docs", "/docs/page.js", "/docs/swagger-ui-bundle.js", "/openapi/guidance.yaml"} {
		response, _ := get(t, server, http.MethodGet, server.URL+path)
		policy := map[string]string{}
		for directive := range strings.SplitSeq(response.Header.Get("Content-Security-Policy"), ";") {
			name, sources, _ := strings.Cut(strings.TrimSpace(directive), " ")
			policy[name] = sources
		}
		want := map[string]string{
			"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:",
			"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
		}
		if diff := cmp.Diff(want, policy); diff != "" {
			t.Errorf("%s: the policy (-want +got)\n%s", path, diff)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// TestContracts checks that the served contracts are the embedded ones.
func TestContracts(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	for path, want := range map[string][]byte{"/openapi/engine-v3.yaml": openapi.EngineV3, "/openapi/guidance.yaml": openapi.Guidance} {
		response, body := get(t, server, http.MethodGet, server.URL+path, "Accept-Encoding", "gzip")
		if !bytes.Equal(body, want) || response.Header.Get("Content-Type") != "application/yaml" || response.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes of %s, want %d", path, len(body), response.Header.Get("Content-Type"), len(want))
		}
	}
}

// TestApplication checks that the page uses exactly the configured application.
func TestApplication(t *testing.T) {
	t.Parallel()
	for want, application := range map[string]docs.Application{
		`{}`: {},
		`{"id":"dev","key":"a \"key\"","instance":"demo"}`: {ID: "dev", Key: `a "key"`, Instance: "demo"},
	} {
		router := chi.NewRouter()
		docs.Mount(router, application)
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/application.json", nil))
		if got := recorder.Body.String(); got != want || recorder.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%+v: %s, want %s", application, got, want)
		}
	}
}

// TestETags checks that only clients with a current ETag get 304.
func TestETags(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	tags := map[string]string{}
	for _, path := range []string{
		"/openapi/engine-v3.yaml", "/openapi/guidance.yaml", "/docs", "/docs/page.js", "/docs/page.css", "/docs/favicon-32x32.png",
		"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui-standalone-preset.js",
	} {
		for _, encoding := range []string{"gzip", "identity"} {
			response, body := get(t, server, http.MethodGet, server.URL+path, "Accept-Encoding", encoding)
			tag := response.Header.Get("ETag")
			if tag == "" || tag[0] != '"' {
				t.Errorf("%s: got ETag %s", path, tag)
			}
			if other, exists := tags[tag]; exists && other != path {
				t.Errorf("%s and %s have the same ETag", path, other)
			}
			tags[tag] = path
			same, sameBody := get(t, server, http.MethodGet, server.URL+path, "Accept-Encoding", encoding, "If-None-Match", tag)
			if same.StatusCode != http.StatusNotModified || len(sameBody) != 0 {
				t.Errorf("%s: with a current ETag, answered %d with %d bytes", path, same.StatusCode, len(sameBody))
			}
			changed, changedBody := get(t, server, http.MethodGet, server.URL+path, "Accept-Encoding", encoding, "If-None-Match", `"older"`)
			if changed.StatusCode != http.StatusOK || !bytes.Equal(changedBody, body) {
				t.Errorf("%s: with another ETag, answered %d with %d bytes", path, changed.StatusCode, len(changedBody))
			}
			head, headBody := get(t, server, http.MethodHead, server.URL+path, "Accept-Encoding", encoding)
			if head.StatusCode != http.StatusOK || len(headBody) != 0 || head.Header.Get("ETag") != tag {
				t.Errorf("%s: HEAD answered %d with %d bytes and the tag %s", path, head.StatusCode, len(headBody), head.Header.Get("ETag"))
			}
		}
	}
}

// TestContentEncoding checks that clients that accept gzip get compressed content, and that
// all clients get the same content.
func TestContentEncoding(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	address := server.URL + "/docs/swagger-ui.css"
	_, plain := get(t, server, http.MethodGet, address)
	for accepts, zipped := range map[string]bool{
		"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip; q=0.000": false, "gzipped": false,
		"gzip": true, "GZIP": true, "br, gzip": true, "deflate,gzip;q=0.5": true, "gzip;q=0.01": true, "gzip;q=1.0": true,
	} {
		response, body := get(t, server, http.MethodGet, address, "Accept-Encoding", accepts)
		if got := response.Header.Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("%q: compressed %v, want %v", accepts, got, zipped)
			continue
		}
		if zipped {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, plain) || response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %d bytes, want %d; Vary is %q", accepts, len(body), len(plain), response.Header.Get("Vary"))
		}
		if got := response.Header.Get("Content-Type"); got != "text/css; charset=utf-8" {
			t.Errorf("%q: Content-Type is %q", accepts, got)
		}
	}
}

// The page's links are relative to /docs, without a trailing slash.
func TestTrailingSlashRedirects(t *testing.T) {
	t.Parallel()
	server := startSite(t)
	response, _ := get(t, server, http.MethodGet, server.URL+"/docs/")
	if target := response.Header.Get("Location"); response.StatusCode != http.StatusPermanentRedirect || target != "../docs" {
		t.Errorf("got status %d, %s", response.StatusCode, target)
	}
}
