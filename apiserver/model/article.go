// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
)

// The nodes of all articles stand in one section: first the titles and the
// contents, by article and section, then the children of each node in turn.
// So every node stands in front of its children, and each is found once in a
// walk from the first to the last.

// MostNested is how many nodes may hold one another, so that those who walk
// them may do so by recursion.
const MostNested = 16

func (l *layout) layArticles() {
	r := l.release
	var laid []DraftNode
	lay := func(nodes ...DraftNode) Span {
		span := Span{Start: uint32(len(laid)), End: uint32(len(laid) + len(nodes))}
		laid = append(laid, nodes...)
		return span
	}
	for i, c := range l.draft.Conditions {
		if c.Article == nil {
			continue
		}
		r.Conditions[i].Article = int32(len(r.Articles))
		article := Article{Condition: ConditionIndex(i), Title: lay(c.Article.Title).Start}
		sections := make([]ArticleSection, len(c.Article.Sections))
		for k, s := range c.Article.Sections {
			sections[k] = ArticleSection{Name: s.Name, Title: lay(s.Title).Start, Content: lay(s.Content...)}
		}
		article.Sections = appendSpan(&r.ArticleSections, sections...)
		r.Articles = append(r.Articles, article)
	}
	for i := 0; i < len(laid); i++ {
		n := laid[i]
		r.Nodes = append(r.Nodes, Node{Type: n.Type, Text: l.text(n.Text), Children: lay(n.Children...)})
	}
}

// verifyArticles checks that conditions and articles name each other, and that
// the nodes are those of the articles, laid out as layArticles does.
func verifyArticles(r *Release) error {
	nodes := tiling{section: "nodes", length: len(r.Nodes)}
	sections := tiling{section: "article sections", length: len(r.ArticleSections)}
	last := ConditionIndex(-1)
	for i := range r.Articles {
		a := &r.Articles[i]
		if a.Condition <= last || int(a.Condition) >= len(r.Conditions) || r.Conditions[a.Condition].Article != int32(i) {
			return fmt.Errorf("article %d: of condition %d, which has another, or out of order", i, a.Condition)
		}
		last = a.Condition
		err := errors.Join(sections.take(a.Sections), nodes.takeOne(a.Title))
		if err == nil {
			err = errors.Join(verifyLoose(r.Nodes[a.Title:][:1]), verifySections(r, Part(r.ArticleSections, a.Sections), &nodes))
		}
		if err != nil {
			return fmt.Errorf("article of %s: %w", r.ConditionID(a.Condition), err)
		}
	}
	for i := range r.Conditions {
		if at := r.Conditions[i].Article; at != None && (at < 0 || int(at) >= len(r.Articles) || r.Articles[at].Condition != ConditionIndex(i)) {
			return fmt.Errorf("condition %s: article %d, which is not about it", r.ConditionID(ConditionIndex(i)), at)
		}
	}
	return errors.Join(sections.done(), verifyNodes(r, nodes))
}

func verifySections(r *Release, sections []ArticleSection, nodes *tiling) error {
	var seen [256]bool
	for i := range sections {
		s := &sections[i]
		if !inWords(s.Name, sectionNameWords) || seen[s.Name] {
			return fmt.Errorf("section %v stands there twice, or is none of the known ones", s.Name)
		}
		seen[s.Name] = true
		if err := errors.Join(nodes.takeOne(s.Title), nodes.take(s.Content)); err != nil {
			return fmt.Errorf("section %v: %w", s.Name, err)
		}
		if err := verifyLoose(Part(r.Nodes, Span{Start: s.Title, End: s.Content.End})); err != nil {
			return fmt.Errorf("section %v: %w", s.Name, err)
		}
	}
	return nil
}

// verifyLoose checks nodes that no other holds.
func verifyLoose(nodes []Node) error {
	for i := range nodes {
		if nodes[i].Type == ListItemNode {
			return errors.New("a list-item that is in no list")
		}
	}
	return nil
}

// takeOne takes a single record.
func (t *tiling) takeOne(at uint32) error { return t.take(Span{Start: at, End: at + 1}) }

// verifyNodes goes on where the titles and contents of the articles end. A
// node that the tiling has not reached belongs to nothing before it.
func verifyNodes(r *Release, nodes tiling) error {
	depths := make([]uint8, len(r.Nodes))
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if uint32(i) >= nodes.next {
			break
		}
		if err := errors.Join(nodes.take(n.Children), verifyNode(r, n)); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		for child := n.Children.Start; child < n.Children.End; child++ {
			depths[child] = depths[i] + 1
			if depths[child] >= MostNested {
				return fmt.Errorf("node %d: more than %d nodes hold one another", child, MostNested)
			}
			if inner := r.Nodes[child].Type; n.Type == TextNode || n.Type.isList() != (inner == ListItemNode) {
				return fmt.Errorf("node %d: %v in %v", child, inner, n.Type)
			}
		}
	}
	return nodes.done()
}

func verifyNode(r *Release, n *Node) error {
	if err := checkTexts(r, n.Text); err != nil {
		return err
	}
	switch {
	case !inWords(n.Type, nodeTypeWords):
		return fmt.Errorf("%v is no type of nodes", n.Type)
	case n.Type == LinkNode && !strings.HasPrefix(r.Text(n.Text), "https://"):
		return errors.New("a link that does not lead to https")
	case n.Type != LinkNode && (n.Type == TextNode) != (n.Text.Length > 0):
		return fmt.Errorf("a node of type %v with a text of %d bytes", n.Type, n.Text.Length)
	}
	return nil
}

// isList reports whether a node holds list items, and nothing else.
func (v NodeType) isList() bool { return v == UnorderedListNode || v == OrderedListNode }
