// SPDX-License-Identifier: Apache-2.0

// Package place defines where the local cluster stores files on the machine: a cache
// worth keeping, and a state directory that is deleted with the cluster. It knows
// names and locks, but not the contents of the files.
package place

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NodeStateDir is the path of the state directory in the node. It is short and has no
// special characters, unlike paths on the machine, because paths of Unix sockets
// are limited to 107 bytes and overlay mounts split theirs at commas and colons.
const NodeStateDir = "/run/node"

// Cache is the directory of build results, which are slow to build but can be rebuilt.
type Cache string

// State is the directory of everything that one running cluster writes.
type State string

// FromEnvironment returns both directories: ANAMNESIS_CACHE and ANAMNESIS_STATE, else
// the directories of the XDG base directory specification, else those under HOME. Both
// paths are absolute.
func FromEnvironment(getenv func(string) string) (Cache, State, error) {
	cache, err := resolveDir(getenv, "ANAMNESIS_CACHE", "XDG_CACHE_HOME", ".cache", "anamnesis")
	if err != nil {
		return "", "", err
	}
	state, err := resolveDir(getenv, "ANAMNESIS_STATE", "XDG_STATE_HOME", ".local/state", "anamnesis/cluster")
	return Cache(cache), State(state), err
}

func resolveDir(getenv func(string) string, own, base, underHome, name string) (string, error) {
	if dir := getenv(own); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := getenv(base); dir != "" {
		return filepath.Abs(filepath.Join(dir, name))
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Abs(filepath.Join(home, underHome, name))
	}
	return "", fmt.Errorf("directory not configured: set %s, %s or HOME", own, base)
}

// Binary returns the path of a built tool.
func (c Cache) Binary(name, version string) string {
	return filepath.Join(string(c), "bin", name+"-"+version)
}

// AssetsDir returns the directory to use as envtest's KUBEBUILDER_ASSETS.
func (c Cache) AssetsDir(kubernetesVersion string) string {
	return filepath.Join(string(c), "assets", kubernetesVersion)
}

// ImageArchive returns the path of an image archive that the node itself needs.
func (c Cache) ImageArchive(name, version string) string {
	return filepath.Join(string(c), "images", name+"-"+version+".tar")
}

// LockFile returns the path of a lock file.
func (c Cache) LockFile(name string) string {
	return filepath.Join(string(c), "locks", name)
}

// Path returns a path in the state directory, as the machine sees it.
func (s State) Path(elements ...string) string {
	return filepath.Join(append([]string{string(s)}, elements...)...)
}

// Kubeconfig returns the path of the machine's kubeconfig for the cluster.
func (s State) Kubeconfig() string { return s.Path("kubeconfig") }

// LogFile returns the log file of a component of the node.
func (s State) LogFile(component string) string { return s.Path("logs", component+".log") }

// ID returns a short name of this state directory, for use in cgroup and lock names.
// It differs between clusters on one machine.
func (s State) ID() string {
	sum := sha256.Sum256([]byte(s))
	return "anamnesis-" + hex.EncodeToString(sum[:4])
}

// markerFile marks a state directory, so that Remove cannot delete any other
// directory.
const markerFile = ".anamnesis-cluster"

// Create creates the state directory, which must be empty or missing.
func (s State) Create() error {
	if err := s.checkRemovable(); err != nil {
		return err
	}
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return fmt.Errorf("creating the state directory: %w", err)
	}
	if err := os.WriteFile(s.Path(markerFile), nil, 0o600); err != nil {
		return fmt.Errorf("marking the state directory: %w", err)
	}
	return nil
}

// Exists reports whether the state directory exists.
func (s State) Exists() bool {
	_, err := os.Stat(s.Path(markerFile))
	return err == nil
}

// Remove deletes the state directory with its contents. It rejects a directory that
// Create did not create.
func (s State) Remove() error {
	if err := s.checkRemovable(); err != nil {
		return err
	}
	if err := os.RemoveAll(string(s)); err != nil {
		return fmt.Errorf("removing the state directory: %w", err)
	}
	return nil
}

func (s State) checkRemovable() error {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, os.ErrNotExist) || (err == nil && (len(entries) == 0 || s.Exists())) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the state directory: %w", err)
	}
	return fmt.Errorf("%s contains files other than a cluster's state (%s, ...): set ANAMNESIS_STATE to an empty or new directory",
		s, strings.TrimSpace(entries[0].Name()))
}
