// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// A visitor is somebody with a browser that runs no script.
type visitor struct {
	t       testing.TB
	address string
	survey  string // the path of the survey; empty for none
	browser *http.Client
}

// A shownPage is what a browser was answered.
type shownPage struct {
	status       int
	header       http.Header
	body         string
	path         string // what was asked for
	to           string // where it leads; empty for nowhere
	transmitted  int    // how many bytes the body had on its way
	isCompressed bool
}

// opened is a visitor who opened the magic link of a survey.
func (c *clinic) opened(s guidance.Survey) *visitor {
	c.t.Helper()
	v := c.visitor()
	link, err := url.Parse(c.link(s))
	c.must(err)
	v.survey = "/survey/" + s.ID
	v.post(v.survey, url.Values{"code": {link.Query().Get("magicCode")}}).leadsTo(c.t, v.survey)
	return v
}

// missingWords are what stands in the place of words that are not there.
var missingWords = regexp.MustCompile(`\[[a-z-]+\.[a-z0-9_.-]+]`)

func (c *clinic) visitor() *visitor {
	return &visitor{t: c.t, address: c.address, browser: c.client()}
}

func (v *visitor) get(path string, headers ...string) shownPage {
	v.t.Helper()
	return v.send(http.MethodGet, path, nil, headers...)
}

func (v *visitor) post(path string, form url.Values, headers ...string) shownPage {
	v.t.Helper()
	return v.send(http.MethodPost, path, form, headers...)
}

// send asks for a page; headers are names and values.
func (v *visitor) send(method, path string, form url.Values, headers ...string) shownPage {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, v.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := v.browser.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if id := missingWords.FindString(string(body)); id != "" {
		v.t.Errorf("%s has no words for %s", path, id)
	}
	return shownPage{
		status: response.StatusCode, header: response.Header, body: string(body), path: path, to: response.Header.Get("Location"),
		transmitted: len(body), isCompressed: response.Header.Get("Content-Encoding") == "gzip",
	}
}

// leadsTo checks that a browser is sent on.
func (s shownPage) leadsTo(t testing.TB, path string) {
	t.Helper()
	if s.status != http.StatusSeeOther || s.to != path {
		t.Fatalf("%s: answered %d to %q, want to be sent to %s\n%.2000s", s.path, s.status, s.to, path, s.text())
	}
}

// is checks the status of a page, and some of what it says.
func (s shownPage) is(t testing.TB, status int, texts ...string) {
	t.Helper()
	if s.status != status {
		t.Fatalf("%s: answered %d, want %d\n%.2000s", s.path, s.status, status, s.text())
	}
	for _, text := range texts {
		if !strings.Contains(s.text(), text) {
			t.Errorf("%s does not say %q\n%.2000s", s.path, text, s.text())
		}
	}
}

// tree is a page as it was parsed.
func (s shownPage) tree() *html.Node {
	root, err := html.Parse(strings.NewReader(s.body))
	if err != nil {
		panic(err) // of a reader that fails
	}
	return root
}

// text is what a page says, without its style.
func (s shownPage) text() string {
	var text strings.Builder
	for node := range s.tree().Descendants() {
		if node.Type == html.TextNode && node.Parent.DataAtom != atom.Style {
			text.WriteString(strings.Join(strings.Fields(node.Data), " ") + " ")
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// heading is what a page is about.
func (s shownPage) heading() string {
	for node := range s.tree().Descendants() {
		if node.DataAtom == atom.H1 {
			return shownPage{body: "<p>" + inner(node)}.text()
		}
	}
	return ""
}

func inner(node *html.Node) string {
	var text strings.Builder
	for child := range node.Descendants() {
		if child.Type == html.TextNode {
			text.WriteString(child.Data)
		}
	}
	return text.String()
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// A field is one of a form.
type field struct{ kind, name, value string }

// fields are those of a page in main, buttons too.
func (s shownPage) fields() (fields []field) {
	for node := range s.tree().Descendants() {
		switch node.DataAtom {
		case atom.Input:
			fields = append(fields, field{attribute(node, "type"), attribute(node, "name"), attribute(node, "value")})
		case atom.Textarea:
			fields = append(fields, field{"textarea", attribute(node, "name"), inner(node)})
		case atom.Button:
			fields = append(fields, field{"button", attribute(node, "name"), attribute(node, "value")})
		}
	}
	return fields
}

// has says whether a page has a field with a name and a value.
func (s shownPage) has(name, value string) bool {
	for _, f := range s.fields() {
		if f.name == name && f.value == value {
			return true
		}
	}
	return false
}

// somebody says what a patient answers: the one choice of each that is wanted, in the
// order of preference, and the words about what is the matter.
type somebody struct {
	choices []string
	words   string
}

// healthy denies all but what is said in words.
func healthy(words string) somebody {
	return somebody{[]string{"absent", "-none", "female", "same", "better"}, words}
}

// answer fills in the form of a question.
func (b somebody) answer(s shownPage) url.Values {
	form := url.Values{"do": {"go-on"}}
	for _, f := range s.fields() {
		switch {
		case f.kind == "radio" && (form.Get(f.name) == "" || b.prefers(f.value, form.Get(f.name))):
			form.Set(f.name, f.value)
		case f.kind == "" && f.name == "answer":
			form.Set("answer", "34")
		case f.kind == "textarea" && f.name == "answer":
			form.Set("answer", b.words)
		case f.kind == "textarea" && f.name == "words" && !s.has("understood", b.words):
			form.Set("words", b.words)
		case f.kind == "checkbox" && s.has("understood", b.words):
			form.Add("answer", f.value)
		}
	}
	if (len(form) == 1 || s.status == http.StatusUnprocessableEntity) && s.has("do", "skip") {
		form.Set("do", "skip")
	}
	return form
}

func (b somebody) prefers(one, other string) bool {
	for _, choice := range b.choices {
		if one == choice || other == choice {
			return one == choice
		}
	}
	return false
}

// walk answers from a question on, until it comes to a page that is none, or as far as
// whoever watches the pages wants. It follows where it is sent.
func (v *visitor) walk(b somebody, from string, watch func(shownPage) (goOn bool)) shownPage {
	v.t.Helper()
	page := v.get(from)
	for range 200 {
		switch {
		case page.status == http.StatusSeeOther:
			page = v.get(page.to)
		case !watch(page) || !strings.Contains(page.path, "/questions/") || page.status != http.StatusOK && page.status != http.StatusUnprocessableEntity:
			return page
		case strings.Contains(page.body, `class="page-alarm"`):
			page = v.get(strings.TrimSuffix(page.path, "?seen") + "?seen")
		default:
			page = v.post(strings.TrimSuffix(page.path, "?seen"), b.answer(page))
		}
	}
	v.t.Fatal("it asks without end")
	return page
}

// all watches a walk to its end.
func all(shownPage) bool { return true }
