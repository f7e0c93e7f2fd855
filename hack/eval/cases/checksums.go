// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// checksums contains the hashes of the frozen held-out set, in the format of sha256sum.
//
//go:embed sums.txt
var checksums string

// printChecksums prints the hash of each file in the held-out set.
func printChecksums(out io.Writer, files fs.FS) error {
	hashes, err := hashFiles(files)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		fmt.Fprintf(out, "%s  %s\n", hashes[name], name)
	}
	return nil
}

// hashFiles returns the hashes of the files in the held-out set by name.
func hashFiles(files fs.FS) (map[string]string, error) {
	contents, err := dataset.ReadFiles(files, dataset.Holdout)
	if err != nil {
		return nil, err
	}
	hashes := make(map[string]string, len(contents))
	for name, text := range contents {
		hashes[name] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return hashes, nil
}

// changedFiles returns the names of files that were changed, added or removed since
// the set was frozen.
func changedFiles(files fs.FS, sums string) ([]string, error) {
	hashes, err := hashFiles(files)
	if err != nil {
		return nil, err
	}
	frozen := map[string]string{}
	for line := range strings.Lines(sums) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		frozen[name] = hash
	}
	var names []string
	for name, hash := range hashes {
		if frozen[name] != hash {
			names = append(names, name)
		}
	}
	for name := range frozen {
		if hashes[name] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
