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

func (l *errorLog) log(logger *slog.Logger, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.last = ""
		return
	}
	if err.Error() != l.last {
		l.last = err.Error()
		logger.Error("failed to process webhook deliveries", "error", err)
	}
}
