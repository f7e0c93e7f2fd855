// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"os"
)

// background is the context of what outlives a test's.
var background = context.Background()

// lasting is the scope of what all examples share.
type lasting struct{ cleanups []func() }

func (l *lasting) Helper() {}

func (l *lasting) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (l *lasting) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func (l *lasting) TempDir() string {
	directory, err := os.MkdirTemp("", "client-")
	must(l, err)
	l.Cleanup(func() { must(l, os.RemoveAll(directory)) })
	return directory
}

// end cleans up, the last first.
func (l *lasting) end() {
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
}
