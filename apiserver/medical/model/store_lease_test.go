// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// versionedLease is a lease and the version that it was acquired for.
type versionedLease struct {
	lease   *model.Lease
	version string
}

// TestStoreStateMachine adds releases, acquires and ends leases and closes the store in
// any order. A lease reads its version until Done, new leases get the newest version, and
// releases without leases are unmapped.
func TestStoreStateMachine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		newest, second := "2026-12-01T00:00:00Z", 0
		writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: newest})
		library, err := model.OpenStore(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		closed := false
		var held, gone []versionedLease
		rt.Repeat(map[string]func(*rapid.T){
			"replace": func(rt *rapid.T) {
				if closed || second == 59 {
					rt.Skip("no more releases")
				}
				second++
				newest = fmt.Sprintf("2026-12-01T00:00:%02dZ", second)
				writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: newest})
				if changed, err := library.Refresh(); !changed || err != nil {
					rt.Fatal(changed, err)
				}
			},
			"acquire": func(rt *rapid.T) {
				lease, err := library.Acquire("")
				if closed {
					if !errors.Is(err, model.ErrStoreClosed) {
						rt.Fatalf("a closed library gave a lease: %v", err)
					}
					return
				}
				if err != nil || lease.Release().Meta.Version != newest {
					rt.Fatalf("the lease is not of %s: %v", newest, err)
				}
				held = append(held, versionedLease{lease, newest})
			},
			"done": func(rt *rapid.T) {
				if len(held) == 0 {
					rt.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(rt, "which")
				held[i].lease.Done()
				gone = append(gone, held[i])
				held = append(held[:i:i], held[i+1:]...)
			},
			"close": func(*rapid.T) {
				library.Close()
				closed = true
			},
			"": func(rt *rapid.T) {
				inUse := map[string]bool{newest: !closed}
				for _, h := range held {
					inUse[h.version] = true
					r := h.lease.Release()
					if r.Meta.Version != h.version || len(r.Conditions) != 1 || r.Text(r.Conditions[0].Name) != "c_1" {
						rt.Fatalf("a lease of %s cannot be read", h.version)
					}
				}
				for _, g := range gone {
					if mapped := len(g.lease.Release().Conditions) > 0; mapped != inUse[g.version] {
						rt.Fatalf("%s is mapped: %t, in use: %t", g.version, mapped, inUse[g.version])
					}
				}
			},
		})
		for _, h := range held {
			h.lease.Done()
		}
		library.Close()
	})
}
