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

// Node is what a screen reader is told of an element.
type Node struct {
	Role        string // "heading"
	Name        string // what is read out
	Description string
	Value       string            // of a field
	Level       int               // of a heading, from 1; else 0
	Depth       int               // in the tree; the root is 0
	Ignored     bool              // not told at all
	Properties  map[string]string // as required, invalid, checked, expanded, focused
}

// String is a line of a tree.
func (n Node) String() string {
	return fmt.Sprintf("%s%s %q", strings.Repeat("  ", n.Depth), n.Role, n.Name)
}

// Tree is the tree of accessibility, in the order in which it is read.
func (tab *Tab) Tree() []Node {
	tab.t.Helper()
	return do(tab, "read the tree of accessibility", func(ctx context.Context, target *chromedp.Target) ([]Node, error) {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return nil, err
		}
		return flatten(tree.Nodes), nil
	})
}

// flatten brings the nodes, of which the first is the root, in their order.
func flatten(nodes []*accessibility.Node) []Node {
	byID := make(map[accessibility.NodeID]*accessibility.Node, len(nodes))
	for _, node := range nodes {
		byID[node.NodeID] = node
	}
	var ordered []Node
	var add func(node *accessibility.Node, depth int)
	add = func(node *accessibility.Node, depth int) {
		ordered = append(ordered, describe(node, depth))
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

// describe says what is known of one node.
func describe(node *accessibility.Node, depth int) Node {
	described := Node{
		Role: text(node.Role), Name: text(node.Name), Description: text(node.Description), Value: text(node.Value),
		Depth: depth, Ignored: node.Ignored, Properties: make(map[string]string, len(node.Properties)),
	}
	for _, property := range node.Properties {
		described.Properties[string(property.Name)] = text(property.Value)
	}
	_, _ = fmt.Sscan(described.Properties["level"], &described.Level) // 0 without one
	return described
}

// text is a value as it is read: a string without its quotes, or else as JSON.
func text(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	return unquote(value.Value)
}
