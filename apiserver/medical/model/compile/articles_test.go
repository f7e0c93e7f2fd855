// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	migraineArticleFile = "lang/en/articles/migraine.md"
	migraineArticle     = `# Migraine

## In short {#summary}

A headache that [comes back](https://example.org/migraine), with nausea.

## Please note {#disclaimer}

Ask a doctor.

## Sources {#sources}

- Textbook
`
)

// outline returns the nodes of a span on one line.
func outline(r *model.Release, span model.Span) string {
	var list []string
	for _, n := range model.Slice(r.Nodes, span) {
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

// articleLines returns an article as lines, empty if the condition has no article.
func articleLines(t *testing.T, r *model.Release, id string) []string {
	t.Helper()
	at := condition(t, r, id).Article
	if at == model.None {
		return nil
	}
	article := r.Articles[at]
	title := func(at uint32) string { return outline(r, model.Span{Start: at, End: at + 1}) }
	lines := []string{title(article.Title)}
	for _, s := range model.Slice(r.ArticleSections, article.Sections) {
		lines = append(lines, s.Name.String()+" "+title(s.Title)+": "+outline(r, s.Content))
	}
	return lines
}

func TestCompileArticles(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, edit{migraineArticleFile, "", migraineArticle}, edit{"lang/en/articles/README.txt", "", "not read"}, edit{"lang/en/migraine.md", "", "not read"})
	want := []string{
		`heading-1("Migraine")`,
		`summary heading-1("In short"): paragraph("A headache that " link https://example.org/migraine("comes back") ", with nausea.")`,
		`disclaimer heading-1("Please note"): paragraph("Ask a doctor.")`,
		`sources heading-1("Sources"): unordered-list(list-item("Textbook"))`,
	}
	if diff := cmp.Diff(want, articleLines(t, r, "c_1")); diff != "" {
		t.Error(diff)
	}
	if got := articleLines(t, r, "c_2"); got != nil {
		t.Errorf("a condition without an article has %v", got)
	}
}

func TestCompileRejectsInvalidArticles(t *testing.T) {
	t.Parallel()
	with := func(old, instead string) []edit {
		return []edit{{migraineArticleFile, "", strings.Replace(migraineArticle, old, instead, 1)}}
	}
	runRejectionTests(t, "en", []rejectionTest{
		{"about nothing known", []edit{{"lang/en/articles/flu.md", "", migraineArticle}}, []wantProblem{{"lang/en/articles/flu.md", "# Migraine", "article about unknown condition flu: name the file after the slug of the condition"}}},
		{"without a disclaimer", with("## Please note {#disclaimer}", "## Causes {#how_its_caused}"), []wantProblem{{migraineArticleFile, "# Migraine", "article has no section disclaimer"}}},
		{"without sources", with("## Sources {#sources}\n\n- Textbook\n", ""), []wantProblem{{migraineArticleFile, "# Migraine", "article has no section sources"}}},
		{"with an unknown section", with("{#summary}", "{#overview}"), []wantProblem{{migraineArticleFile, "{#overview}", `unknown section "overview": expected one of summary, how_its_defined`}}},
		{"with a section twice", with("{#summary}", "{#sources}"), []wantProblem{{migraineArticleFile, "## Sources", "section sources is already defined on line 3"}}},
		{"with a section of no name", with(" {#summary}", ""), []wantProblem{{migraineArticleFile, "## In short", "section has no name: expected a name after its title, such as {#how_its_caused}"}}},
		{"with an image", with("- Textbook", "- ![Textbook](https://example.org/x.png)"), []wantProblem{
			{migraineArticleFile, "- ![Textbook]", "unexpected image in an article: expected words and links"}, {migraineArticleFile, "## Sources", "section sources is empty"},
		}},
		{"with HTML", with("Ask a doctor.", "<p>Ask a doctor.</p>"), []wantProblem{{migraineArticleFile, "<p>", "unexpected HTML in an article: expected paragraphs, headings and lists"}, {migraineArticleFile, "## Please", "section disclaimer is empty"}}},
		{"with code", with("Ask a doctor.", "Ask a `doctor`."), []wantProblem{{migraineArticleFile, "Ask a", "unexpected code in an article: expected words and links"}}},
		{"with emphasis", with("Ask a doctor.", "Ask a *doctor*."), []wantProblem{{migraineArticleFile, "Ask a", "unexpected emphasis in an article: expected words and links"}}},
		{"with a heading out of place", with("Ask a doctor.", "#### Ask a doctor."), []wantProblem{{migraineArticleFile, "#### Ask", "heading of level 4 skips a level"}, {migraineArticleFile, "## Please", "section disclaimer is empty"}}},
		{"with a link that is not safe", with("https://", "http://"), []wantProblem{{migraineArticleFile, "http://", `invalid link target "http://example.org/migraine": expected an address that begins with https://`}}},
		{"that is empty", []edit{{migraineArticleFile, "", "\n"}}, []wantProblem{
			{migraineArticleFile, "\n", "article has no title: expected a line such as # Migraine"}, {migraineArticleFile, "\n", "article has no section disclaimer"}, {migraineArticleFile, "\n", "article has no section sources"},
		}},
	})
}
