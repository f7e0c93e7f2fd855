// SPDX-License-Identifier: Apache-2.0

// Command registry assigns IDs to new concepts, laboratory tests and drugs. It adds to
// core/registry.yaml the slugs that the content uses and the registry lacks, each with
// the next unused number for its kind. It does not change or remove entries.
//
//	go run ./hack/registry [content directory]
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

func main() {
	dir := filepath.Join("apiserver", "content")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(source.RegistryFile))
	registry, err := os.ReadFile(path) //nolint:gosec // the developer passes the path
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("reading the registry: %w", err)
	}
	var problems source.Problems
	core, err := source.ReadCore(os.DirFS(dir), &problems)
	if err != nil {
		return err
	}
	if problems.Unreadable() {
		return problems.Err()
	}
	missing, err := AssignMissingIDs(core)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		fmt.Println("all slugs have IDs")
		return nil
	}
	registry, err = AppendEntries(registry, missing)
	if err != nil {
		return fmt.Errorf("adding to %s: %w", path, err)
	}
	for _, e := range missing {
		fmt.Printf("%s %s: %s\n", e.Section, e.Slug, e.ID)
	}
	return os.WriteFile(path, registry, 0o644) //nolint:gosec // source files are public
}
