// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"io"

	"golang.org/x/sync/semaphore"
)

// Bytes are those that are held of all bodies.
type Bytes struct {
	free       *semaphore.Weighted
	turnedAway func()
}

func newBytes(most int64, turnedAway func()) *Bytes {
	return &Bytes{free: semaphore.NewWeighted(most), turnedAway: turnedAway}
}

// Reader reads from a body as long as its bytes may be held, and says ErrBusy
// when they may not. Bytes count as they arrive: a client that announces many
// and sends few takes no room from others.
func (b *Bytes) Reader(body io.Reader) *Reader { return &Reader{from: body, of: b} }

// A Reader holds the bytes that were read from it until it is released.
type Reader struct {
	from io.Reader
	of   *Bytes
	held int64
}

// Read implements io.Reader.
func (r *Reader) Read(into []byte) (int, error) {
	n, err := r.from.Read(into)
	if !r.of.free.TryAcquire(int64(n)) {
		r.of.turnedAway()
		return 0, ErrBusy
	}
	r.held += int64(n)
	return n, err
}

// Release makes room for others, once nothing is left of what was read.
func (r *Reader) Release() {
	r.of.free.Release(r.held)
	r.held = 0
}
