// SPDX-License-Identifier: Apache-2.0

package openapitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// ClientTransport passes requests on to next and fails the test when one is not
// what the contract allows, or the answer to it is not. It is for tests of
// clients: those of the server send what is wrong on purpose.
func (c *Contract) ClientTransport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &clientTransport{c, t, c.Transport(t, next)}
}

type clientTransport struct {
	contract *Contract
	t        testing.TB
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (v *clientTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	copied := request.Clone(request.Context())
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		copied.Body = body
	}
	if err := v.contract.CheckRequest(copied); err != nil {
		v.t.Errorf("%s %s breaks the contract: %v", request.Method, request.URL, err)
	}
	return v.next.RoundTrip(request)
}

// CheckRequest says in what way a request is not what the contract allows, and
// reads its body. Whether its credentials are good is for the server to say.
func (c *Contract) CheckRequest(request *http.Request) error {
	route, parameters, err := c.requests.FindRoute(request)
	if err != nil {
		return fmt.Errorf("there is no such operation: %w", err)
	}
	return openapi3filter.ValidateRequest(request.Context(), &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
}
