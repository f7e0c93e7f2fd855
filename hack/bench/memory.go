// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/devserver"
)

// idleMemory starts the real server in an empty home, has it answer requests,
// leaves it alone, and reads how much memory it shares with nobody, in kB.
func idleMemory(ctx context.Context, requests int, idle time.Duration) (kilobytes int, err error) {
	server, err := devserver.Start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := ask(ctx, server.URL, requests); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(idle):
	}
	return anonymousMemory(server.PID())
}

// ask posts diagnoses of one to four symptoms that the server knows.
func ask(ctx context.Context, address string, requests int) error {
	for i := range requests {
		var evidence []string
		for n := range 1 + i%4 {
			evidence = append(evidence, fmt.Sprintf(`{"id":"s_%d","choice_id":"present","source":"initial"}`, 1+(i+n*7)%40))
		}
		body := fmt.Sprintf(`{"sex":"female","age":{"value":%d},"evidence":[%s]}`, 20+i%60, strings.Join(evidence, ","))
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v3/diagnosis", strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("App-Id", devserver.AppID)
		request.Header.Set("App-Key", devserver.AppKey)
		request.Header.Set("Content-Type", "application/json")
		if err := expectOK(request); err != nil {
			return err
		}
	}
	return nil
}

func expectOK(request *http.Request) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %d: %s", response.StatusCode, text)
	}
	return nil
}

// anonymousMemory is RssAnon of a process: what no file on disk backs, and so
// no other process shares.
func anonymousMemory(pid int) (kilobytes int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("only Linux tells this: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		}
	}
	return 0, errors.New("the kernel does not tell RssAnon")
}
