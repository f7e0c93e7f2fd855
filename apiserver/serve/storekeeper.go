// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
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

// errNotOpen is what callers get until storage has been opened.
var errNotOpen = errors.New("storage is not open yet")

// A storeKeeper opens storage in the background, however long that takes, and
// knows how it is. What is asked of storage before it is open fails.
type storeKeeper struct {
	url   string
	opens func(ctx context.Context, url string) (storage.Store, error)
	log   *slog.Logger
	tell  func(up bool) // is told how storage is after each look
	// cameUp is called when storage is open, and when it is back.
	cameUp func(ctx context.Context)
	store  atomic.Pointer[storage.Store]
	state  atomic.Pointer[error]
}

func newStoreKeeper(o options, tell func(bool), cameUp func(context.Context)) *storeKeeper {
	k := &storeKeeper{url: o.Database, opens: o.openStore, log: o.log, tell: tell, cameUp: cameUp}
	k.state.Store(&errNotOpen)
	tell(false)
	return k
}

// run opens storage and looks after it until the context ends. A URL that no
// try will ever open is its error.
func (k *storeKeeper) run(ctx context.Context) error {
	if err := k.openAtLast(ctx); err != nil || ctx.Err() != nil {
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

// embedded reports whether storage is a file of this process.
func (k *storeKeeper) embedded() bool { return strings.HasPrefix(k.url, "sqlite:") }

// openAtLast tries until storage is open, the context ends, or trying is in
// vain.
func (k *storeKeeper) openAtLast(ctx context.Context) error {
	for ctx.Err() == nil && !k.opened() {
		err := k.open(ctx)
		if err == nil || errors.Is(err, storage.ErrInvalidURL) {
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
	store, err := k.opens(attempt, k.url)
	if err != nil {
		return err
	}
	k.store.Store(&store)
	k.note(ctx, nil)
	return nil
}

func (k *storeKeeper) ping(ctx context.Context) {
	attempt, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := (*k.store.Load()).Ping(attempt); ctx.Err() == nil {
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
func (k *storeKeeper) opened() bool { return k.store.Load() != nil }

// AddUsage adds a batch of counts once storage is open.
func (k *storeKeeper) AddUsage(ctx context.Context, batch storage.UsageBatch) error {
	if store := k.store.Load(); store != nil {
		return (*store).AddUsage(ctx, batch)
	}
	return errNotOpen
}

// Usage reads counts once storage is open.
func (k *storeKeeper) Usage(ctx context.Context, from, to storage.Date) ([]storage.UsageCount, error) {
	if store := k.store.Load(); store != nil {
		return (*store).Usage(ctx, from, to)
	}
	return nil, errNotOpen
}

// UsageTotals reads totals once storage is open.
func (k *storeKeeper) UsageTotals(ctx context.Context, from, to storage.Date, endpoints []string) ([]storage.UsageTotal, error) {
	if store := k.store.Load(); store != nil {
		return (*store).UsageTotals(ctx, from, to, endpoints)
	}
	return nil, errNotOpen
}

// PutFeedback keeps feedback once storage is open.
func (k *storeKeeper) PutFeedback(ctx context.Context, interview feedback.Interview) error {
	if store := k.store.Load(); store != nil {
		return (*store).PutFeedback(ctx, interview)
	}
	return errNotOpen
}

// Feedback reads feedback once storage is open.
func (k *storeKeeper) Feedback(ctx context.Context, skipped, atMost int64) ([]feedback.Interview, int64, error) {
	if store := k.store.Load(); store != nil {
		return (*store).Feedback(ctx, skipped, atMost)
	}
	return nil, 0, errNotOpen
}

// close closes storage, if it was opened.
func (k *storeKeeper) close() error {
	if store := k.store.Load(); store != nil {
		return (*store).Close()
	}
	return nil
}
