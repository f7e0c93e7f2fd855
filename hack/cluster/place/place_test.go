// SPDX-License-Identifier: Apache-2.0

package place

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFromEnvironment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		variables    map[string]string
		cache, state string
		fails        bool
	}{
		{
			name:      "home",
			variables: map[string]string{"HOME": "/home/someone"},
			cache:     "/home/someone/.cache/anamnesis", state: "/home/someone/.local/state/anamnesis/cluster",
		},
		{
			name:      "base directories before home",
			variables: map[string]string{"HOME": "/home/someone", "XDG_CACHE_HOME": "/cache", "XDG_STATE_HOME": "/state"},
			cache:     "/cache/anamnesis", state: "/state/anamnesis/cluster",
		},
		{
			name: "our own before base directories",
			variables: map[string]string{
				"ANAMNESIS_CACHE": "/a", "ANAMNESIS_STATE": "/b",
				"XDG_CACHE_HOME": "/cache", "XDG_STATE_HOME": "/state",
			},
			cache: "/a", state: "/b",
		},
		{name: "no folder to find", fails: true},
		{name: "no folder for the state", variables: map[string]string{"ANAMNESIS_CACHE": "/a"}, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cache, state, err := FromEnvironment(func(name string) string { return test.variables[name] })
			if test.fails {
				if err == nil {
					t.Fatalf("found %s and %s", cache, state)
				}
				return
			}
			if err != nil || cache != Cache(test.cache) || state != State(test.state) {
				t.Errorf("found %s and %s, %v; want %s and %s", cache, state, err, test.cache, test.state)
			}
		})
	}
}

func TestFromEnvironmentReturnsAbsolutePaths(t *testing.T) {
	t.Parallel()
	cache, state, err := FromEnvironment(func(string) string { return "here" })
	if err != nil || !filepath.IsAbs(string(cache)) || !filepath.IsAbs(string(state)) {
		t.Errorf("found %s and %s, %v", cache, state, err)
	}
}

func TestCreateAndRemoveState(t *testing.T) {
	t.Parallel()
	state := State(filepath.Join(t.TempDir(), "a cluster", "state"))
	if state.Exists() {
		t.Fatal("state directory exists before Create")
	}
	for range 2 {
		if err := state.Create(); err != nil {
			t.Fatal(err)
		}
		if !state.Exists() {
			t.Fatal("state directory does not exist after Create")
		}
	}
	if err := os.WriteFile(state.Path("kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := state.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(string(state)); !os.IsNotExist(err) {
			t.Fatalf("state directory exists after Remove: %v", err)
		}
	}
}

func TestStateRejectsForeignDirectory(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	letter := filepath.Join(folder, "letter")
	if err := os.WriteFile(letter, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{"create": State(folder).Create, "remove": State(folder).Remove} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "ANAMNESIS_STATE") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
}

func TestStateAcceptsEmptyDirectory(t *testing.T) {
	t.Parallel()
	state := State(t.TempDir())
	if err := state.Create(); err != nil {
		t.Error(err)
	}
}

func TestStateIDsAreUnique(t *testing.T) {
	t.Parallel()
	if a, b := State("/a").ID(), State("/b").ID(); a == b || a != State("/a").ID() {
		t.Errorf("got IDs %s and %s for /a and /b", a, b)
	}
}

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locks", "one")
	var holders, most atomic.Int32
	var everybody sync.WaitGroup
	for range 8 {
		everybody.Go(func() {
			for range 20 {
				release, err := AcquireLock(path)
				if err != nil {
					t.Error(err)
					return
				}
				if now := holders.Add(1); now > most.Load() {
					most.Store(now)
				}
				holders.Add(-1)
				release()
			}
		})
	}
	everybody.Wait()
	if most.Load() != 1 {
		t.Errorf("%d goroutines held the lock at the same time", most.Load())
	}
}
