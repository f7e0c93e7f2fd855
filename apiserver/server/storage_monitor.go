// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

const (
	// openTimeout limits one attempt to open storage, including migrations.
	openTimeout = 2 * time.Minute
	// openRetryInterval is the pause between attempts.
	openRetryInterval = time.Second
	// pingInterval is how often storage is pinged; pingTimeout limits each ping.
	pingInterval = 5 * time.Second
	pingTimeout  = 3 * time.Second
)

// A storageMonitor opens storage in the background, however long that takes, and tracks
// its health.
type storageMonitor struct {
	store    openPinger
	owner    func() storage.Owner
	log      *slog.Logger
	reportUp func(up bool) // called with the result of each ping
	// onUp is called when storage opens and whenever it recovers.
	onUp func(ctx context.Context)
	// openedOnce is set once storage has been opened.
	openedOnce atomic.Bool
	lastErr    atomic.Pointer[error]
}

// openPinger is the part of storage.Store that the monitor needs.
type openPinger interface {
	Open(ctx context.Context, owner storage.Owner) error
	Ping(ctx context.Context) error
}

func newStorageMonitor(store openPinger, owner func() storage.Owner, log *slog.Logger, tell func(bool), cameUp func(context.Context)) *storageMonitor {
	k := &storageMonitor{store: store, owner: owner, log: log, reportUp: tell, onUp: cameUp}
	notOpen := record.ErrNotOpen
	k.lastErr.Store(&notOpen)
	tell(false)
	return k
}

// run opens storage and pings it until the context ends. It returns an error if the
// storage belongs to another instance, because retrying cannot help.
func (k *storageMonitor) run(ctx context.Context) error {
	if err := k.openWithRetry(ctx); err != nil {
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

// openWithRetry retries until storage is open, the context ends, or the error is
// permanent.
func (k *storageMonitor) openWithRetry(ctx context.Context) error {
	for ctx.Err() == nil && !k.wasOpened() {
		err := k.tryOpen(ctx)
		if foreign := (*storage.WrongOwnerError)(nil); err == nil || errors.As(err, &foreign) {
			return err
		}
		if ctx.Err() == nil {
			k.setStatus(ctx, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(openRetryInterval):
		}
	}
	return nil
}

// tryOpen makes one attempt to open storage.
func (k *storageMonitor) tryOpen(ctx context.Context) error {
	attempt, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := k.store.Open(attempt, k.owner()); err != nil {
		return err
	}
	k.openedOnce.Store(true)
	k.setStatus(ctx, nil)
	return nil
}

func (k *storageMonitor) ping(ctx context.Context) {
	attempt, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := k.store.Ping(attempt); ctx.Err() == nil {
		k.setStatus(ctx, err)
	}
}

// setStatus stores the health of storage and reports changes.
func (k *storageMonitor) setStatus(ctx context.Context, err error) {
	before := *k.lastErr.Swap(&err)
	k.reportUp(err == nil)
	switch {
	case err == nil && before != nil:
		k.log.Info("storage became available")
		limited, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		k.onUp(limited)
	case err != nil && (before == nil || before.Error() != err.Error()):
		k.log.Error("storage became unavailable", "error", err)
	}
}

// probe returns the result of the last ping.
func (k *storageMonitor) probe() (string, error) {
	return "up", *k.lastErr.Load()
}

// wasOpened reports whether storage was ever opened and migrated. It may be down now.
func (k *storageMonitor) wasOpened() bool { return k.openedOnce.Load() }
