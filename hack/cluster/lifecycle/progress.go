// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress prints a line per step: its name at the start, and its duration in seconds
// at the end. On a terminal, the duration is updated while the step runs.
type progress struct {
	output io.Writer
	live   bool
}

func newProgress(output io.Writer) *progress {
	file, ok := output.(*os.File)
	return &progress{output: output, live: ok && term.IsTerminal(int(file.Fd()))}
}

func (p *progress) runStep(name string, step func() error) error {
	fmt.Fprintf(p.output, "%-48s ", name)
	start := time.Now()
	stop := p.showDuration(name, start)
	err := step()
	stop()
	if err != nil {
		fmt.Fprintln(p.output, "failed")
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(p.output, "%6.1f s\n", time.Since(start).Seconds())
	return nil
}

// showDuration updates the line of a running step every second until stop is called,
// which leaves the line as it was.
func (p *progress) showDuration(name string, start time.Time) (stop func()) {
	if !p.live {
		return func() {}
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				fmt.Fprintf(p.output, "\r%-48s ", name)
				return
			case <-ticker.C:
				fmt.Fprintf(p.output, "\r%-48s %6.0f s", name, time.Since(start).Seconds())
			}
		}
	}()
	return func() { close(done); <-stopped }
}
