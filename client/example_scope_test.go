// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"os"
)

// background is the context of everything that outlives a test's context.
var background = context.Background()

// exampleScope is the scope of the fixtures shared by all examples.
type exampleScope struct{ cleanups []func() }

func (s *exampleScope) Helper() {}

func (s *exampleScope) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (s *exampleScope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *exampleScope) TempDir() string {
	directory, err := os.MkdirTemp("", "client-")
	must(s, err)
	s.Cleanup(func() { must(s, os.RemoveAll(directory)) })
	return directory
}

// cleanUp runs the cleanup functions in reverse order.
func (s *exampleScope) cleanUp() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}
