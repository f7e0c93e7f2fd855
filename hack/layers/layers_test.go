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

// A pkg is a package in the output of go list.
type pkg struct {
	ImportPath, Dir        string
	GoFiles, Imports, Deps []string
}

// path returns the import path relative to the module.
func (p *pkg) path() string { return strings.TrimPrefix(p.ImportPath, module) }

// imports returns the directories of the module that the package imports.
func (p *pkg) imports() (paths []string) {
	for _, imported := range p.Imports {
		if path, ok := strings.CutPrefix(imported, module); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

var listPackages = sync.OnceValues(func() (packages []pkg, err error) {
	command := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./api/...", "./client/...", "./apiserver/...", "./controllers/...")
	command.Dir = filepath.Join("..", "..")
	output, err := command.Output()
	for decoder := json.NewDecoder(strings.NewReader(string(output))); err == nil; {
		var p pkg
		if err = decoder.Decode(&p); err == nil {
			packages = append(packages, p)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return packages, err
})

func mustListPackages(t *testing.T) []pkg {
	t.Helper()
	packages, err := listPackages()
	if err != nil || len(packages) < 50 {
		t.Fatalf("listing packages: got %d packages, error %v", len(packages), err)
	}
	return packages
}

// isWithin reports whether a path is equal to a directory or below it.
func isWithin(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// findLayer returns the listed directory that contains a path, and the index of its layer,
// or -1.
func findLayer(path string) (directory string, layer int) {
	layer = -1
	for i, line := range layers {
		for _, candidate := range line {
			if isWithin(path, candidate) && len(candidate) > len(directory) {
				directory, layer = candidate, i
			}
		}
	}
	return directory, layer
}

// TestImportsPointDown checks that packages import only from lower layers, so that layers
// cannot form a cycle.
func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	used := map[edge]bool{}
	for _, p := range mustListPackages(t) {
		directory, layer := findLayer(p.path())
		if layer < 0 || directory == "apiserver" && p.path() != directory {
			t.Errorf("%s does not belong to any layer", p.path())
		}
		for _, to := range p.imports() {
			importedDirectory, importedLayer := findLayer(to)
			if directory == importedDirectory || importedLayer < layer {
				continue
			}
			if exception := (edge{p.path(), to}); exceptions[exception] != "" {
				used[exception] = true
				continue
			}
			t.Errorf("%s imports %s, but %s is not in a lower layer than %s", p.path(), to, importedDirectory, directory)
		}
	}
	for exception, plan := range exceptions {
		if !used[exception] {
			t.Errorf("%s no longer imports %s: remove the exception (%s)", exception.from, exception.to, plan)
		}
	}
}

func TestDirectoriesAreListedOnce(t *testing.T) {
	t.Parallel()
	packages, seen := mustListPackages(t), map[string]bool{}
	for _, line := range layers {
		for _, directory := range line {
			if seen[directory] {
				t.Errorf("%s is listed twice", directory)
			}
			seen[directory] = true
			if !slices.ContainsFunc(packages, func(p pkg) bool { return isWithin(p.path(), directory) }) {
				t.Errorf("%s contains no packages", directory)
			}
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	for _, p := range mustListPackages(t) {
		for from, to := range forbidden {
			if !isWithin(p.path(), from) {
				continue
			}
			for _, dependency := range p.Deps {
				if path, ok := strings.CutPrefix(dependency, module); ok && isWithin(path, to) {
					t.Errorf("%s depends on %s", p.path(), path)
				}
			}
		}
	}
}

func isPure(path string) bool {
	return impure[path] == "" && slices.ContainsFunc(pure, func(directory string) bool { return isWithin(path, directory) })
}

func TestPurePackages(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range mustListPackages(t) {
		if !isPure(p.path()) {
			continue
		}
		checked++
		for _, effect := range effects {
			if slices.Contains(p.Imports, effect) {
				t.Errorf("%s imports %s", p.path(), effect)
			}
		}
		for _, effect := range transitiveEffects {
			if slices.Contains(p.Deps, effect) {
				t.Errorf("%s depends on %s", p.path(), effect)
			}
		}
		checkClock(t, &p)
	}
	if checked < 15 {
		t.Errorf("found %d pure packages, want at least 15", checked)
	}
}

// checkClock checks that a package does not read the clock.
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
