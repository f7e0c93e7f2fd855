// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy indicates that the server is at capacity. The call may succeed after RetryAfter.
var ErrBusy = errors.New("the server is busy")

// A Semaphore admits a limited number of callers at a time, lets some more wait for a
// limited time, and rejects the others at once.
type Semaphore struct {
	active   *semaphore.Weighted
	admitted *semaphore.Weighted // running or waiting
	timeout  time.Duration
	onReject func()
}

func newSemaphore(inside, waiting int, patience time.Duration, turnedAway func()) *Semaphore {
	return &Semaphore{
		active:   semaphore.NewWeighted(int64(inside)),
		admitted: semaphore.NewWeighted(int64(inside + waiting)),
		timeout:  patience,
		onReject: turnedAway,
	}
}

// Acquire admits the caller, which must call Release, or returns ErrBusy.
func (g *Semaphore) Acquire(ctx context.Context) error {
	if !g.admitted.TryAcquire(1) {
		g.onReject()
		return ErrBusy
	}
	if g.active.TryAcquire(1) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	if g.active.Acquire(limited, 1) != nil {
		g.admitted.Release(1)
		g.onReject()
		return ErrBusy
	}
	return nil
}

// Release frees the caller's slot.
func (g *Semaphore) Release() {
	g.active.Release(1)
	g.admitted.Release(1)
}
