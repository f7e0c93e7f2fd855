// SPDX-License-Identifier: Apache-2.0

package openapitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// ClientTransport returns a transport that passes requests to next and fails the test if
// the contract does not allow the request or the response. It is for tests of clients:
// tests of the server send invalid requests on purpose.
func (c *Contract) ClientTransport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &clientTransport{c, t, c.Transport(t, next)}
}

type clientTransport struct {
	contract *Contract
	t        testing.TB
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c *clientTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	copied := request.Clone(request.Context())
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		copied.Body = body
	}
	if err := c.contract.ValidateRequest(copied); err != nil {
		c.t.Errorf("%s %s: request violates the contract: %v", request.Method, request.URL, err)
	}
	return c.next.RoundTrip(request)
}

// ValidateRequest reads the body of a request and returns an error if the contract does not
// allow the request. It does not check credentials.
func (c *Contract) ValidateRequest(request *http.Request) error {
	route, parameters, err := c.requestRouter.FindRoute(request)
	if err != nil {
		return fmt.Errorf("finding the operation: %w", err)
	}
	return openapi3filter.ValidateRequest(request.Context(), &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
}
