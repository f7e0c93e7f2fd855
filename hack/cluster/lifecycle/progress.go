// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"io"
	"time"
)

// progress prints a line per step: its name at the start, and its duration in seconds
// at the end.
type progress struct{ output io.Writer }

func newProgress(output io.Writer) *progress { return &progress{output: output} }

func (s *progress) runStep(name string, step func() error) error {
	fmt.Fprintf(s.output, "%-48s ", name)
	start := time.Now()
	err := step()
	if err != nil {
		fmt.Fprintln(s.output, "failed")
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(s.output, "%6.1f s\n", time.Since(start).Seconds())
	return nil
}
