// SPDX-License-Identifier: Apache-2.0

// Package place says where the local cluster keeps its things on the machine:
// a cache that is worth keeping and a state that dies with the cluster. It
// knows names and locks; what is in the files is known to those who write them.
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

// Inside is where the node sees the state folder. It is short and has no
// space, whatever the state folder is called on the machine, because paths of
// Unix sockets end at 107 bytes and overlay mounts split theirs at commas and
// colons.
const Inside = "/run/node"

// Cache holds what took long to build and can be built again.
type Cache string

// State holds everything that one running cluster writes.
type State string

// FromEnvironment finds both folders: ANAMNESIS_CACHE and ANAMNESIS_STATE,
// else the folders of the XDG base directory specification, else those under
// HOME. Both come back as absolute paths.
func FromEnvironment(getenv func(string) string) (Cache, State, error) {
	cache, err := folder(getenv, "ANAMNESIS_CACHE", "XDG_CACHE_HOME", ".cache", "anamnesis")
	if err != nil {
		return "", "", err
	}
	state, err := folder(getenv, "ANAMNESIS_STATE", "XDG_STATE_HOME", ".local/state", "anamnesis/cluster")
	return Cache(cache), State(state), err
}

func folder(getenv func(string) string, own, base, underHome, name string) (string, error) {
	if dir := getenv(own); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := getenv(base); dir != "" {
		return filepath.Abs(filepath.Join(dir, name))
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Abs(filepath.Join(home, underHome, name))
	}
	return "", fmt.Errorf("finding a folder: none of %s, %s and HOME is set", own, base)
}

// Binary is the path of a built tool.
func (c Cache) Binary(name, version string) string {
	return filepath.Join(string(c), "bin", name+"-"+version)
}

// Assets is the folder that envtest takes as KUBEBUILDER_ASSETS.
func (c Cache) Assets(kubernetesVersion string) string {
	return filepath.Join(string(c), "assets", kubernetesVersion)
}

// Image is the path of an archive of an image that the node itself needs.
func (c Cache) Image(name, version string) string {
	return filepath.Join(string(c), "images", name+"-"+version+".tar")
}

// Lock is the path of a lock file.
func (c Cache) Lock(name string) string {
	return filepath.Join(string(c), "locks", name)
}

// Path is the path of a thing in the state folder, as the machine sees it.
func (s State) Path(elements ...string) string {
	return filepath.Join(append([]string{string(s)}, elements...)...)
}

// Kubeconfig is the file by which the machine reaches the cluster.
func (s State) Kubeconfig() string { return s.Path("kubeconfig") }

// Log is the log file of a component of the node.
func (s State) Log(component string) string { return s.Path("logs", component+".log") }

// ID is a short name for this state folder, for what needs a name outside of
// it: control groups and locks. Two clusters on one machine differ in it.
func (s State) ID() string {
	sum := sha256.Sum256([]byte(s))
	return "anamnesis-" + hex.EncodeToString(sum[:4])
}

// marker is the file that makes a folder a state folder, so that Remove can
// never take away one that is not.
const marker = ".anamnesis-cluster"

// Create makes the state folder, which must be empty or not there.
func (s State) Create() error {
	if err := s.mayRemove(); err != nil {
		return err
	}
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return fmt.Errorf("creating the state folder: %w", err)
	}
	if err := os.WriteFile(s.Path(marker), nil, 0o600); err != nil {
		return fmt.Errorf("marking the state folder: %w", err)
	}
	return nil
}

// Exists says whether there is a state folder.
func (s State) Exists() bool {
	_, err := os.Stat(s.Path(marker))
	return err == nil
}

// Remove deletes the state folder with all that is in it. A folder that
// Create did not make is refused.
func (s State) Remove() error {
	if err := s.mayRemove(); err != nil {
		return err
	}
	if err := os.RemoveAll(string(s)); err != nil {
		return fmt.Errorf("removing the state folder: %w", err)
	}
	return nil
}

func (s State) mayRemove() error {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, os.ErrNotExist) || (err == nil && (len(entries) == 0 || s.Exists())) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking into the state folder: %w", err)
	}
	return fmt.Errorf("%s holds something that is no cluster's state (%s, ...): point ANAMNESIS_STATE to an empty folder or to one that is not there",
		s, strings.TrimSpace(entries[0].Name()))
}
