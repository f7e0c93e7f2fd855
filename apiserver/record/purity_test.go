// SPDX-License-Identifier: Apache-2.0

package record

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoIODependencies verifies that the survey flow imports, directly or indirectly,
// no HTTP, SQL or logging packages. The exception is database/sql/driver, which dates
// need; it opens nothing.
func TestNoIODependencies(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-deps", "./...", "../survey/flow", "../survey/section", "../survey/fhir").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"net/http", "database/sql", "log/slog"} {
		if slices.Contains(strings.Fields(string(output)), banned) {
			t.Errorf("%s is imported, at least by what is imported", banned)
		}
	}
}

// TestNoClockOrRandomness verifies that the time is an input and the same data yields
// the same question.
func TestNoClockOrRandomness(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "../survey/flow/*.go", "../survey/section/*.go", "../survey/fhir/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			checkDeterministic(t, name)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d files were checked", len(files))
	}
}

func checkDeterministic(t *testing.T, name string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range file.Imports {
		if slices.Contains([]string{`"math/rand"`, `"math/rand/v2"`, `"crypto/rand"`, `"os"`, `"net"`}, imported.Path.Value) {
			t.Errorf("%s imports %s", name, imported.Path.Value)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := selector.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Tick"}, selector.Sel.Name) {
			t.Errorf("%s looks at the clock: time.%s", name, selector.Sel.Name)
		}
		return true
	})
}
