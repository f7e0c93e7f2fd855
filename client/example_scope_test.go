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

func (l *exampleScope) Helper() {}

func (l *exampleScope) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (l *exampleScope) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func (l *exampleScope) TempDir() string {
	directory, err := os.MkdirTemp("", "client-")
	must(l, err)
	l.Cleanup(func() { must(l, os.RemoveAll(directory)) })
	return directory
}

// cleanUp runs the cleanup functions in reverse order.
func (l *exampleScope) cleanUp() {
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
}
