// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// A Library holds the open releases that a server answers from. Requests
// acquire a release and give it back; a release that Refresh or Close takes
// out is unmapped when the last of them is done. Acquire takes no lock.
type Library struct {
	directory string
	wanted    []Wanted
	shelf     atomic.Pointer[shelf]
	changing  sync.Mutex // held by Refresh and Close
}

// shelf is the releases served at one moment. It never changes.
type shelf struct {
	volumes []*volume // the default first
	byID    map[string]*volume
}

// volume is an open release and how many hold it: one for the shelf it stands
// on, and one for each lease. It is unmapped when nobody does, and cannot be
// held again from then on.
type volume struct {
	meta    Meta // outlives the release
	release *Release
	holders atomic.Int64
}

// hold is false when the volume is gone.
func (v *volume) hold() bool {
	for {
		holders := v.holders.Load()
		if holders == 0 {
			return false
		}
		if v.holders.CompareAndSwap(holders, holders+1) {
			return true
		}
	}
}

func (v *volume) letGo() {
	if v.holders.Add(-1) == 0 {
		// Unmapping what was mapped does not fail, and there is nothing to
		// be done about it if it did.
		_ = v.release.Close()
	}
}

// OpenLibrary opens the models wanted from the release files in a directory,
// the first as the default; when none is named, every model there at its
// newest version, DefaultModelID as the default. A model or a version that the
// directory does not have is an error that says what there is.
func OpenLibrary(dir string, wanted []Wanted) (*Library, error) {
	l := &Library{directory: dir, wanted: wanted}
	l.shelf.Store(&shelf{})
	if _, err := l.Refresh(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Refresh looks into the directory again and serves what has become the
// newest version of the models that were wanted without one. It reports
// whether anything changed. A release that cannot be opened is part of the
// error, and its model stays at what was served of it before; the others move
// on all the same.
func (l *Library) Refresh() (changed bool, err error) {
	l.changing.Lock()
	defer l.changing.Unlock()
	dir, err := readDirectory(l.directory)
	if err != nil {
		return false, err
	}
	chosen, err := dir.choose(l.wanted)
	if err != nil {
		return false, err
	}
	old := l.shelf.Load()
	next, opened, err := old.replaced(dir, chosen)
	l.shelf.Store(next)
	dropped := missingFrom(next, old)
	letGo(dropped)
	return opened+len(dropped) > 0, err
}

// replaced is the next shelf: with the chosen releases, of which it opens those
// that do not stand on this one yet.
func (s *shelf) replaced(dir *directory, chosen []Wanted) (next *shelf, opened int, refused error) {
	next = &shelf{byID: map[string]*volume{}}
	for _, w := range chosen {
		v := s.byID[w.ID]
		if v == nil || v.meta.Version != w.Version {
			release, err := dir.open(w)
			if err == nil {
				v = &volume{meta: release.Meta, release: release}
				v.holders.Store(1)
				opened++
			}
			refused = errors.Join(refused, err)
		}
		if v != nil {
			next.volumes = append(next.volumes, v)
			next.byID[w.ID] = v
		}
	}
	return next, opened, refused
}

// missingFrom is what stands on the old shelf and not on the next.
func missingFrom(next, old *shelf) []*volume {
	var missing []*volume
	for id, v := range old.byID {
		if next.byID[id] != v {
			missing = append(missing, v)
		}
	}
	return missing
}

func letGo(volumes []*volume) {
	for _, v := range volumes {
		v.letGo()
	}
}

// Close takes all releases out. Leases that are out stay good until they are
// done; Acquire finds nothing any more.
func (l *Library) Close() {
	l.changing.Lock()
	defer l.changing.Unlock()
	letGo(l.shelf.Swap(&shelf{}).volumes)
}

// An UnknownModelError is the error of a model id that the library does not
// serve.
type UnknownModelError struct {
	ID     string
	Served []string
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("unknown model %q: this instance serves %s", e.ID, strings.Join(e.Served, ", "))
}

// ErrClosed is the error of a library that was closed.
var ErrClosed = errors.New("the library of releases is closed")

// Acquire leases the release of a model, the default when the id is empty.
// infermedica-xx is another spelling of service-xx, which existing clients
// use. The error is an UnknownModelError, or ErrClosed.
func (l *Library) Acquire(modelID string) (*Lease, error) {
	for {
		current := l.shelf.Load()
		if len(current.volumes) == 0 {
			return nil, ErrClosed
		}
		v := current.find(modelID)
		if v == nil {
			return nil, &UnknownModelError{ID: modelID, Served: current.ids()}
		}
		// A volume that is gone was taken off the shelf in between.
		if v.hold() {
			return &Lease{volume: v}, nil
		}
	}
}

func (s *shelf) find(modelID string) *volume {
	if modelID == "" {
		return s.volumes[0]
	}
	if v := s.byID[modelID]; v != nil {
		return v
	}
	if language, ok := strings.CutPrefix(modelID, "infermedica-"); ok {
		return s.byID["service-"+language]
	}
	return nil
}

func (s *shelf) ids() []string {
	ids := make([]string, len(s.volumes))
	for i, v := range s.volumes {
		ids[i] = v.meta.ModelID
	}
	return ids
}

// Releases says what is served, the default first.
func (l *Library) Releases() []Meta {
	current := l.shelf.Load()
	metas := make([]Meta, len(current.volumes))
	for i, v := range current.volumes {
		metas[i] = v.meta
	}
	return metas
}

// A Lease keeps a release from being unmapped. It belongs to one request.
type Lease struct {
	volume *volume
	done   atomic.Bool
}

// Release is the release leased. It must not be used after Done.
func (l *Lease) Release() *Release { return l.volume.release }

// Done gives the release back. Further calls do nothing.
func (l *Lease) Done() {
	if !l.done.Swap(true) {
		l.volume.letGo()
	}
}
