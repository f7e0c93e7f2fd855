// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// A Store holds the open releases that a server uses. Requests lease a release with
// Acquire and return it with Lease.Done. Once Refresh or Close removes a release, it is
// unmapped when its last lease ends. Acquire takes no lock.
type Store struct {
	directory string
	requested []ReleaseRef
	current   atomic.Pointer[snapshot]
	mu        sync.Mutex // held by Refresh and Close
}

// snapshot is the immutable set of releases served at one moment.
type snapshot struct {
	handles []*releaseHandle // default model first
	byID    map[string]*releaseHandle
}

// releaseHandle is an open release with a reference count: one reference for its snapshot
// and one for each lease. When the count reaches zero, the release is unmapped and can no
// longer be retained.
type releaseHandle struct {
	meta    Meta // outlives the release
	release *Release
	refs    atomic.Int64
}

// retain adds a reference. It returns false if the release is already unmapped.
func (v *releaseHandle) retain() bool {
	for {
		holders := v.refs.Load()
		if holders == 0 {
			return false
		}
		if v.refs.CompareAndSwap(holders, holders+1) {
			return true
		}
	}
}

func (v *releaseHandle) unref() {
	if v.refs.Add(-1) == 0 {
		// Unmapping a mapped file does not fail, and an error could not be handled here anyway.
		_ = v.release.Close()
	}
}

// OpenStore opens the wanted models from the release files in dir. The first one is the
// default. If wanted is empty, it opens the newest version of every model, with
// DefaultModelID as the default. If dir does not contain a model or version, the error
// lists what is available.
func OpenStore(dir string, wanted []ReleaseRef) (*Store, error) {
	l := &Store{directory: dir, requested: wanted}
	l.current.Store(&snapshot{})
	if _, err := l.Refresh(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Refresh rescans the directory and starts serving the newest versions of the models that
// were configured without a version. It reports whether anything changed. If a release
// cannot be opened, the error includes it and its model stays at the version served
// before; other models are still updated.
func (l *Store) Refresh() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dir, err := readReleaseDir(l.directory)
	if err != nil {
		return false, err
	}
	chosen, err := dir.resolve(l.requested)
	if err != nil {
		return false, err
	}
	old := l.current.Load()
	next, opened, err := old.next(dir, chosen)
	l.current.Store(next)
	dropped := removedHandles(next, old)
	unrefAll(dropped)
	return opened+len(dropped) > 0, err
}

// next returns the next snapshot with the chosen releases, and opens the releases that
// the current snapshot does not have.
func (s *snapshot) next(dir *releaseDir, chosen []ReleaseRef) (next *snapshot, opened int, refused error) {
	next = &snapshot{byID: map[string]*releaseHandle{}}
	for _, w := range chosen {
		v := s.byID[w.ID]
		if v == nil || v.meta.Version != w.Version {
			release, err := dir.open(w)
			if err == nil {
				v = &releaseHandle{meta: release.Meta, release: release}
				v.refs.Store(1)
				opened++
			}
			refused = errors.Join(refused, err)
		}
		if v != nil {
			next.handles = append(next.handles, v)
			next.byID[w.ID] = v
		}
	}
	return next, opened, refused
}

// removedHandles returns the handles of the old snapshot that the next one does not have.
func removedHandles(next, old *snapshot) []*releaseHandle {
	var missing []*releaseHandle
	for id, v := range old.byID {
		if next.byID[id] != v {
			missing = append(missing, v)
		}
	}
	return missing
}

func unrefAll(volumes []*releaseHandle) {
	for _, v := range volumes {
		v.unref()
	}
}

// Close removes all releases. Existing leases stay valid until Done; Acquire returns
// ErrStoreClosed from then on.
func (l *Store) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	unrefAll(l.current.Swap(&snapshot{}).handles)
}

// An UnknownModelError is returned for a model id that the store does not serve.
type UnknownModelError struct {
	ID     string
	Served []string
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("unknown model %q: this instance serves %s", e.ID, strings.Join(e.Served, ", "))
}

// ErrStoreClosed is returned after the store has been closed.
var ErrStoreClosed = errors.New("release store is closed")

// Acquire leases the release of a model, or of the default model if modelID is empty. It
// accepts infermedica-xx as an alias of service-xx, for compatibility with existing
// clients. The error is an UnknownModelError or ErrStoreClosed.
func (l *Store) Acquire(modelID string) (*Lease, error) {
	for {
		current := l.current.Load()
		if len(current.handles) == 0 {
			return nil, ErrStoreClosed
		}
		v := current.find(modelID)
		if v == nil {
			return nil, &UnknownModelError{ID: modelID, Served: current.ids()}
		}
		// If retain fails, the release was removed in the meantime; retry with the new snapshot.
		if v.retain() {
			return &Lease{handle: v}, nil
		}
	}
}

func (s *snapshot) find(modelID string) *releaseHandle {
	if modelID == "" {
		return s.handles[0]
	}
	if v := s.byID[modelID]; v != nil {
		return v
	}
	if language, ok := strings.CutPrefix(modelID, "infermedica-"); ok {
		return s.byID["service-"+language]
	}
	return nil
}

func (s *snapshot) ids() []string {
	ids := make([]string, len(s.handles))
	for i, v := range s.handles {
		ids[i] = v.meta.ModelID
	}
	return ids
}

// Releases returns the metadata of the served releases, default first.
func (l *Store) Releases() []Meta {
	current := l.current.Load()
	metas := make([]Meta, len(current.handles))
	for i, v := range current.handles {
		metas[i] = v.meta
	}
	return metas
}

// A Lease keeps a release mapped. It belongs to one request.
type Lease struct {
	handle *releaseHandle
	done   atomic.Bool
}

// Release returns the leased release. It must not be used after Done.
func (l *Lease) Release() *Release { return l.handle.release }

// Done ends the lease. Further calls do nothing.
func (l *Lease) Done() {
	if !l.done.Swap(true) {
		l.handle.unref()
	}
}
