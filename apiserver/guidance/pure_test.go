// SPDX-License-Identifier: Apache-2.0

package guidance

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

// TestIsPure: what leads through surveys knows neither HTTP nor SQL nor a log, in
// whatever it imports; package sql/driver, which dates know, opens nothing.
func TestIsPure(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"net/http", "database/sql", "log/slog"} {
		if slices.Contains(strings.Fields(string(output)), banned) {
			t.Errorf("%s is imported, at least by what is imported", banned)
		}
	}
}

// TestHasNoClockAndNoChance: the time is given, and the same data gives the same
// question.
func TestHasNoClockAndNoChance(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") && filepath.Dir(name) != "guidancetest" {
			checkPure(t, name)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d files were looked at", len(files))
	}
}

func checkPure(t *testing.T, name string) {
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
