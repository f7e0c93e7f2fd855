// SPDX-License-Identifier: Apache-2.0

// Package modelcmd is what `apiserver model build` and `apiserver model check`
// do, and the cache of releases that `apiserver serve --dev` compiles for
// itself. The commands are structs that kong fills; they write to the
// io.Writer that kong is bound to. How content is judged is the matter of
// package compile.
package modelcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// Build is the command that compiles content into release files.
type Build struct {
	Content string `help:"Directory of content sources. Left out: the content built into this program." type:"existingdir"`
	Out     string `help:"Directory to write the release files to, one for each language." required:"" type:"path"`
}

// Run writes a release file for each language and a line about each.
func (b *Build) Run(out io.Writer) error {
	results, err := compileAll(b.Content)
	if err != nil {
		return err
	}
	paths, err := write(results, b.Out)
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

// compileAll compiles a directory, or the content in the program when there is
// none. Problems are told with paths that can be followed from here.
func compileAll(dir string) ([]*compile.Result, error) {
	if dir == "" {
		return compile.All(content.FS)
	}
	results, err := compile.All(os.DirFS(dir))
	var problems source.Error
	if errors.As(err, &problems) {
		return nil, problems.In(filepath.ToSlash(dir))
	}
	return results, err
}

// write puts release files into a directory, which it makes when needed.
func write(results []*compile.Result, dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // servers run as another user than the one who builds
		return nil, fmt.Errorf("making the directory of release files: %w", err)
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

// hashed reads every file of the content, in order, names and sizes included.
func hashed(content fs.FS, into io.Writer) error {
	return fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(into, "%q %d\n%s", name, len(data), data)
		return err
	})
}
