// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// A client calls one server as one application.
type client struct {
	url, appID, appKey, model string
}

// get reads an address below /v3.
func (c *client) get(ctx context.Context, path string, answer any) error {
	return c.call(ctx, http.MethodGet, path, nil, answer)
}

// post sends a body to an address below /v3.
func (c *client) post(ctx context.Context, path string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the body for %s: %w", path, err)
	}
	return c.call(ctx, http.MethodPost, path, bytes.NewReader(content), answer)
}

func (c *client) call(ctx context.Context, method, path string, body io.Reader, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.url, "/")+"/v3"+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("App-Id", c.appID)
	request.Header.Set("App-Key", c.appKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Dev-Mode", "true")
	if c.model != "" {
		request.Header.Set("Model", c.model)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the server (is it running? 'go run ./apiserver serve --dev' starts one): %w", err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		var refusal enginev3.Error
		if json.Unmarshal(content, &refusal) != nil || refusal.Message == "" {
			refusal.Message = http.StatusText(response.StatusCode)
		}
		return fmt.Errorf("%s was answered with %d: %s", path, response.StatusCode, refusal.Message)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("the answer of %s is not what the contract says: %w", path, err)
	}
	return nil
}
