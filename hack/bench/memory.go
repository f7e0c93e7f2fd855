// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/hack/devserver"
)

// idleMemory starts a real server with an empty home directory, sends it requests,
// lets it idle, and returns its private memory in kB.
func idleMemory(ctx context.Context, requests int, idle time.Duration) (kilobytes int, err error) {
	server, err := devserver.Start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := sendDiagnoses(ctx, server.URL, requests); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(idle):
	}
	return rssAnon(server.PID())
}

// sendDiagnoses sends diagnosis requests with one to four symptoms each.
func sendDiagnoses(ctx context.Context, address string, requests int) error {
	c, err := client.New(address, devserver.Credentials())
	if err != nil {
		return err
	}
	for i := range requests {
		patient := enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 20 + i%60}}
		for n := range 1 + i%4 {
			patient.Evidence = append(patient.Evidence, enginev3.Evidence{
				ID: fmt.Sprintf("s_%d", 1+(i+n*7)%40), ChoiceID: enginev3.ChoicePresent, Source: new(enginev3.SourceInitial),
			})
		}
		if _, err := c.Engine.Diagnose(ctx, patient); err != nil {
			return err
		}
	}
	return nil
}

// rssAnon returns the RssAnon of a process in kB: memory that is not backed by a file
// and therefore not shared with other processes.
func rssAnon(pid int) (kilobytes int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading RssAnon (requires Linux): %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		}
	}
	return 0, fmt.Errorf("RssAnon not found in /proc/%d/status", pid)
}
