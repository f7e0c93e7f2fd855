// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

const (
	// openTimeout is how long one try to open storage may take, its migrations
	// included.
	openTimeout = 2 * time.Minute
	// openRetry is the pause between tries.
	openRetry = time.Second
	// pingInterval is how often storage is looked after, pingTimeout how long
	// it may take to answer.
	pingInterval = 5 * time.Second
	pingTimeout  = 3 * time.Second
)

// A storeKeeper opens storage in the background, however long that takes, and
// knows how it is.
type storeKeeper struct {
	store openable
	owner func() storage.Owner
	log   *slog.Logger
	tell  func(up bool) // is told how storage is after each look
	// cameUp is called when storage is open, and when it is back.
	cameUp func(ctx context.Context)
	// isOpen says that storage was opened at some time.
	isOpen atomic.Bool
	state  atomic.Pointer[error]
}

// openable is what a keeper needs of storage; every storage.Store has it.
type openable interface {
	Open(ctx context.Context, owner storage.Owner) error
	Ping(ctx context.Context) error
}

func newStoreKeeper(store openable, owner func() storage.Owner, log *slog.Logger, tell func(bool), cameUp func(context.Context)) *storeKeeper {
	k := &storeKeeper{store: store, owner: owner, log: log, tell: tell, cameUp: cameUp}
	notOpen := storage.ErrNotOpen
	k.state.Store(&notOpen)
	tell(false)
	return k
}

// run opens storage and looks after it until the context ends. Storage that is
// another's is its error: no try will open it.
func (k *storeKeeper) run(ctx context.Context) error {
	if err := k.openAtLast(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			k.ping(ctx)
		}
	}
}

// openAtLast tries until storage is open, the context ends, or trying is in vain.
func (k *storeKeeper) openAtLast(ctx context.Context) error {
	for ctx.Err() == nil && !k.opened() {
		err := k.open(ctx)
		if foreign := (*storage.ForeignError)(nil); err == nil || errors.As(err, &foreign) {
			return err
		}
		if ctx.Err() == nil {
			k.note(ctx, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(openRetry):
		}
	}
	return nil
}

// open tries once.
func (k *storeKeeper) open(ctx context.Context) error {
	attempt, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := k.store.Open(attempt, k.owner()); err != nil {
		return err
	}
	k.isOpen.Store(true)
	k.note(ctx, nil)
	return nil
}

func (k *storeKeeper) ping(ctx context.Context) {
	attempt, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := k.store.Ping(attempt); ctx.Err() == nil {
		k.note(ctx, err)
	}
}

// note remembers how storage is, and makes it known when that changed.
func (k *storeKeeper) note(ctx context.Context, err error) {
	before := *k.state.Swap(&err)
	k.tell(err == nil)
	switch {
	case err == nil && before != nil:
		k.log.Info("storage is up")
		limited, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		k.cameUp(limited)
	case err != nil && (before == nil || before.Error() != err.Error()):
		k.log.Error("storage is down", "error", err)
	}
}

// probe says how storage was at the last look.
func (k *storeKeeper) probe() (string, error) {
	return "up", *k.state.Load()
}

// opened reports whether storage has been reached and brought up to date at some
// time. It may be down now.
func (k *storeKeeper) opened() bool { return k.isOpen.Load() }
