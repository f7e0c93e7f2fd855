// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// An AXNode is an element as exposed to screen readers.
type AXNode struct {
	Role        string // such as "heading"
	Name        string // accessible name
	Description string
	Value       string            // of a field
	Level       int               // of a heading, from 1; otherwise 0
	Depth       int               // in the tree; the root is 0
	Ignored     bool              // not exposed
	Properties  map[string]string // such as required, invalid, checked, expanded, focused
}

// String returns a line of a tree.
func (n AXNode) String() string {
	return fmt.Sprintf("%s%s %q", strings.Repeat("  ", n.Depth), n.Role, n.Name)
}

// AccessibilityTree returns the accessibility tree in reading order.
func (tab *Tab) AccessibilityTree() []AXNode {
	tab.t.Helper()
	return runAction(tab, "read the accessibility tree", func(ctx context.Context, target *chromedp.Target) ([]AXNode, error) {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return nil, err
		}
		return flatten(tree.Nodes), nil
	})
}

// flatten returns the nodes in reading order. The first node is the root.
func flatten(nodes []*accessibility.Node) []AXNode {
	byID := make(map[accessibility.NodeID]*accessibility.Node, len(nodes))
	for _, node := range nodes {
		byID[node.NodeID] = node
	}
	var ordered []AXNode
	var add func(node *accessibility.Node, depth int)
	add = func(node *accessibility.Node, depth int) {
		ordered = append(ordered, newNode(node, depth))
		for _, id := range node.ChildIDs {
			if child := byID[id]; child != nil {
				add(child, depth+1)
			}
		}
	}
	if len(nodes) > 0 {
		add(nodes[0], 0)
	}
	return ordered
}

// newNode converts a node of the protocol.
func newNode(node *accessibility.Node, depth int) AXNode {
	described := AXNode{
		Role: valueText(node.Role), Name: valueText(node.Name), Description: valueText(node.Description), Value: valueText(node.Value),
		Depth: depth, Ignored: node.Ignored, Properties: make(map[string]string, len(node.Properties)),
	}
	for _, property := range node.Properties {
		described.Properties[string(property.Name)] = valueText(property.Value)
	}
	_, _ = fmt.Sscan(described.Properties["level"], &described.Level) // 0 if unset
	return described
}

// valueText returns a value as text: a string without quotes, or JSON.
func valueText(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	return decodeString(value.Value)
}
