// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
)

// An Editor changes a request before it is sent. The
// functions below set the headers that the contracts define for all calls.
type Editor = func(ctx context.Context, request *http.Request) error

// Model selects the model of a call, such as service-en. Defaults to the first
// model that the instance serves.
func Model(id string) Editor { return setHeader("Model", id) }

// InterviewID sets the interview that a call belongs to. Use the same ID for all calls
// of one interview and never reuse it. The ID should be random, ideally a UUID, and
// has at most 128 visible ASCII characters.
func InterviewID(id string) Editor { return setHeader("Interview-Id", id) }

// RequestID sets the ID of a call in the instance's log, at most 128 visible ASCII
// characters. If unset, the instance generates one.
func RequestID(id string) Editor { return setHeader("X-Request-Id", id) }

// DevMode excludes a call from usage counts, and feedback from storage.
func DevMode() Editor { return setHeader("Dev-Mode", "true") }

func setHeader(name, value string) Editor {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
}

// setHeaders sets the credential headers of engine calls.
func (c Credentials) setHeaders(_ context.Context, request *http.Request) error {
	request.Header.Set("App-Id", c.AppID)
	request.Header.Set("App-Key", c.AppKey)
	return nil
}
