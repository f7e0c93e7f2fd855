// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// A doer sends requests and converts responses other than success to errors.
type doer struct{ http *http.Client }

// newDoer returns a doer. It does not modify the client passed to it.
func newDoer(client *http.Client) doer {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return doer{&own}
}

// maxErrorBodyBytes is the maximum number of bytes read from an error response.
const maxErrorBodyBytes = 1 << 20

// Do implements the Doer of the generated clients.
func (d doer) Do(request *http.Request) (*http.Response, error) {
	response, err := d.http.Do(request) //nolint:gosec // G704: the program configures the instance
	if err != nil {
		return nil, fmt.Errorf("calling %s %s: %w", request.Method, request.URL.Path, stripURL(err))
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBodyBytes))
	return nil, errors.Join(newError(request, response, body), err, response.Body.Close())
}

// stripURL removes the URL from errors of net/http, because its query may contain
// patient input.
func stripURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
