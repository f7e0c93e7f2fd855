// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// outline returns a node on one line: its type, text and children.
func outline(n model.DraftNode) string {
	if n.Type == model.TextNode {
		return fmt.Sprintf("%q", n.Text)
	}
	var b strings.Builder
	b.WriteString(n.Type.String())
	if n.Text != "" {
		b.WriteString(" " + n.Text)
	}
	return b.String() + "(" + outlines(n.Children) + ")"
}

func outlines(nodes []model.DraftNode) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = outline(n)
	}
	return strings.Join(list, " ")
}

func TestParseArticle(t *testing.T) {
	t.Parallel()
	const article = `# Low back pain

## What is it? {#summary}

Most people have it
at some  time. See [the
guide](https://example.org/back?a=b).

### When young

#### And strong

##### And brave

<https://example.org/x>

## Sources {#sources}
- One, with [a link](https://example.org).
- Two
  1. first
  2. second
- Three
`
	var problems Problems
	got := ParseArticle("lang/en/articles/low_back_pain.md", []byte(article), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if got.File != "lang/en/articles/low_back_pain.md" || got.Slug != (Scalar{"low_back_pain", 1}) || outlines(got.Title) != `"Low back pain"` {
		t.Errorf("the article is %s of %v: %s", got.File, got.Slug, outlines(got.Title))
	}
	var sections []string
	for _, s := range got.Sections {
		sections = append(sections, fmt.Sprintf("%d %s %s: %s", s.Name.Line, s.Name.Text, outlines(s.Title), outlines(s.Content)))
	}
	want := []string{
		`3 summary "What is it?": paragraph("Most people have it at some time. See " link https://example.org/back?a=b("the guide") ".") ` +
			`heading-1("When young") heading-2("And strong") heading-3("And brave") paragraph(link https://example.org/x("https://example.org/x"))`,
		`17 sources "Sources": unordered-list(list-item("One, with " link https://example.org("a link") ".") ` +
			`list-item("Two" ordered-list(list-item("first") list-item("second"))) list-item("Three"))`,
	}
	if diff := cmp.Diff(want, sections); diff != "" {
		t.Error(diff)
	}
}

// TestParseArticleWithLooseList checks that list items separated by blank lines become
// paragraphs, and other items do not.
func TestParseArticleWithLooseList(t *testing.T) {
	t.Parallel()
	var problems Problems
	article := ParseArticle("x.md", []byte("# T\n## S {#sources}\n- One\n\n- Two\n\n  more\n"), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	want := `unordered-list(list-item(paragraph("One")) list-item(paragraph("Two") paragraph("more")))`
	if got := outlines(article.Sections[0].Content); got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
}

func TestParseArticleRejectsInvalid(t *testing.T) {
	t.Parallel()
	const opening = "# T\n## S {#sources}\n" // rejected content begins on line 3
	nested := func(lists int) string {
		var b strings.Builder
		for i := range lists {
			b.WriteString(strings.Repeat("  ", i) + "- item\n")
		}
		return b.String()
	}
	for _, test := range []struct {
		name, article string
		wants         []string
	}{
		{"nothing", "", []string{"x.md:1: article has no title: expected a line such as # Migraine"}},
		{"bytes of another encoding", "# T\xff\n", []string{"x.md: file is not UTF-8"}},
		{"no title", "## S {#sources}\ntext\n", []string{"x.md:1: article has no title: expected a line such as # Migraine"}},
		{"a title without words", "#\n## S {#sources}\ntext\n", []string{"x.md:1: heading is empty", "x.md:1: article has no title: expected a line such as # Migraine"}},
		{"two titles", opening + "text\n\n# U\n", []string{"x.md:5: unexpected second title: an article must have one # heading, at the top"}},
		{"a title behind sections", "## S {#sources}\ntext\n\n# U\n", []string{"x.md:1: article has no title: expected a line such as # Migraine", "x.md:4: unexpected second title: an article must have one # heading, at the top"}},
		{"a named title", "# T {#title}\n## S {#sources}\ntext\n", []string{"x.md:1: unexpected name {#title}: only section headings (##) may have a name"}},
		{"words before the first section", "# T\n\nHello.\n## S {#sources}\ntext\n", []string{"x.md:3: content outside a section: add a heading such as ## Causes {#how_its_caused} before it"}},
		{"a section without a name", opening + "text\n## U\nmore\n", []string{"x.md:4: section has no name: expected a name after its title, such as {#how_its_caused}"}},
		{"a section with more than a name", opening + "text\n## U {#summary .wide}\nmore\n", []string{"x.md:4: unexpected attribute class in a heading: expected only a name such as {#how_its_caused}"}},
		{"a section without words", opening + "text\n## {#summary}\nmore\n", []string{"x.md:4: heading is empty"}},
		{"an empty section", opening + "\n## U {#summary}\nmore\n", []string{"x.md:2: section sources is empty"}},
		{"an empty last section", "# T\n## S {#sources}", []string{"x.md:2: section sources is empty"}},
		{"a heading that skips a level", opening + "### A\n##### B\n\ntext", []string{"x.md:4: heading of level 5 skips a level"}},
		{"a heading before the first section", "# T\n### A\n## S {#sources}\ntext\n", []string{"x.md:2: heading of level 3 skips a level"}},
		{"a heading too deep", opening + "### A\n#### B\n##### C\n###### D\n", []string{"x.md:6: heading of level 6 is too deep: the deepest level is ##### for heading-3"}},
		{"a named heading", opening + "### A {#sources}\n", []string{"x.md:3: unexpected name {#sources}: only section headings (##) may have a name"}},
		{"a heading in a list", opening + "- item\n\n  ### A\n", []string{"x.md:5: unexpected heading inside a list in an article: expected paragraphs, headings and lists"}},
		{"an image", opening + "one\ntwo ![x](https://example.org/x.png)\n", []string{"x.md:4: unexpected image in an article: expected words and links"}},
		{"HTML in words", opening + "one\ntwo <b>three</b>\n", []string{
			"x.md:4: unexpected HTML in an article: expected words and links", "x.md:4: unexpected HTML in an article: expected words and links",
		}},
		{"HTML", opening + "text\n\n<div>\nx\n</div>\n", []string{"x.md:5: unexpected HTML in an article: expected paragraphs, headings and lists"}},
		{"a comment", opening + "text\n\n<!-- later -->\n", []string{"x.md:5: unexpected HTML in an article: expected paragraphs, headings and lists"}},
		{"code", opening + "text\n\n    code\n", []string{"x.md:5: unexpected code in an article: expected paragraphs, headings and lists"}},
		{"fenced code", opening + "text\n\n```\ncode\n```\n", []string{"x.md:5: unexpected code in an article: expected paragraphs, headings and lists"}},
		{"code in words", opening + "one\n`two`\n", []string{"x.md:4: unexpected code in an article: expected words and links"}},
		{"emphasis", opening + "one\n\ntwo *three*\n", []string{"x.md:5: unexpected emphasis in an article: expected words and links"}},
		{"strong emphasis in a heading", opening + "### A **b**\n", []string{"x.md:3: unexpected emphasis in an article: expected words and links"}},
		{"emphasis in a link", opening + "[a *b*](https://example.org)\n", []string{"x.md:3: unexpected emphasis in an article: expected words and links"}},
		{"emphasis in a list", opening + "- one\n- two _three_\n", []string{"x.md:4: unexpected emphasis in an article: expected words and links"}},
		{"a quotation", opening + "> text\n", []string{"x.md:2: section sources is empty", "x.md:3: unexpected quotation in an article: expected paragraphs, headings and lists"}},
		{"a rule", opening + "text\n\n***\n", []string{"x.md:5: unexpected horizontal rule in an article: expected paragraphs, headings and lists"}},
		{"a line break", opening + "one  \ntwo\n", []string{"x.md:3: unexpected hard line break in a paragraph: start a new paragraph, or remove the trailing spaces or backslash"}},
		{"an entity", opening + "one\ntwo &amp; three\n", []string{`x.md:4: unexpected escape in "two &amp; three": write the character itself`}},
		{"a backslash", opening + "one\ntwo \\* three\n", []string{`x.md:4: unexpected escape in "two \\* three": write the character itself`}},
		{"a link over HTTP", opening + "[a](http://example.org)\n", []string{`x.md:3: invalid link target "http://example.org": expected an address that begins with https://`}},
		{"a link to a program", opening + "[a](javascript:alert(1))\n", []string{`x.md:3: invalid link target "javascript:alert(1)": expected an address that begins with https://`}},
		{"a link to nowhere", opening + "[a](https://)\n", []string{`x.md:3: invalid link target "https://": expected an address that begins with https://`}},
		{"a link within the site", opening + "one\ntwo [a](/b)\n", []string{`x.md:4: invalid link target "/b": expected an address that begins with https://`}},
		{"a link that is no address", opening + "[a](https://a%zz)\n", []string{`x.md:3: invalid link target "https://a%zz": expected an address that begins with https://`}},
		{"a mail address", opening + "<a@example.org>\n", []string{`x.md:3: invalid link target "a@example.org": expected an address that begins with https://`}},
		{"link has no text", opening + "[](https://example.org)\n", []string{"x.md:3: link has no text"}},
		{"a link with a title", opening + "[a](https://example.org \"b\")\n", []string{"x.md:3: unexpected link title: expected a link such as [words](https://example.org)"}},
		{"a link to a reference", opening + "[a]\n\n[a]: https://example.org\n", []string{
			"x.md:5: unexpected link definition in an article: expected paragraphs, headings and lists",
		}},
		{"an empty item", opening + "- one\n-\n", []string{"x.md:4: list item is empty"}},
		{"a list that begins in the middle", opening + "3. three\n", []string{"x.md:3: list starts at 3: expected 1"}},
		{"lists of lists without end", opening + nested(maxListDepth+1), []string{"x.md:9: lists are nested more than 6 levels deep"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var problems Problems
			ParseArticle("x.md", []byte(test.article), &problems)
			if diff := cmp.Diff(test.wants, problemLines(&problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMaxListDepthFitsRelease checks that the deepest allowed lists, with a link in the
// innermost, do not exceed the node depth of a release.
func TestMaxListDepthFitsRelease(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# T\n## S {#sources}\n")
	for i := range maxListDepth {
		b.WriteString(strings.Repeat("  ", i) + "- item\n\n")
	}
	b.WriteString(strings.Repeat("  ", maxListDepth) + "[a](https://example.org)\n")
	var problems Problems
	article := ParseArticle("x.md", []byte(b.String()), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if got := maxDepth(article.Sections[0].Content); got > model.MaxNodeDepth || got < model.MaxNodeDepth-1 {
		t.Errorf("%d nodes hold one another, where %d may: %s", got, model.MaxNodeDepth, outlines(article.Sections[0].Content))
	}
}

// maxDepth returns the nesting depth of nodes.
func maxDepth(nodes []model.DraftNode) int {
	most := 0
	for _, n := range nodes {
		most = max(most, 1+maxDepth(n.Children))
	}
	return most
}

// A markdownSample is a list of nodes with the equivalent Markdown.
type markdownSample struct {
	markdown string
	nodes    []model.DraftNode
}

func drawMarkdown(t *rapid.T) markdownSample {
	word := rapid.StringMatching(`[A-Za-zäé]{1,8}`)
	words := func() string { return strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), " ") }
	text := func(s string) model.DraftNode { return model.DraftNode{Type: model.TextNode, Text: s} }
	var p markdownSample
	add := func(markdown string, of model.NodeType, children ...model.DraftNode) {
		p.markdown += markdown + "\n\n"
		p.nodes = append(p.nodes, model.DraftNode{Type: of, Children: children})
	}
	previous := model.ParagraphNode
	for range rapid.IntRange(1, 6).Draw(t, "blocks") {
		s := words()
		of := rapid.SampledFrom([]model.NodeType{model.ParagraphNode, model.Heading1Node, model.LinkNode, model.UnorderedListNode, model.OrderedListNode}).Draw(t, "type")
		isList := of == model.UnorderedListNode || of == model.OrderedListNode
		if isList && previous == of {
			of = model.ParagraphNode // two adjacent lists would merge
		}
		previous = of
		switch of {
		case model.Heading1Node:
			add("### "+s, of, text(s))
		case model.LinkNode:
			add("See [it]("+"https://example.org/"+strings.ReplaceAll(s, " ", "-")+") "+s, model.ParagraphNode,
				text("See "), model.DraftNode{Type: of, Text: "https://example.org/" + strings.ReplaceAll(s, " ", "-"), Children: []model.DraftNode{text("it")}}, text(" "+s))
		case model.UnorderedListNode, model.OrderedListNode:
			mark := map[model.NodeType]string{model.UnorderedListNode: "- ", model.OrderedListNode: "1. "}[of]
			item := model.DraftNode{Type: model.ListItemNode, Children: []model.DraftNode{text(s)}}
			add(mark+s+"\n"+mark+s, of, item, item)
		default:
			add(strings.ReplaceAll(s, " ", "\n"), model.ParagraphNode, text(s))
		}
	}
	return p
}

func TestParseArticleRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want [][]model.DraftNode
		markdown := "# T\n"
		for i := range rapid.IntRange(1, 4).Draw(t, "sections") {
			p := drawMarkdown(t)
			want = append(want, p.nodes)
			markdown += fmt.Sprintf("## S %d {#s_%d}\n%s", i, i, p.markdown)
		}
		var problems Problems
		article := ParseArticle("x.md", []byte(markdown), &problems)
		if err := problems.Err(); err != nil {
			t.Fatalf("%v\nin\n%s", err, markdown)
		}
		var got [][]model.DraftNode
		for _, s := range article.Sections {
			got = append(got, s.Content)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\nin\n%s", diff, markdown)
		}
	})
}

// FuzzParseArticle parses arbitrary bytes. The result must be problems with lines of the
// file, or nodes that a release can contain.
func FuzzParseArticle(f *testing.F) {
	f.Add([]byte("# T\n\n## S {#sources}\n\nSee [x](https://example.org).\n\n- a\n  1. b\n\n### H\n"))
	f.Add([]byte("## S {#summary .a b=c}\n> q\n```\n[x]: https://example.org\n![i](j) <b> *e* `c` &amp; \\*  \n***\n"))
	f.Add([]byte(strings.Repeat("- ", 40) + "x\n" + strings.Repeat("[", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var problems Problems
		article := ParseArticle("x.md", data, &problems)
		last := strings.Count(string(data), "\n") + 1
		for _, p := range problems.List() {
			if p.Line > last || p.Reason == "" {
				t.Fatalf("%v, where the file has %d lines", p, last)
			}
		}
		if problems.Err() != nil {
			return
		}
		draft := &model.DraftArticle{Title: model.DraftNode{Type: model.Heading1Node, Children: article.Title}}
		for i, s := range article.Sections {
			if i > int(model.SourcesSection) {
				break
			}
			draft.Sections = append(draft.Sections, model.DraftSection{Name: model.SectionName(i), Content: s.Content, Title: model.DraftNode{Type: model.Heading1Node, Children: s.Title}})
		}
		checkNodes(t, draft)
	})
}

// checkNodes checks that servers accept an article.
func checkNodes(t *testing.T, article *model.DraftArticle) {
	t.Helper()
	c := &model.DraftCondition{Number: 1, Name: "C", Triage: model.SelfCare, Course: model.NewCourse(1, 2), Article: article}
	draft := &model.Draft{
		Meta: model.Meta{
			ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en", ChoicePresent: "a", ChoiceAbsent: "b", ChoiceUnknown: "c",
			DurationQuestion: model.SymptomPlaceholder, DurationQuestionThirdPerson: model.SymptomPlaceholder, LeakCourse: model.NewCourse(1, 2),
		},
		Conditions: []*model.DraftCondition{c},
	}
	file, err := model.Encode(draft.Build())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Decode(file); err != nil {
		t.Fatalf("servers reject the article: %v", err)
	}
}
