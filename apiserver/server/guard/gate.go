// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy says that the server has taken on all that it can; the same call may
// pass after RetryAfter.
var ErrBusy = errors.New("the server is busy")

// A Gate lets so many callers through at the same time, has some more wait for
// a while, and turns away the others at once.
type Gate struct {
	inside     *semaphore.Weighted
	around     *semaphore.Weighted // inside or waiting
	patience   time.Duration
	turnedAway func()
}

func newGate(inside, waiting int, patience time.Duration, turnedAway func()) *Gate {
	return &Gate{
		inside:     semaphore.NewWeighted(int64(inside)),
		around:     semaphore.NewWeighted(int64(inside + waiting)),
		patience:   patience,
		turnedAway: turnedAway,
	}
}

// Enter lets the caller in, who must Leave, or says ErrBusy.
func (g *Gate) Enter(ctx context.Context) error {
	if !g.around.TryAcquire(1) {
		g.turnedAway()
		return ErrBusy
	}
	if g.inside.TryAcquire(1) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	if g.inside.Acquire(limited, 1) != nil {
		g.around.Release(1)
		g.turnedAway()
		return ErrBusy
	}
	return nil
}

// Leave makes room for the next one.
func (g *Gate) Leave() {
	g.inside.Release(1)
	g.around.Release(1)
}
