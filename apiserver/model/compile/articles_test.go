// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	aboutMigraine = "lang/en/articles/migraine.md"
	leaflet       = `# Migraine

## In short {#summary}

A headache that [comes back](https://example.org/migraine), with nausea.

## Please note {#disclaimer}

Ask a doctor.

## Sources {#sources}

- Textbook
`
)

// outline is the nodes of a span on one line.
func outline(r *model.Release, span model.Span) string {
	var list []string
	for _, n := range model.Part(r.Nodes, span) {
		switch n.Type {
		case model.TextNode:
			list = append(list, fmt.Sprintf("%q", r.Text(n.Text)))
		case model.LinkNode:
			list = append(list, "link "+r.Text(n.Text)+"("+outline(r, n.Children)+")")
		default:
			list = append(list, n.Type.String()+"("+outline(r, n.Children)+")")
		}
	}
	return strings.Join(list, " ")
}

// articleOf is an article line by line, empty when there is none.
func articleOf(t *testing.T, r *model.Release, id string) []string {
	t.Helper()
	at := condition(t, r, id).Article
	if at == model.None {
		return nil
	}
	article := r.Articles[at]
	title := func(at uint32) string { return outline(r, model.Span{Start: at, End: at + 1}) }
	lines := []string{title(article.Title)}
	for _, s := range model.Part(r.ArticleSections, article.Sections) {
		lines = append(lines, s.Name.String()+" "+title(s.Title)+": "+outline(r, s.Content))
	}
	return lines
}

func TestCompileArticles(t *testing.T) {
	t.Parallel()
	r := compiled(t, edit{aboutMigraine, "", leaflet}, edit{"lang/en/articles/README.txt", "", "not read"}, edit{"lang/en/migraine.md", "", "not read"})
	want := []string{
		`heading-1("Migraine")`,
		`summary heading-1("In short"): paragraph("A headache that " link https://example.org/migraine("comes back") ", with nausea.")`,
		`disclaimer heading-1("Please note"): paragraph("Ask a doctor.")`,
		`sources heading-1("Sources"): unordered-list(list-item("Textbook"))`,
	}
	if diff := cmp.Diff(want, articleOf(t, r, "c_1")); diff != "" {
		t.Error(diff)
	}
	if got := articleOf(t, r, "c_2"); got != nil {
		t.Errorf("a condition without an article has %v", got)
	}
}

func TestCompileRefusesArticles(t *testing.T) {
	t.Parallel()
	with := func(old, instead string) []edit {
		return []edit{{aboutMigraine, "", strings.Replace(leaflet, old, instead, 1)}}
	}
	refuses(t, "en", []refusal{
		{"about nothing known", []edit{{"lang/en/articles/flu.md", "", leaflet}}, []want{{"lang/en/articles/flu.md", "# Migraine", "an article about the unknown condition flu: it is named like its file"}}},
		{"without a disclaimer", with("## Please note {#disclaimer}", "## Causes {#how_its_caused}"), []want{{aboutMigraine, "# Migraine", "the article has no section disclaimer"}}},
		{"without sources", with("## Sources {#sources}\n\n- Textbook\n", ""), []want{{aboutMigraine, "# Migraine", "the article has no section sources"}}},
		{"with an unknown section", with("{#summary}", "{#overview}"), []want{{aboutMigraine, "{#overview}", `unknown section "overview", expected one of summary, how_its_defined`}}},
		{"with a section twice", with("{#summary}", "{#sources}"), []want{{aboutMigraine, "## Sources", "section sources stands on line 3 already"}}},
		{"with a section of no name", with(" {#summary}", ""), []want{{aboutMigraine, "## In short", "a section without a name"}}},
		{"with an image", with("- Textbook", "- ![Textbook](https://example.org/x.png)"), []want{
			{aboutMigraine, "- ![Textbook]", "an image has no place in an article"}, {aboutMigraine, "## Sources", "section sources is empty"},
		}},
		{"with HTML", with("Ask a doctor.", "<p>Ask a doctor.</p>"), []want{{aboutMigraine, "<p>", "HTML has no place in an article"}, {aboutMigraine, "## Please", "section disclaimer is empty"}}},
		{"with code", with("Ask a doctor.", "Ask a `doctor`."), []want{{aboutMigraine, "Ask a", "code has no place in an article"}}},
		{"with emphasis", with("Ask a doctor.", "Ask a *doctor*."), []want{{aboutMigraine, "Ask a", "emphasis has no place in an article"}}},
		{"with a heading out of place", with("Ask a doctor.", "#### Ask a doctor."), []want{{aboutMigraine, "#### Ask", "a heading of level 4 is out of place"}, {aboutMigraine, "## Please", "section disclaimer is empty"}}},
		{"with a link that is not safe", with("https://", "http://"), []want{{aboutMigraine, "http://", `a link to "http://example.org/migraine": expected an address that begins with https://`}}},
		{"that is empty", []edit{{aboutMigraine, "", "\n"}}, []want{
			{aboutMigraine, "\n", "the article has no title"}, {aboutMigraine, "\n", "the article has no section disclaimer"}, {aboutMigraine, "\n", "the article has no section sources"},
		}},
	})
}
