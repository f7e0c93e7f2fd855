// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A clientCall is a request of a client, with a check of what the client does with the
// response.
type clientCall struct {
	source string // repository, file, and line in the client
	name   string
	method string
	path   string // appended to the base URL; encoded as by the client
	body   string // encoded as by the client; empty if it sends no body
	check  func(t *testing.T, a clientResponse)
}

// A clientResponse is the server's response to a clientCall.
type clientResponse struct {
	status int
	header http.Header
	body   []byte
}

// runCalls sends each request with the client's headers, in the client's spelling, and
// runs its check on the response.
func runCalls(t *testing.T, header http.Header, rows []clientCall) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			t.Log(row.source)
			row.check(t, send(t, header, row.method, row.path, row.body))
		})
	}
}

func send(t *testing.T, header http.Header, method, path, body string) clientResponse {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, serverURL+path, content)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return clientResponse{response.StatusCode, response.Header, got}
}

// A value is a decoded JSON value, as seen by dynamically typed languages.
type value = any

// decode decodes the body as a dynamically typed client does.
func (r clientResponse) decode(t *testing.T) value {
	t.Helper()
	var v value
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("got status %d and invalid JSON: %s", r.status, r.body)
	}
	return v
}

// decodeInto decodes the first JSON value of the body, as a streaming decoder does.
func (r clientResponse) decodeInto(t *testing.T, target any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(r.body)).Decode(target); err != nil {
		t.Fatalf("decoding %s: %v", r.body, err)
	}
}

// requireStatus stops the test unless the response has the given status.
func (r clientResponse) requireStatus(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("got status %d, want %d: %s", r.status, status, r.body)
	}
}

// lookup returns the value at a path of keys and indexes. It fails the test where a
// client would fail: at a missing key or index, or at a value of the wrong type.
func lookup(t *testing.T, v value, path ...any) value {
	t.Helper()
	for _, step := range path {
		var found bool
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]value)
			v, found = object[step]
		case int:
			list, _ := v.([]value)
			if found = step < len(list); found {
				v = list[step]
			}
		}
		if !found {
			t.Fatalf("%v of path %v not found", step, path)
		}
	}
	return v
}

// lookupString returns a nonempty string that a client displays or parses.
func lookupString(t *testing.T, v value, path ...any) string {
	t.Helper()
	s, ok := lookup(t, v, path...).(string)
	if !ok || s == "" {
		t.Fatalf("%v is not a string: %v", path, v)
	}
	return s
}

// lookupList returns a list that a client iterates over.
func lookupList(t *testing.T, v value, path ...any) []value {
	t.Helper()
	items, ok := lookup(t, v, path...).([]value)
	if !ok {
		t.Fatalf("%v is not a list: %v", path, v)
	}
	return items
}

// lookupNumber returns a number that a client computes with.
func lookupNumber(t *testing.T, v value, path ...any) float64 {
	t.Helper()
	n, ok := lookup(t, v, path...).(float64)
	if !ok {
		t.Fatalf("%v is not a number: %v", path, v)
	}
	return n
}

// encodeJSON encodes v as compact JSON, with keys in struct order.
func encodeJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
