// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy indicates that the server is at capacity. The call may succeed after RetryAfter.
var ErrBusy = errors.New("server is busy")

// A Semaphore admits a limited number of callers at a time, lets a limited number wait
// until a timeout, and rejects all others immediately.
type Semaphore struct {
	active   *semaphore.Weighted
	admitted *semaphore.Weighted // running or waiting
	timeout  time.Duration
	onReject func()
}

func newSemaphore(active, waiting int, timeout time.Duration, onReject func()) *Semaphore {
	return &Semaphore{
		active:   semaphore.NewWeighted(int64(active)),
		admitted: semaphore.NewWeighted(int64(active + waiting)),
		timeout:  timeout,
		onReject: onReject,
	}
}

// Acquire admits the caller, which must call Release, or returns ErrBusy.
func (s *Semaphore) Acquire(ctx context.Context) error {
	if !s.admitted.TryAcquire(1) {
		s.onReject()
		return ErrBusy
	}
	if s.active.TryAcquire(1) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if s.active.Acquire(limited, 1) != nil {
		s.admitted.Release(1)
		s.onReject()
		return ErrBusy
	}
	return nil
}

// Release frees the caller's slot.
func (s *Semaphore) Release() {
	s.active.Release(1)
	s.admitted.Release(1)
}
