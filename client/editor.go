// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
)

// An Editor changes a request before it is sent. Any function of this form will
// do; those below set the headers that the contracts have for any call.
type Editor = func(ctx context.Context, request *http.Request) error

// Model chooses the model that answers, such as service-en; without it the
// first one answers that the instance serves.
func Model(id string) Editor { return header("Model", id) }

// InterviewID tells which interview a call belongs to: the same on every call
// of one, never reused, random, best a UUID; at most 128 visible ASCII
// characters.
func InterviewID(id string) Editor { return header("Interview-Id", id) }

// RequestID gives a call an id by which the log of the instance names it, of at
// most 128 visible ASCII characters. Without it the instance makes one up.
func RequestID(id string) Editor { return header("X-Request-Id", id) }

// DevMode keeps a call out of every usage figure, and feedback out of storage.
func DevMode() Editor { return header("Dev-Mode", "true") }

func header(name, value string) Editor {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
}

// sign is the editor of the engine's calls.
func (c Credentials) sign(_ context.Context, request *http.Request) error {
	request.Header.Set("App-Id", c.AppID)
	request.Header.Set("App-Key", c.AppKey)
	return nil
}
