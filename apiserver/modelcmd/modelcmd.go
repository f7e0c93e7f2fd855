// SPDX-License-Identifier: Apache-2.0

// Package modelcmd implements `apiserver model build` and `apiserver model check`, and
// the cache of releases that `apiserver serve --dev` compiles. Kong parses the flags into
// the command structs, which write to the io.Writer bound to kong. Content checks belong
// in package compile.
package modelcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// Build is the command that compiles content into release files.
type Build struct {
	Content string `help:"Directory of content sources. Defaults to the built-in content." type:"existingdir"`
	Out     string `help:"Directory to write the release files to, one per language." required:"" type:"path"`
}

// Run writes a release file for each language and prints a line about each.
func (b *Build) Run(out io.Writer) error {
	results, err := compileAll(b.Content)
	if err != nil {
		return err
	}
	paths, err := writeReleases(results, b.Out)
	if err != nil {
		return err
	}
	for i, path := range paths {
		report := results[i].Report
		_, err := fmt.Fprintf(out, "%s: %d conditions, %d symptoms, %d bytes\n", path, report.Conditions, report.Symptoms, report.ReleaseBytes)
		if err != nil {
			return err
		}
	}
	return nil
}

// compileAll compiles a directory or, if dir is empty, the embedded content. Problems
// have paths relative to the working directory.
func compileAll(dir string) ([]*compile.Result, error) {
	if dir == "" {
		return compile.All(content.FS)
	}
	results, err := compile.All(os.DirFS(dir))
	var problems source.ValidationError
	if errors.As(err, &problems) {
		return nil, problems.WithBaseDir(filepath.ToSlash(dir))
	}
	return results, err
}

// writeReleases writes release files into a directory, which it creates if necessary.
func writeReleases(results []*compile.Result, dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // servers run as a different user than the builder
		return nil, fmt.Errorf("creating the directory of release files: %w", err)
	}
	for _, result := range results {
		path := filepath.Join(dir, model.FileName(result.Meta.ModelID, result.Meta.Version))
		if err := model.WriteFile(path, result.Release); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// hashContent writes every file of the content to the hash, in order, with names and
// sizes.
func hashContent(content fs.FS, hash io.Writer) error {
	return fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(hash, "%q %d\n%s", name, len(data), data)
		return err
	})
}
