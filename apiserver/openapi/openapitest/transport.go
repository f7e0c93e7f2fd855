// SPDX-License-Identifier: Apache-2.0

// Package openapitest validates requests and responses against a contract in tests: a
// client that uses its transport fails the test on the first response, and optionally the
// first request, that the contract does not allow. Only tests may import it.
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

// Contract is a contract to validate against. It is safe for parallel tests.
type Contract struct {
	responseRouter routers.Router
	requestRouter  routers.Router // without the ban on additional properties
	errorSchema    *openapi3.Schema
	operations     map[string][]int
	examples       []Example
}

// Parse parses a contract. Responses to unknown paths must match its schema Error. In
// responses, objects must not have properties that the contract does not name: the
// contract leaves room for growth, but our own responses must not use it.
func Parse(contract []byte) (*Contract, error) {
	requests, _, err := newRouter(contract)
	if err != nil {
		return nil, err
	}
	router, document, err := newRouter(contract)
	if err != nil {
		return nil, err
	}
	for _, schema := range document.Components.Schemas {
		forbidAdditionalProperties(schema.Value)
	}
	failure := document.Components.Schemas["Error"]
	if failure == nil {
		return nil, errors.New("schema Error not found in the contract")
	}
	base, err := document.Servers.BasePath()
	if err != nil {
		return nil, fmt.Errorf("reading the servers of the contract: %w", err)
	}
	base = strings.TrimSuffix(base, "/")
	return &Contract{router, requests, failure.Value, listOperations(document, base), listExamples(document, base)}, nil
}

// newRouter parses a contract and indexes its operations.
func newRouter(contract []byte) (routers.Router, *openapi3.T, error) {
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

func listOperations(document *openapi3.T, base string) map[string][]int {
	operations := map[string][]int{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + base + path
			for status := range operation.Responses.Map() {
				if number, err := strconv.Atoi(status); err == nil { // skip the default response
					operations[name] = append(operations[name], number)
				}
			}
			slices.Sort(operations[name])
		}
	}
	return operations
}

// Operations returns the operations of the contract by method and path, such as
// "GET /v3/info", with their possible status codes.
func (c *Contract) Operations() map[string][]int { return c.operations }

// forbidAdditionalProperties forbids properties that the schema does not name.
func forbidAdditionalProperties(schema *openapi3.Schema) {
	if schema.Type.Is(openapi3.TypeObject) && schema.AdditionalProperties.Has == nil {
		closed := false
		schema.AdditionalProperties.Has = &closed
	}
}

// Transport returns a transport that passes requests to next and fails the test if the
// contract does not allow the response.
func (c *Contract) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &transport{c, t, next}
}

type transport struct {
	contract *Contract
	t        testing.TB
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err != nil || closeErr != nil {
		return nil, errors.Join(err, closeErr)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err := t.contract.ValidateResponse(request, response.StatusCode, response.Header, body); err != nil {
		t.t.Errorf("%s %s: response with status %d violates the contract: %v\nbody: %s",
			request.Method, request.URL, response.StatusCode, err, body)
	}
	return response, nil
}

// ValidateResponse returns an error if the contract does not allow a response to the
// request.
func (c *Contract) ValidateResponse(request *http.Request, status int, header http.Header, body []byte) error {
	route, parameters, err := c.responseRouter.FindRoute(request)
	if err != nil {
		return c.validateUnroutedResponse(err, status, header, body)
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

// validateUnroutedResponse checks the response to a request that matches no operation.
func (c *Contract) validateUnroutedResponse(reason error, status int, header http.Header, body []byte) error {
	want := http.StatusNotFound
	if errors.Is(reason, routers.ErrMethodNotAllowed) {
		want = http.StatusMethodNotAllowed
	}
	if status != want {
		return fmt.Errorf("expected status %d, got %d: %w", want, status, reason)
	}
	if status == http.StatusMethodNotAllowed && header.Get("Allow") == "" {
		return errors.New("missing header Allow")
	}
	if got := header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("expected the content type application/json, got %q", got)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("expected JSON: %w", err)
	}
	return c.errorSchema.VisitJSON(value, openapi3.EnableJSONSchema2020())
}
