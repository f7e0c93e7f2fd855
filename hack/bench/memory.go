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

// ask asks for diagnoses of one to four symptoms that the server knows.
func ask(ctx context.Context, address string, requests int) error {
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
