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

// A row is a call of a client and what it makes of the answer.
type row struct {
	where  string // the client's repository, file and line
	name   string
	method string
	path   string // behind the address, with the parameters as the client writes them
	body   string // as the client's serializer writes it; empty when it sends none
	read   func(t *testing.T, a answer)
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// play sends the rows with the headers of the client, spelt as it spells them,
// and has the answers read.
func play(t *testing.T, header http.Header, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			t.Log(row.where)
			row.read(t, send(t, header, row.method, row.path, row.body))
		})
	}
}

func send(t *testing.T, header http.Header, method, path, body string) answer {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address+path, content)
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
	return answer{response.StatusCode, response.Header, got}
}

// A value is a piece of JSON as dynamic languages see it.
type value = any

// parsed is an answer as a client without types has it.
func (a answer) parsed(t *testing.T) value {
	t.Helper()
	var v value
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("answered %d, which is no JSON: %s", a.status, a.body)
	}
	return v
}

// into decodes the beginning of an answer, as a decoder of a stream does.
func (a answer) into(t *testing.T, target any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(target); err != nil {
		t.Fatalf("decoding %s: %v", a.body, err)
	}
}

// mustBe ends the test unless the answer has a status.
func (a answer) mustBe(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("answered %d, expected %d: %s", a.status, status, a.body)
	}
}

// at is what stands in a value behind keys and positions, which fails where a
// client would: at a key that is not there or a value that has none.
func at(t *testing.T, v value, path ...any) value {
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
			t.Fatalf("there is no %v of %v", step, path)
		}
	}
	return v
}

// text is a text that a client shows or takes apart.
func text(t *testing.T, v value, path ...any) string {
	t.Helper()
	s, ok := at(t, v, path...).(string)
	if !ok || s == "" {
		t.Fatalf("%v is no text: %v", path, v)
	}
	return s
}

// list is a list that a client walks through.
func list(t *testing.T, v value, path ...any) []value {
	t.Helper()
	items, ok := at(t, v, path...).([]value)
	if !ok {
		t.Fatalf("%v is no list: %v", path, v)
	}
	return items
}

// number is a number that a client computes with.
func number(t *testing.T, v value, path ...any) float64 {
	t.Helper()
	n, ok := at(t, v, path...).(float64)
	if !ok {
		t.Fatalf("%v is no number: %v", path, v)
	}
	return n
}

// encoded is JSON without spaces, keys in the order of the struct.
func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
