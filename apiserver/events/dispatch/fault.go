// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"log/slog"
	"sync"
)

// A fault is what keeps events from being told. It is logged when it begins, and when it
// is another.
type fault struct {
	mu     sync.Mutex
	before string
}

func (f *fault) note(log *slog.Logger, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.before = ""
		return
	}
	if err.Error() != f.before {
		f.before = err.Error()
		log.Error("receivers are not told of events as they should be", "error", err)
	}
}
