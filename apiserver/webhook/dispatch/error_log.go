// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"log/slog"
	"sync"
)

// errorLog logs an error that blocks deliveries when it first occurs and when it
// changes.
type errorLog struct {
	mu   sync.Mutex
	last string
}

func (f *errorLog) log(log *slog.Logger, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.last = ""
		return
	}
	if err.Error() != f.last {
		f.last = err.Error()
		log.Error("failed to process webhook deliveries", "error", err)
	}
}
