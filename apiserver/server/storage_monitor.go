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
	// openRetryInterval is the delay between attempts.
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

func newStorageMonitor(store openPinger, owner func() storage.Owner, log *slog.Logger, reportUp func(bool), onUp func(context.Context)) *storageMonitor {
	m := &storageMonitor{store: store, owner: owner, log: log, reportUp: reportUp, onUp: onUp}
	notOpen := record.ErrNotOpen
	m.lastErr.Store(&notOpen)
	reportUp(false)
	return m
}

// run opens storage and pings it until the context ends. It returns an error if the
// storage belongs to another Instance, because retrying cannot help.
func (m *storageMonitor) run(ctx context.Context) error {
	if err := m.openWithRetry(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			m.ping(ctx)
		}
	}
}

// openWithRetry retries until storage is open, the context ends, or the error is
// permanent.
func (m *storageMonitor) openWithRetry(ctx context.Context) error {
	for ctx.Err() == nil && !m.wasOpened() {
		err := m.tryOpen(ctx)
		if wrongOwner := (*storage.WrongOwnerError)(nil); err == nil || errors.As(err, &wrongOwner) {
			return err
		}
		if ctx.Err() == nil {
			m.setStatus(ctx, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(openRetryInterval):
		}
	}
	return nil
}

// tryOpen makes one attempt to open storage.
func (m *storageMonitor) tryOpen(ctx context.Context) error {
	attempt, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := m.store.Open(attempt, m.owner()); err != nil {
		return err
	}
	m.openedOnce.Store(true)
	m.setStatus(ctx, nil)
	return nil
}

func (m *storageMonitor) ping(ctx context.Context) {
	attempt, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := m.store.Ping(attempt); ctx.Err() == nil {
		m.setStatus(ctx, err)
	}
}

// setStatus stores the health of storage and reports changes.
func (m *storageMonitor) setStatus(ctx context.Context, err error) {
	before := *m.lastErr.Swap(&err)
	m.reportUp(err == nil)
	switch {
	case err == nil && before != nil:
		m.log.Info("storage became available")
		limited, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		m.onUp(limited)
	case err != nil && (before == nil || before.Error() != err.Error()):
		m.log.Error("storage became unavailable", "error", err)
	}
}

// probe returns the result of the last ping.
func (m *storageMonitor) probe() (string, error) {
	return "up", *m.lastErr.Load()
}

// wasOpened reports whether storage was opened and migrated at least once.
func (m *storageMonitor) wasOpened() bool { return m.openedOnce.Load() }
