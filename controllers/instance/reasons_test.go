// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// conditionsPage is the reference page of conditions.
const conditionsPage = "../../charts/anamnesis/docs/conditions.md"

// TestEveryReasonIsDocumented checks that conditionsPage documents every reason of
// Instances and WebhookConfigs, and no others.
func TestEveryReasonIsDocumented(t *testing.T) {
	t.Parallel()
	used := reasonsInSource(t)
	page, err := os.ReadFile(conditionsPage)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("reasons in %s (-used +documented):\n%s", conditionsPage, diff)
	}
}

// reasonsInSource returns the values of all constants named reason… or Reason… in the
// packages below, and the condition types of the API.
func reasonsInSource(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	visit := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ValueSpec:
				collectReasonConstants(node, found)
			case *ast.CallExpr:
				rejectLiteralReason(t, path, node)
			}
			return true
		})
		return nil
	}
	for _, root := range []string{".", "../webhookconfig", "../conditions", "../problem", "../../api/v1alpha1"} {
		if err := filepath.WalkDir(root, visit); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// collectReasonConstants adds the values of reason and condition constants to found.
func collectReasonConstants(spec *ast.ValueSpec, found map[string]bool) {
	for i, name := range spec.Names {
		lower := strings.ToLower(name.Name)
		if i >= len(spec.Values) || !strings.HasPrefix(lower, "reason") && !strings.HasPrefix(lower, "condition") {
			continue
		}
		if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, _ := strconv.Unquote(literal.Value)
			found[value] = true
		}
	}
}

// reasonArgument maps functions to the index of their reason argument.
var reasonArgument = map[string]int{"Stalled": 1, "Waiting": 1, "NormalEventf": 0, "normalEventf": 0, "setCondition": 2}

// rejectLiteralReason checks that a reason argument is a constant, so that
// reasonsInSource finds it.
func rejectLiteralReason(t *testing.T, path string, call *ast.CallExpr) {
	t.Helper()
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	at, takesReason := reasonArgument[selector.Sel.Name]
	if !takesReason || at >= len(call.Args) {
		return
	}
	if literal, ok := call.Args[at].(*ast.BasicLit); ok && literal.Value != `""` {
		t.Errorf("%s: reason %s is a literal: use a constant named reason…", path, literal.Value)
	}
}
