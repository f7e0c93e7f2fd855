// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"io"
	"time"
)

// steps prints a line for each step: its name when it starts, its seconds when
// it ends.
type steps struct{ output io.Writer }

func newSteps(output io.Writer) *steps { return &steps{output: output} }

func (s *steps) do(name string, step func() error) error {
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
