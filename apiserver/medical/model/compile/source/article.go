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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// An Article is patient information about a condition. The file name is the slug of the
// condition. Articles are written in the subset of Markdown that the node types of a
// release can represent:
//
//	# Title of the article
//	## Title of a section {#how_its_caused}
//	### Heading in a section, then #### and #####
//	Paragraphs, [links](https://example.org), and lists.
type Article struct {
	File     string
	Slug     Scalar
	Title    []model.DraftNode
	Sections []*Section
}

// A Section is a section of an article.
type Section struct {
	Name    Scalar // from {#how_its_caused}
	Title   []model.DraftNode
	Content []model.DraftNode
}

// The heading levels in the file.
const (
	titleLevel      = 1
	sectionLevel    = 2
	maxHeadingLevel = 5
)

// maxListDepth is the maximum nesting depth of lists. Including list items, and a link
// in a paragraph of the innermost item, nodes stay within model.MaxNodeDepth.
const maxListDepth = (model.MaxNodeDepth - 3) / 2

var articleParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	parser.WithHeadingAttribute(),
)

// ParseArticle parses an article. It reports unsupported Markdown as problems.
func ParseArticle(file string, data []byte, problems *Problems) *Article {
	a := articleReader{
		article:  &Article{File: file, Slug: Scalar{Text: strings.TrimSuffix(path.Base(file), articleExt), Line: 1}},
		data:     data,
		problems: problems,
	}
	if !utf8.Valid(data) {
		a.problems.Addf(Position{File: file}, "file is not UTF-8")
		return a.article
	}
	document := articleParser.Parse(text.NewReader(data))
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		if heading, ok := block.(*ast.Heading); ok {
			a.readHeading(heading)
		} else {
			a.appendContent(block, a.blockNodes(block, 0)...)
		}
	}
	a.closeSection()
	if a.article.Title == nil {
		a.problems.Addf(Position{File: file, Line: 1}, "article has no title: expected a line such as # Migraine")
	}
	return a.article
}

// articleReader converts Markdown blocks into nodes, section by section.
type articleReader struct {
	article  *Article
	data     []byte
	problems *Problems
	section  *Section // section being read, or nil
	level    int      // level of the last heading in the section
}

// errorf adds a problem at the line of a block or inline node.
func (a *articleReader) errorf(n ast.Node, format string, args ...any) {
	a.problems.Addf(Position{File: a.article.File, Line: a.line(n)}, format, args...)
}

// line returns the line of a block or inline node.
func (a *articleReader) line(n ast.Node) int {
	return 1 + bytes.Count(a.data[:max(n.Pos(), 0)], []byte("\n"))
}

// appendContent appends nodes to the content of the current section.
func (a *articleReader) appendContent(from ast.Node, nodes ...model.DraftNode) {
	switch {
	case len(nodes) == 0:
	case a.section == nil:
		a.errorf(from, "content outside a section: add a heading such as ## Causes {#how_its_caused} before it")
	default:
		a.section.Content = append(a.section.Content, nodes...)
	}
}

func (a *articleReader) readHeading(h *ast.Heading) {
	words := a.inlineNodes(h)
	if len(words) == 0 {
		a.errorf(h, "heading is empty")
	}
	name := a.headingName(h)
	if name != "" && h.Level != sectionLevel {
		a.errorf(h, "unexpected name {#%s}: only section headings (##) may have a name", name)
	}
	switch {
	case h.Level == titleLevel:
		a.setTitle(h, words)
	case h.Level == sectionLevel:
		a.openSection(h, name, words)
	case h.Level > maxHeadingLevel:
		a.errorf(h, "heading of level %d is too deep: the deepest level is ##### for heading-3", h.Level)
	case a.section == nil || h.Level > a.level+1:
		a.errorf(h, "heading of level %d skips a level", h.Level)
	default:
		a.level = h.Level
		kind := model.Heading1Node + model.NodeType(h.Level-sectionLevel-1)
		a.appendContent(h, model.DraftNode{Type: kind, Children: words})
	}
}

func (a *articleReader) setTitle(h *ast.Heading, words []model.DraftNode) {
	if a.article.Title != nil || a.section != nil {
		a.errorf(h, "unexpected second title: an article must have one # heading, at the top")
		return
	}
	a.article.Title = words
}

func (a *articleReader) openSection(h *ast.Heading, name string, words []model.DraftNode) {
	a.closeSection()
	if name == "" {
		a.errorf(h, "section has no name: expected a name after its title, such as {#how_its_caused}")
	}
	a.section = &Section{Name: Scalar{Text: name, Line: a.line(h)}, Title: words}
	a.level = sectionLevel
	a.article.Sections = append(a.article.Sections, a.section)
}

func (a *articleReader) closeSection() {
	if a.section != nil && len(a.section.Content) == 0 {
		a.problems.Addf(Position{File: a.article.File, Line: a.section.Name.Line}, "section %s is empty", a.section.Name.Text)
	}
}

// headingName returns the section name in the attributes of a heading. It rejects other
// attributes.
func (a *articleReader) headingName(h *ast.Heading) (name string) {
	for _, attribute := range h.Attributes() {
		if value, ok := attribute.Value.([]byte); ok && string(attribute.Name) == "id" {
			name = string(value)
		} else {
			a.errorf(h, "unexpected attribute %s in a heading: expected only a name such as {#how_its_caused}", attribute.Name)
		}
	}
	return name
}

// blockNodes converts a block other than an article heading into nodes. lists is the
// number of enclosing lists.
func (a *articleReader) blockNodes(block ast.Node, lists int) []model.DraftNode {
	switch b := block.(type) {
	case *ast.Paragraph:
		return parentNode(model.ParagraphNode, a.inlineNodes(b))
	case *ast.TextBlock:
		return a.inlineNodes(b)
	case *ast.List:
		return a.listNodes(b, lists)
	default:
		a.errorf(b, "unexpected %s in an article: expected paragraphs, headings and lists", markdownKindName(b))
		return nil
	}
}

// parentNode returns a node with its children, or nothing if all children were rejected.
func parentNode(kind model.NodeType, children []model.DraftNode) []model.DraftNode {
	if len(children) == 0 {
		return nil
	}
	return []model.DraftNode{{Type: kind, Children: children}}
}

func (a *articleReader) listNodes(list *ast.List, lists int) []model.DraftNode {
	if lists == maxListDepth {
		a.errorf(list, "lists are nested more than %d levels deep", maxListDepth)
		return nil
	}
	kind := model.UnorderedListNode
	if list.IsOrdered() {
		kind = model.OrderedListNode
		if list.Start != 1 {
			a.errorf(list, "list starts at %d: expected 1", list.Start)
		}
	}
	var items []model.DraftNode
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		var nodes []model.DraftNode
		for block := item.FirstChild(); block != nil; block = block.NextSibling() {
			nodes = append(nodes, a.blockNodes(block, lists+1)...)
		}
		if item.FirstChild() == nil {
			a.errorf(item, "list item is empty")
		}
		items = append(items, parentNode(model.ListItemNode, nodes)...)
	}
	return parentNode(kind, items)
}

// inlineNodes converts the text and links of a block, or of a link, into nodes.
func (a *articleReader) inlineNodes(parent ast.Node) []model.DraftNode {
	var nodes []model.DraftNode
	var words strings.Builder
	flush := func() {
		// Collapse white space, including line ends, into single spaces.
		if s := whitespace.ReplaceAllString(words.String(), " "); s != "" {
			nodes = append(nodes, model.DraftNode{Type: model.TextNode, Text: s})
		}
		words.Reset()
	}
	for inline := parent.FirstChild(); inline != nil; inline = inline.NextSibling() {
		if t, ok := inline.(*ast.Text); ok {
			words.WriteString(a.plainText(t))
			continue
		}
		flush()
		nodes = append(nodes, a.linkNodes(inline)...)
	}
	flush()
	return trimNodes(nodes)
}

// plainText returns the content of a text node. It rejects text that needs escapes.
func (a *articleReader) plainText(t *ast.Text) string {
	words := string(t.Value(a.data))
	if strings.Contains(words, `\`) || html.UnescapeString(words) != words {
		a.errorf(t, "unexpected escape in %q: write the character itself", words)
	}
	if t.HardLineBreak() {
		a.errorf(t, "unexpected hard line break in a paragraph: start a new paragraph, or remove the trailing spaces or backslash")
	}
	if t.SoftLineBreak() {
		words += " "
	}
	return words
}

func (a *articleReader) linkNodes(inline ast.Node) []model.DraftNode {
	var target string
	var words []model.DraftNode
	switch l := inline.(type) {
	case *ast.Link:
		target, words = string(l.Destination), a.inlineNodes(l)
		if l.Title != nil {
			a.errorf(l, "unexpected link title: expected a link such as [words](https://example.org)")
		}
	case *ast.AutoLink:
		target = string(l.URL(a.data))
		words = []model.DraftNode{{Type: model.TextNode, Text: string(l.Label(a.data))}}
	default:
		a.errorf(inline, "unexpected %s in an article: expected words and links", markdownKindName(inline))
		return nil
	}
	if u, err := url.Parse(target); err != nil || !strings.HasPrefix(target, "https://") || u.Host == "" {
		a.errorf(inline, "invalid link target %q: expected an address that begins with https://", target)
	}
	if len(words) == 0 {
		a.errorf(inline, "link has no text")
	}
	return []model.DraftNode{{Type: model.LinkNode, Text: target, Children: words}}
}

// markdownKindName returns the name that authors use for a Markdown node.
func markdownKindName(n ast.Node) string {
	switch n.Kind() {
	case ast.KindImage:
		return "image"
	case ast.KindEmphasis:
		return "emphasis"
	case ast.KindCodeSpan, ast.KindCodeBlock, ast.KindFencedCodeBlock:
		return "code"
	case ast.KindRawHTML, ast.KindHTMLBlock:
		return "HTML"
	case ast.KindBlockquote:
		return "quotation"
	case ast.KindThematicBreak:
		return "horizontal rule"
	case ast.KindHeading:
		return "heading inside a list"
	case ast.KindLinkReferenceDefinition:
		return "link definition"
	default:
		return fmt.Sprintf("Markdown of kind %v", n.Kind())
	}
}

var whitespace = regexp.MustCompile(`\s+`)

// trimNodes trims the space at both ends of a block, and drops nodes that become empty.
func trimNodes(nodes []model.DraftNode) []model.DraftNode {
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
