// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// A caller sends requests and makes errors of what is not a success.
type caller struct{ http *http.Client }

// newCaller leaves the client that it is given as it is.
func newCaller(client *http.Client) caller {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return caller{&own}
}

// mostRefusal is as much of an answer as is read to learn what was wrong, in
// bytes.
const mostRefusal = 1 << 20

// Do implements the Doer of the generated clients.
func (c caller) Do(request *http.Request) (*http.Response, error) {
	response, err := c.http.Do(request) //nolint:gosec // G704: which instance is called is for the program to say
	if err != nil {
		return nil, fmt.Errorf("calling %s %s: %w", request.Method, request.URL.Path, withoutAddress(err))
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostRefusal))
	return nil, errors.Join(newError(request, response, body), err, response.Body.Close())
}

// withoutAddress takes the address away that net/http puts into its errors: its
// query may hold what a patient typed.
func withoutAddress(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
