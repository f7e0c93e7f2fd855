// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"slices"
	"testing"
)

func TestAccessibilityTree(t *testing.T) {
	t.Parallel()
	tab := openPage(t, Options{}, `<h2>Symptoms</h2><label for="a">Age</label>
<input id="a" required aria-describedby="hint" value="42"><p id="hint">In years</p><p aria-hidden="true">Hidden</p>`)
	tree := tab.AccessibilityTree()
	find := func(role, name string) AXNode {
		t.Helper()
		for _, node := range tree {
			if node.Role == role && node.Name == name && !node.Ignored {
				return node
			}
		}
		t.Fatalf("%s %q not found in %v", role, name, tree)
		return AXNode{}
	}
	if heading := find("heading", "Symptoms"); heading.Level != 2 || heading.Depth == 0 {
		t.Errorf("got %+v", heading)
	}
	field := find("textbox", "Age")
	if field.Description != "In years" || field.Value != "42" || field.Properties["required"] != "true" {
		t.Errorf("got %+v", field)
	}
	if slices.ContainsFunc(tree, func(node AXNode) bool { return node.Name == "Hidden" && !node.Ignored }) {
		t.Errorf("hidden node is exposed: %v", tree)
	}
	if tree[0].Role != "RootWebArea" || tree[0].Name != "Test" {
		t.Errorf("got root %+v", tree[0])
	}
}
