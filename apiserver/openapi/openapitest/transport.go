// SPDX-License-Identifier: Apache-2.0

// Package openapitest holds answers against a contract in tests: a client
// whose transport comes from here fails its test on the first answer that the
// contract does not allow, and, where it is asked to, on the first request.
// Nothing outside of tests may import it.
package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Contract is a contract that answers are held against. It may be shared by
// parallel tests.
type Contract struct {
	router     routers.Router
	requests   routers.Router // whose objects may have properties without a name
	failure    *openapi3.Schema
	operations map[string][]int
	examples   []Example
}

// Parse reads a contract. Its schema Error is what answers outside of its
// paths must be. While answers are checked, no object may have a property that
// the contract does not name: the contract leaves room for growth, our own
// answers must not use it.
func Parse(contract []byte) (*Contract, error) {
	requests, _, err := route(contract)
	if err != nil {
		return nil, err
	}
	router, document, err := route(contract)
	if err != nil {
		return nil, err
	}
	for _, schema := range document.Components.Schemas {
		closeObject(schema.Value)
	}
	failure := document.Components.Schemas["Error"]
	if failure == nil {
		return nil, errors.New("the contract has no schema Error")
	}
	base, err := document.Servers.BasePath()
	if err != nil {
		return nil, fmt.Errorf("reading the servers of the contract: %w", err)
	}
	base = strings.TrimSuffix(base, "/")
	return &Contract{router, requests, failure.Value, operationsOf(document, base), examplesOf(document, base)}, nil
}

// route reads a contract and finds its operations.
func route(contract []byte) (routers.Router, *openapi3.T, error) {
	document, err := openapi3.NewLoader().LoadFromData(contract)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the contract: %w", err)
	}
	if err := document.Validate(context.Background()); err != nil {
		return nil, nil, fmt.Errorf("checking the contract: %w", err)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the paths of the contract: %w", err)
	}
	return router, document, nil
}

func operationsOf(document *openapi3.T, base string) map[string][]int {
	operations := map[string][]int{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + base + path
			for status := range operation.Responses.Map() {
				if number, err := strconv.Atoi(status); err == nil { // else it stands for all others
					operations[name] = append(operations[name], number)
				}
			}
			slices.Sort(operations[name])
		}
	}
	return operations
}

// Operations are the operations of the contract by method and path, such as
// "GET /v3/info", and the statuses that each may answer with.
func (c *Contract) Operations() map[string][]int { return c.operations }

// closeObject forbids properties that the schema does not name.
func closeObject(schema *openapi3.Schema) {
	if schema.Type.Is(openapi3.TypeObject) && schema.AdditionalProperties.Has == nil {
		closed := false
		schema.AdditionalProperties.Has = &closed
	}
}

// Transport passes requests on to next and fails the test when the answer is
// not what the contract allows for the request.
func (c *Contract) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &transport{c, t, next}
}

type transport struct {
	contract *Contract
	t        testing.TB
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (v *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := v.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err != nil || closeErr != nil {
		return nil, errors.Join(err, closeErr)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err := v.contract.Check(request, response.StatusCode, response.Header, body); err != nil {
		v.t.Errorf("%s %s answered %d, which breaks the contract: %v\nthe body: %s",
			request.Method, request.URL, response.StatusCode, err, body)
	}
	return response, nil
}

// Check says in what way an answer to a request is not what the contract
// allows.
func (c *Contract) Check(request *http.Request, status int, header http.Header, body []byte) error {
	route, parameters, err := c.router.FindRoute(request)
	if err != nil {
		return c.checkFailure(err, status, header, body)
	}
	return openapi3filter.ValidateResponse(request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: request, PathParams: parameters, Route: route,
		},
		Status:  status,
		Header:  header,
		Body:    io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
}

// checkFailure checks an answer to a request that the contract has no
// operation for.
func (c *Contract) checkFailure(reason error, status int, header http.Header, body []byte) error {
	want := http.StatusNotFound
	if errors.Is(reason, routers.ErrMethodNotAllowed) {
		want = http.StatusMethodNotAllowed
	}
	if status != want {
		return fmt.Errorf("expected %d because of %w", want, reason)
	}
	if status == http.StatusMethodNotAllowed && header.Get("Allow") == "" {
		return errors.New("expected a header Allow")
	}
	if got := header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("expected the content type application/json, got %q", got)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("expected JSON: %w", err)
	}
	return c.failure.VisitJSON(value, openapi3.EnableJSONSchema2020())
}
