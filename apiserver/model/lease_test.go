// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// heldLease is a lease and the version it was made of.
type heldLease struct {
	lease   *model.Lease
	version string
}

// In whatever order releases come, leases are taken and given back and the
// library is closed: a lease reads the version it was made of until it is
// done, new leases are of the newest, and what nobody holds is unmapped.
func TestLibraryInAnyOrder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		newest, second := "2026-12-01T00:00:00Z", 0
		put(t, dir, model.Wanted{ID: "service-en", Version: newest})
		library, err := model.OpenLibrary(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		closed := false
		var held, gone []heldLease
		rt.Repeat(map[string]func(*rapid.T){
			"replace": func(rt *rapid.T) {
				if closed || second == 59 {
					rt.Skip("no more releases")
				}
				second++
				newest = fmt.Sprintf("2026-12-01T00:00:%02dZ", second)
				put(t, dir, model.Wanted{ID: "service-en", Version: newest})
				if changed, err := library.Refresh(); !changed || err != nil {
					rt.Fatal(changed, err)
				}
			},
			"acquire": func(rt *rapid.T) {
				lease, err := library.Acquire("")
				if closed {
					if !errors.Is(err, model.ErrClosed) {
						rt.Fatalf("a closed library gave a lease: %v", err)
					}
					return
				}
				if err != nil || lease.Release().Meta.Version != newest {
					rt.Fatalf("the lease is not of %s: %v", newest, err)
				}
				held = append(held, heldLease{lease, newest})
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
