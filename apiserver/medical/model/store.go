// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// A Store holds the open releases of a server. Requests lease a release with Acquire
// and return it with Lease.Done. After Refresh or Close removes a release, the release
// is unmapped when its last lease ends. Acquire does not lock.
type Store struct {
	directory string
	requested []ReleaseRef
	current   atomic.Pointer[snapshot]
	mu        sync.Mutex // held by Refresh and Close
}

// snapshot is an immutable set of served releases.
type snapshot struct {
	handles []*releaseHandle // default model first
	byID    map[string]*releaseHandle
}

// releaseHandle is an open release with a reference count: one reference for its
// snapshot and one for each lease. When the count reaches zero, the release is unmapped
// and retain fails.
type releaseHandle struct {
	meta    Meta // outlives the release
	release *Release
	refs    atomic.Int64
}

// retain adds a reference. It returns false if the release is already unmapped.
func (h *releaseHandle) retain() bool {
	for {
		count := h.refs.Load()
		if count == 0 {
			return false
		}
		if h.refs.CompareAndSwap(count, count+1) {
			return true
		}
	}
}

func (h *releaseHandle) unref() {
	if h.refs.Add(-1) == 0 {
		// Unmapping a mapped file does not fail, and an error could not be handled here anyway.
		_ = h.release.Close()
	}
}

// OpenStore opens the given models from the release files in dir. The first model is
// the default. If there are no refs, it opens the newest version of every model, with
// DefaultModelID as the default. If dir does not contain a model or version, the error
// lists the available ones.
func OpenStore(dir string, refs []ReleaseRef) (*Store, error) {
	s := &Store{directory: dir, requested: refs}
	s.current.Store(&snapshot{})
	if _, err := s.Refresh(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Refresh rescans the directory and starts serving the newest versions of the models
// that were configured without a version. It reports whether anything changed. If a
// release cannot be opened, the error includes it and its model stays at the previous
// version; other models are still updated.
func (s *Store) Refresh() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := readReleaseDir(s.directory)
	if err != nil {
		return false, err
	}
	refs, err := dir.resolve(s.requested)
	if err != nil {
		return false, err
	}
	previous := s.current.Load()
	next, opened, err := previous.next(dir, refs)
	s.current.Store(next)
	removed := removedHandles(next, previous)
	unrefAll(removed)
	return opened+len(removed) > 0, err
}

// next returns the next snapshot, with the given releases. It opens the releases that
// the current snapshot does not have.
func (s *snapshot) next(dir *releaseDir, refs []ReleaseRef) (next *snapshot, opened int, errs error) {
	next = &snapshot{byID: map[string]*releaseHandle{}}
	for _, ref := range refs {
		h := s.byID[ref.ID]
		if h == nil || h.meta.Version != ref.Version {
			release, err := dir.open(ref)
			if err == nil {
				h = &releaseHandle{meta: release.Meta, release: release}
				h.refs.Store(1)
				opened++
			}
			errs = errors.Join(errs, err)
		}
		if h != nil {
			next.handles = append(next.handles, h)
			next.byID[ref.ID] = h
		}
	}
	return next, opened, errs
}

// removedHandles returns the handles of the old snapshot that the next snapshot does
// not have.
func removedHandles(next, old *snapshot) []*releaseHandle {
	var removed []*releaseHandle
	for id, h := range old.byID {
		if next.byID[id] != h {
			removed = append(removed, h)
		}
	}
	return removed
}

func unrefAll(handles []*releaseHandle) {
	for _, h := range handles {
		h.unref()
	}
}

// Close removes all releases. Existing leases stay valid until Done; later calls of
// Acquire return ErrStoreClosed.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	unrefAll(s.current.Swap(&snapshot{}).handles)
}

// An UnknownModelError reports a model ID that the store does not serve.
type UnknownModelError struct {
	ID     string
	Served []string
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("unknown model %q: this instance serves %s", e.ID, strings.Join(e.Served, ", "))
}

// ErrStoreClosed reports that the store has been closed.
var ErrStoreClosed = errors.New("release store is closed")

// Acquire leases the release of a model, or of the default model if modelID is empty. It
// accepts infermedica-xx as an alias of service-xx, for compatibility with existing
// clients. The error is an UnknownModelError or ErrStoreClosed.
func (s *Store) Acquire(modelID string) (*Lease, error) {
	for {
		current := s.current.Load()
		if len(current.handles) == 0 {
			return nil, ErrStoreClosed
		}
		h := current.find(modelID)
		if h == nil {
			return nil, &UnknownModelError{ID: modelID, Served: current.ids()}
		}
		// If retain fails, the release was removed in the meantime; retry with the new snapshot.
		if h.retain() {
			return &Lease{handle: h}, nil
		}
	}
}

func (s *snapshot) find(modelID string) *releaseHandle {
	if modelID == "" {
		return s.handles[0]
	}
	if h := s.byID[modelID]; h != nil {
		return h
	}
	if language, ok := strings.CutPrefix(modelID, "infermedica-"); ok {
		return s.byID["service-"+language]
	}
	return nil
}

func (s *snapshot) ids() []string {
	ids := make([]string, len(s.handles))
	for i, h := range s.handles {
		ids[i] = h.meta.ModelID
	}
	return ids
}

// Releases returns the metadata of the served releases, default first.
func (s *Store) Releases() []Meta {
	current := s.current.Load()
	metas := make([]Meta, len(current.handles))
	for i, h := range current.handles {
		metas[i] = h.meta
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
