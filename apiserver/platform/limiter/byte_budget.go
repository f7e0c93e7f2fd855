// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"io"

	"golang.org/x/sync/semaphore"
)

// A ByteBudget limits the number of body bytes held in memory.
type ByteBudget struct {
	free     *semaphore.Weighted
	onReject func()
}

func newByteBudget(limit int64, onReject func()) *ByteBudget {
	return &ByteBudget{free: semaphore.NewWeighted(limit), onReject: onReject}
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
func (r *Reader) Read(buffer []byte) (int, error) {
	n, err := r.body.Read(buffer)
	if !r.budget.free.TryAcquire(int64(n)) {
		r.budget.onReject()
		return 0, ErrBusy
	}
	r.held += int64(n)
	return n, err
}

// Release returns the bytes to the budget. The caller must not use the read data afterwards.
func (r *Reader) Release() {
	r.budget.free.Release(r.held)
	r.held = 0
}
