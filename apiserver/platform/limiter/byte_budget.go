// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"io"

	"golang.org/x/sync/semaphore"
)

// A ByteBudget limits the bytes held in memory for all bodies.
type ByteBudget struct {
	free     *semaphore.Weighted
	onReject func()
}

func newByteBudget(most int64, turnedAway func()) *ByteBudget {
	return &ByteBudget{free: semaphore.NewWeighted(most), onReject: turnedAway}
}

// Reader returns a reader of body that returns ErrBusy once the budget is exhausted.
// Bytes count as they arrive, so a client that announces a large body and sends little
// does not use up the budget.
func (b *ByteBudget) Reader(body io.Reader) *Reader { return &Reader{body: body, budget: b} }

// A Reader holds the bytes read from it in the budget until Release.
type Reader struct {
	body   io.Reader
	budget *ByteBudget
	held   int64
}

// Read implements io.Reader.
func (r *Reader) Read(into []byte) (int, error) {
	n, err := r.body.Read(into)
	if !r.budget.free.TryAcquire(int64(n)) {
		r.budget.onReject()
		return 0, ErrBusy
	}
	r.held += int64(n)
	return n, err
}

// Release returns the bytes to the budget, once what was read is no longer in use.
func (r *Reader) Release() {
	r.budget.free.Release(r.held)
	r.held = 0
}
