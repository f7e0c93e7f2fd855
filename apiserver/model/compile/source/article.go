// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// An Article tells patients about a condition, whose slug is the name of the
// file. It is written in the part of Markdown that the nodes of a release have
// a type for:
//
//	# Title of the article
//	## Title of a section {#how_its_caused}
//	### Heading in a section, then #### and #####
//	Paragraphs, [links](https://example.org), and lists.
type Article struct {
	File     string
	Slug     Word
	Title    []model.DraftNode
	Sections []*Section
}

// A Section is one of an article.
type Section struct {
	Name    Word // as in {#how_its_caused}
	Title   []model.DraftNode
	Content []model.DraftNode
}

// The levels of the headings in the file.
const (
	titleLevel   = 1
	sectionLevel = 2
	deepestLevel = 5
)

// deepestList is how many lists may hold one another, so that with the list
// items, and a linked word in a paragraph of the last, no more than
// model.MostNested nodes do.
const deepestList = (model.MostNested - 3) / 2

var articleParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	parser.WithHeadingAttribute(),
)

// ParseArticle reads an article. What has no place in one is added to the
// problems.
func ParseArticle(file string, data []byte, problems *Problems) *Article {
	a := articleReader{
		article:  &Article{File: file, Slug: Word{Text: strings.TrimSuffix(path.Base(file), articleExt), Line: 1}},
		data:     data,
		problems: problems,
	}
	if !utf8.Valid(data) {
		a.problems.Add(Position{File: file}, "the file is not UTF-8")
		return a.article
	}
	document := articleParser.Parse(text.NewReader(data))
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		if heading, ok := block.(*ast.Heading); ok {
			a.heading(heading)
		} else {
			a.add(block, a.block(block, 0)...)
		}
	}
	a.closeSection()
	if a.article.Title == nil {
		a.problems.Add(Position{File: file, Line: 1}, "the article has no title: expected a line such as # Migraine")
	}
	return a.article
}

// articleReader turns blocks of Markdown into nodes, section by section.
type articleReader struct {
	article  *Article
	data     []byte
	problems *Problems
	section  *Section // that is being read, or nil
	level    int      // of the last heading in it
}

// refuse adds a problem at the line of a block or an inline.
func (a *articleReader) refuse(n ast.Node, format string, args ...any) {
	a.problems.Add(Position{File: a.article.File, Line: a.line(n)}, format, args...)
}

// line is the line of a block or an inline.
func (a *articleReader) line(n ast.Node) int {
	return 1 + bytes.Count(a.data[:max(n.Pos(), 0)], []byte("\n"))
}

// add adds nodes to the content of the section.
func (a *articleReader) add(from ast.Node, nodes ...model.DraftNode) {
	switch {
	case len(nodes) == 0:
	case a.section == nil:
		a.refuse(from, "this stands in no section: expected a line such as ## Causes {#how_its_caused} before it")
	default:
		a.section.Content = append(a.section.Content, nodes...)
	}
}

func (a *articleReader) heading(h *ast.Heading) {
	words := a.inlines(h)
	if len(words) == 0 {
		a.refuse(h, "a heading without words")
	}
	name := a.name(h)
	if name != "" && h.Level != sectionLevel {
		a.refuse(h, "{#%s} is not for this heading: only those of sections, with ##, have a name", name)
	}
	switch {
	case h.Level == titleLevel:
		a.title(h, words)
	case h.Level == sectionLevel:
		a.openSection(h, name, words)
	case h.Level > deepestLevel:
		a.refuse(h, "a heading of level %d: the deepest is ##### for heading-3", h.Level)
	case a.section == nil || h.Level > a.level+1:
		a.refuse(h, "a heading of level %d is out of place: the level before it is missing", h.Level)
	default:
		a.level = h.Level
		of := model.Heading1Node + model.NodeType(h.Level-sectionLevel-1)
		a.add(h, model.DraftNode{Type: of, Children: words})
	}
}

func (a *articleReader) title(h *ast.Heading, words []model.DraftNode) {
	if a.article.Title != nil || a.section != nil {
		a.refuse(h, "a second title: an article has one heading with #, before all else")
		return
	}
	a.article.Title = words
}

func (a *articleReader) openSection(h *ast.Heading, name string, words []model.DraftNode) {
	a.closeSection()
	if name == "" {
		a.refuse(h, "a section without a name: expected one behind its title, such as {#how_its_caused}")
	}
	a.section = &Section{Name: Word{Text: name, Line: a.line(h)}, Title: words}
	a.level = sectionLevel
	a.article.Sections = append(a.article.Sections, a.section)
}

func (a *articleReader) closeSection() {
	if a.section != nil && len(a.section.Content) == 0 {
		a.problems.Add(Position{File: a.article.File, Line: a.section.Name.Line}, "section %s is empty", a.section.Name.Text)
	}
}

// name is the one in a heading. Other attributes are refused.
func (a *articleReader) name(h *ast.Heading) (name string) {
	for _, attribute := range h.Attributes() {
		if value, ok := attribute.Value.([]byte); ok && string(attribute.Name) == "id" {
			name = string(value)
		} else {
			a.refuse(h, "%s has no place in a heading: expected only a name such as {#how_its_caused}", attribute.Name)
		}
	}
	return name
}

// block turns a block other than a heading of the article into nodes; lists is
// how many lists it is in.
func (a *articleReader) block(block ast.Node, lists int) []model.DraftNode {
	switch b := block.(type) {
	case *ast.Paragraph:
		return holding(model.ParagraphNode, a.inlines(b))
	case *ast.TextBlock:
		return a.inlines(b)
	case *ast.List:
		return a.list(b, lists)
	default:
		a.refuse(b, "%s has no place in an article: expected paragraphs, headings and lists", called(b))
		return nil
	}
}

// holding is a node with its children, or nothing when they were all refused.
func holding(of model.NodeType, children []model.DraftNode) []model.DraftNode {
	if len(children) == 0 {
		return nil
	}
	return []model.DraftNode{{Type: of, Children: children}}
}

func (a *articleReader) list(list *ast.List, lists int) []model.DraftNode {
	if lists == deepestList {
		a.refuse(list, "more than %d lists hold one another", deepestList)
		return nil
	}
	of := model.UnorderedListNode
	if list.IsOrdered() {
		of = model.OrderedListNode
		if list.Start != 1 {
			a.refuse(list, "a list that begins with %d: expected 1", list.Start)
		}
	}
	var items []model.DraftNode
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		var nodes []model.DraftNode
		for block := item.FirstChild(); block != nil; block = block.NextSibling() {
			nodes = append(nodes, a.block(block, lists+1)...)
		}
		if item.FirstChild() == nil {
			a.refuse(item, "an empty list item")
		}
		items = append(items, holding(model.ListItemNode, nodes)...)
	}
	return holding(of, items)
}

// inlines turns the words and links of a block, or of a link, into nodes.
func (a *articleReader) inlines(parent ast.Node) []model.DraftNode {
	var nodes []model.DraftNode
	var words strings.Builder
	flush := func() {
		// One space where there was any, the ends of lines included.
		if s := anySpace.ReplaceAllString(words.String(), " "); s != "" {
			nodes = append(nodes, model.DraftNode{Type: model.TextNode, Text: s})
		}
		words.Reset()
	}
	for inline := parent.FirstChild(); inline != nil; inline = inline.NextSibling() {
		if t, ok := inline.(*ast.Text); ok {
			words.WriteString(a.words(t))
			continue
		}
		flush()
		nodes = append(nodes, a.link(inline)...)
	}
	flush()
	return trimmed(nodes)
}

// words are those of a piece of text, which must say what it means without
// escapes.
func (a *articleReader) words(t *ast.Text) string {
	words := string(t.Value(a.data))
	if strings.Contains(words, `\`) || html.UnescapeString(words) != words {
		a.refuse(t, "%q has an escape in it: write the character itself", words)
	}
	if t.HardLineBreak() {
		a.refuse(t, "a line break inside a paragraph: begin another one, or end the line without spaces or a backslash")
	}
	if t.SoftLineBreak() {
		words += " "
	}
	return words
}

func (a *articleReader) link(inline ast.Node) []model.DraftNode {
	var target string
	var words []model.DraftNode
	switch l := inline.(type) {
	case *ast.Link:
		target, words = string(l.Destination), a.inlines(l)
		if l.Title != nil {
			a.refuse(l, "a link with a title: expected one such as [words](https://example.org)")
		}
	case *ast.AutoLink:
		target = string(l.URL(a.data))
		words = []model.DraftNode{{Type: model.TextNode, Text: string(l.Label(a.data))}}
	default:
		a.refuse(inline, "%s has no place in an article: expected words and links", called(inline))
		return nil
	}
	if u, err := url.Parse(target); err != nil || !strings.HasPrefix(target, "https://") || u.Host == "" {
		a.refuse(inline, "a link to %q: expected an address that begins with https://", target)
	}
	if len(words) == 0 {
		a.refuse(inline, "a link without words")
	}
	return []model.DraftNode{{Type: model.LinkNode, Text: target, Children: words}}
}

// called is what an author calls a piece of Markdown.
func called(n ast.Node) string {
	switch n.Kind() {
	case ast.KindImage:
		return "an image"
	case ast.KindEmphasis:
		return "emphasis"
	case ast.KindCodeSpan, ast.KindCodeBlock, ast.KindFencedCodeBlock:
		return "code"
	case ast.KindRawHTML, ast.KindHTMLBlock:
		return "HTML"
	case ast.KindBlockquote:
		return "a quotation"
	case ast.KindThematicBreak:
		return "a rule"
	case ast.KindHeading:
		return "a heading inside a list"
	case ast.KindLinkReferenceDefinition:
		return "a definition of a link"
	default:
		return fmt.Sprintf("Markdown of the kind %v", n.Kind())
	}
}

var anySpace = regexp.MustCompile(`\s+`)

// trimmed takes the space off the ends of a block, and what was nothing else.
func trimmed(nodes []model.DraftNode) []model.DraftNode {
	if last := len(nodes) - 1; last >= 0 {
		if nodes[0].Type == model.TextNode {
			nodes[0].Text = strings.TrimLeft(nodes[0].Text, " ")
		}
		if nodes[last].Type == model.TextNode {
			nodes[last].Text = strings.TrimRight(nodes[last].Text, " ")
		}
	}
	kept := nodes[:0]
	for _, n := range nodes {
		if n.Type != model.TextNode || n.Text != "" {
			kept = append(kept, n)
		}
	}
	return kept
}
