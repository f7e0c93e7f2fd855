// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/anamnesis-dev/anamnesis/"

// A pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Dir        string
	GoFiles, Imports, Deps []string
}

// path returns the import path without the module.
func (p *pkg) path() string { return strings.TrimPrefix(p.ImportPath, module) }

// imports returns the directories of the module that the package imports.
func (p *pkg) imports() (paths []string) {
	for _, imported := range p.Imports {
		if path, ours := strings.CutPrefix(imported, module); ours {
			paths = append(paths, path)
		}
	}
	return paths
}

var list = sync.OnceValues(func() (packages []pkg, err error) {
	command := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./api/...", "./client/...", "./apiserver/...", "./controllers/...")
	command.Dir = filepath.Join("..", "..")
	output, err := command.Output()
	for decoder := json.NewDecoder(strings.NewReader(string(output))); err == nil; {
		var one pkg
		if err = decoder.Decode(&one); err == nil {
			packages = append(packages, one)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return packages, err
})

func mustList(t *testing.T) []pkg {
	t.Helper()
	packages, err := list()
	if err != nil || len(packages) < 50 {
		t.Fatalf("listing the packages: got %d: %v", len(packages), err)
	}
	return packages
}

// within reports whether a path is a directory or below it.
func within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// layerOf returns the listed directory of a path and the index of its layer.
func layerOf(path string) (directory string, layer int) {
	layer = -1
	for i, line := range layers {
		for _, candidate := range line {
			if within(path, candidate) && len(candidate) > len(directory) {
				directory, layer = candidate, i
			}
		}
	}
	return directory, layer
}

// Layers that are listed once and import only from lower ones form no cycle.
func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	used := map[edge]bool{}
	for _, p := range mustList(t) {
		directory, layer := layerOf(p.path())
		if layer < 0 || directory == "apiserver" && p.path() != directory {
			t.Errorf("%s: in no layer", p.path())
		}
		for _, to := range p.imports() {
			other, below := layerOf(to)
			if directory == other || below < layer {
				continue
			}
			if exception := (edge{p.path(), to}); exceptions[exception] != "" {
				used[exception] = true
				continue
			}
			t.Errorf("%s imports %s: %s is not below %s", p.path(), to, other, directory)
		}
	}
	for exception, remedy := range exceptions {
		if !used[exception] {
			t.Errorf("%s no longer imports %s: remove the exception (%s)", exception.from, exception.to, remedy)
		}
	}
}

func TestDirectoriesAreListedOnce(t *testing.T) {
	t.Parallel()
	packages, seen := mustList(t), map[string]bool{}
	for _, line := range layers {
		for _, directory := range line {
			if seen[directory] {
				t.Errorf("%s: listed twice", directory)
			}
			seen[directory] = true
			if !slices.ContainsFunc(packages, func(p pkg) bool { return within(p.path(), directory) }) {
				t.Errorf("%s: no such directory", directory)
			}
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	for _, p := range mustList(t) {
		for from, to := range forbidden {
			if !within(p.path(), from) {
				continue
			}
			for _, dependency := range p.Deps {
				if path, ours := strings.CutPrefix(dependency, module); ours && within(path, to) {
					t.Errorf("%s depends on %s", p.path(), path)
				}
			}
		}
	}
}

func isPure(path string) bool {
	return impure[path] == "" && slices.ContainsFunc(pure, func(directory string) bool { return within(path, directory) })
}

func TestPurePackages(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range mustList(t) {
		if !isPure(p.path()) {
			continue
		}
		checked++
		for _, effect := range effects {
			if slices.Contains(p.Imports, effect) {
				t.Errorf("%s imports %s", p.path(), effect)
			}
		}
		for _, effect := range effectsBelow {
			if slices.Contains(p.Deps, effect) {
				t.Errorf("%s depends on %s", p.path(), effect)
			}
		}
		checkClock(t, &p)
	}
	if checked < 15 {
		t.Errorf("only %d packages are pure", checked)
	}
}

// checkClock checks that a package gets the time as input.
func checkClock(t *testing.T, p *pkg) {
	t.Helper()
	if !slices.Contains(p.Imports, "time") {
		return
	}
	for _, name := range p.GoFiles {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains(clock, selector.Sel.Name) {
				t.Errorf("%s reads the clock: time.%s", files.Position(node.Pos()), selector.Sel.Name)
			}
			return true
		})
	}
}
