// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
)

// One section holds the nodes of all articles: first the titles and contents, by
// article and section, then the children of each node in turn. Therefore every node
// precedes its children, and a single pass from first to last visits each node once.

// MaxNodeDepth is the maximum nesting depth of nodes. It limits the recursion of code
// that walks them.
const MaxNodeDepth = 16

func (e *releaseEncoder) encodeArticles() {
	r := e.release
	var queue []DraftNode
	enqueue := func(nodes ...DraftNode) Span {
		span := Span{Start: uint32(len(queue)), End: uint32(len(queue) + len(nodes))}
		queue = append(queue, nodes...)
		return span
	}
	for i, c := range e.draft.Conditions {
		if c.Article == nil {
			continue
		}
		r.Conditions[i].Article = int32(len(r.Articles))
		article := Article{Condition: ConditionIndex(i), Title: enqueue(c.Article.Title).Start}
		sections := make([]ArticleSection, len(c.Article.Sections))
		for k, s := range c.Article.Sections {
			sections[k] = ArticleSection{Name: s.Name, Title: enqueue(s.Title).Start, Content: enqueue(s.Content...)}
		}
		article.Sections = appendSpan(&r.ArticleSections, sections...)
		r.Articles = append(r.Articles, article)
	}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		r.Nodes = append(r.Nodes, Node{Type: n.Type, Text: e.internText(n.Text), Children: enqueue(n.Children...)})
	}
}

// verifyArticles checks that conditions and articles refer to each other, and that the
// nodes belong to the articles and have the layout that encodeArticles produces.
func verifyArticles(r *Release) error {
	nodes := spanChecker{section: "nodes", length: len(r.Nodes)}
	sections := spanChecker{section: "article sections", length: len(r.ArticleSections)}
	last := ConditionIndex(-1)
	for i := range r.Articles {
		a := &r.Articles[i]
		if a.Condition <= last || int(a.Condition) >= len(r.Conditions) || r.Conditions[a.Condition].Article != int32(i) {
			return fmt.Errorf("article %d: condition %d already has an article, or the articles are out of order", i, a.Condition)
		}
		last = a.Condition
		err := errors.Join(sections.check(a.Sections), nodes.checkOne(a.Title))
		if err == nil {
			err = errors.Join(verifyTopLevelNodes(r.Nodes[a.Title:][:1]), verifySections(r, Slice(r.ArticleSections, a.Sections), &nodes))
		}
		if err != nil {
			return fmt.Errorf("article of %s: %w", r.ConditionID(a.Condition), err)
		}
	}
	for i := range r.Conditions {
		if at := r.Conditions[i].Article; at != None && (at < 0 || int(at) >= len(r.Articles) || r.Articles[at].Condition != ConditionIndex(i)) {
			return fmt.Errorf("condition %s: article %d belongs to another condition", r.ConditionID(ConditionIndex(i)), at)
		}
	}
	return errors.Join(sections.checkComplete(), verifyNodes(r, nodes))
}

func verifySections(r *Release, sections []ArticleSection, nodes *spanChecker) error {
	var seen [256]bool
	for i := range sections {
		s := &sections[i]
		if !isKnownValue(s.Name, sectionNameValues) || seen[s.Name] {
			return fmt.Errorf("section %v is unknown or listed twice", s.Name)
		}
		seen[s.Name] = true
		if err := errors.Join(nodes.checkOne(s.Title), nodes.check(s.Content)); err != nil {
			return fmt.Errorf("section %v: %w", s.Name, err)
		}
		if err := verifyTopLevelNodes(Slice(r.Nodes, Span{Start: s.Title, End: s.Content.End})); err != nil {
			return fmt.Errorf("section %v: %w", s.Name, err)
		}
	}
	return nil
}

// verifyTopLevelNodes checks nodes that have no parent node.
func verifyTopLevelNodes(nodes []Node) error {
	for i := range nodes {
		if nodes[i].Type == ListItemNode {
			return errors.New("unexpected list-item outside a list")
		}
	}
	return nil
}

// checkOne checks a span that contains a single record.
func (c *spanChecker) checkOne(index uint32) error {
	return c.check(Span{Start: index, End: index + 1})
}

// verifyNodes checks the nodes that follow the titles and contents of the articles. It
// rejects a node that is not the child of an earlier node.
func verifyNodes(r *Release, nodes spanChecker) error {
	depths := make([]uint8, len(r.Nodes))
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if uint32(i) >= nodes.next {
			break
		}
		if err := errors.Join(nodes.check(n.Children), verifyNode(r, n)); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		for child := n.Children.Start; child < n.Children.End; child++ {
			depths[child] = depths[i] + 1
			if depths[child] >= MaxNodeDepth {
				return fmt.Errorf("node %d: nested more than %d levels deep", child, MaxNodeDepth)
			}
			if inner := r.Nodes[child].Type; n.Type == TextNode || n.Type.isList() != (inner == ListItemNode) {
				return fmt.Errorf("node %d: %v is not allowed in %v", child, inner, n.Type)
			}
		}
	}
	return nodes.checkComplete()
}

func verifyNode(r *Release, n *Node) error {
	if err := verifyTexts(r, n.Text); err != nil {
		return err
	}
	switch {
	case !isKnownValue(n.Type, nodeTypeValues):
		return fmt.Errorf("unknown node type %v", n.Type)
	case n.Type == LinkNode && !strings.HasPrefix(r.Text(n.Text), "https://"):
		return errors.New("link target must be an https URL")
	case n.Type != LinkNode && (n.Type == TextNode) != (n.Text.Length > 0):
		return fmt.Errorf("node of type %v has %d bytes of text: expected text in text and link nodes only", n.Type, n.Text.Length)
	}
	return nil
}

// isList reports whether the node is a list, whose children must all be list items.
func (v NodeType) isList() bool { return v == UnorderedListNode || v == OrderedListNode }
