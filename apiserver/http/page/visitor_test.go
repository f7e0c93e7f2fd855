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

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A visitor is a user with a browser without JavaScript.
type visitor struct {
	t       testing.TB
	address string
	survey  string // path of the survey; empty for none
	browser *http.Client
}

// A pageResponse is a response to a browser.
type pageResponse struct {
	status       int
	header       http.Header
	body         string
	path         string // requested URL
	location     string // redirect target; empty for none
	wireBytes    int    // body bytes in transit
	isCompressed bool
}

// openMagicLink returns a visitor who opened the magic link of a survey.
func (c *fixture) openMagicLink(s record.Survey) *visitor {
	c.t.Helper()
	v := c.newVisitor()
	link, err := url.Parse(c.magicLink(s))
	c.must(err)
	v.survey = "/survey/" + s.ID
	v.post(v.survey, url.Values{"code": {link.Query().Get("magicCode")}}).expectRedirect(c.t, v.survey)
	return v
}

// missingMessagePattern matches the placeholder of a missing message.
var missingMessagePattern = regexp.MustCompile(`\[[a-z-]+\.[a-z0-9_.-]+]`)

func (c *fixture) newVisitor() *visitor {
	return &visitor{t: c.t, address: c.address, browser: c.newBrowser()}
}

func (v *visitor) get(path string, headers ...string) pageResponse {
	v.t.Helper()
	return v.send(http.MethodGet, path, nil, headers...)
}

func (v *visitor) post(path string, form url.Values, headers ...string) pageResponse {
	v.t.Helper()
	return v.send(http.MethodPost, path, form, headers...)
}

// send requests a page; headers are pairs of name and value.
func (v *visitor) send(method, path string, form url.Values, headers ...string) pageResponse {
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
	if id := missingMessagePattern.FindString(string(body)); id != "" {
		v.t.Errorf("%s has no words for %s", path, id)
	}
	return pageResponse{
		status: response.StatusCode, header: response.Header, body: string(body), path: path, location: response.Header.Get("Location"),
		wireBytes: len(body), isCompressed: response.Header.Get("Content-Encoding") == "gzip",
	}
}

// expectRedirect checks that the response is a redirect.
func (s pageResponse) expectRedirect(t testing.TB, path string) {
	t.Helper()
	if s.status != http.StatusSeeOther || s.location != path {
		t.Fatalf("%s: answered %d to %q, want to be sent to %s\n%.2000s", s.path, s.status, s.location, path, s.text())
	}
}

// expect checks the status and some texts of a page.
func (s pageResponse) expect(t testing.TB, status int, texts ...string) {
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

// tree returns the parsed page.
func (s pageResponse) tree() *html.Node {
	root, err := html.Parse(strings.NewReader(s.body))
	if err != nil {
		panic(err) // only if the reader fails
	}
	return root
}

// text returns the text of a page without its styles.
func (s pageResponse) text() string {
	var text strings.Builder
	for node := range s.tree().Descendants() {
		if node.Type == html.TextNode && node.Parent.DataAtom != atom.Style {
			text.WriteString(strings.Join(strings.Fields(node.Data), " ") + " ")
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// heading returns the heading of a page.
func (s pageResponse) heading() string {
	for node := range s.tree().Descendants() {
		if node.DataAtom == atom.H1 {
			return pageResponse{body: "<p>" + innerText(node)}.text()
		}
	}
	return ""
}

func innerText(node *html.Node) string {
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

// A formField is a field of a form.
type formField struct{ kind, name, value string }

// fields returns the form fields of a page in main, including buttons.
func (s pageResponse) fields() (fields []formField) {
	for node := range s.tree().Descendants() {
		switch node.DataAtom {
		case atom.Input:
			fields = append(fields, formField{attribute(node, "type"), attribute(node, "name"), attribute(node, "value")})
		case atom.Textarea:
			fields = append(fields, formField{"textarea", attribute(node, "name"), innerText(node)})
		case atom.Button:
			fields = append(fields, formField{"button", attribute(node, "name"), attribute(node, "value")})
		}
	}
	return fields
}

// hasField reports whether a page has a field with a name and a value.
func (s pageResponse) hasField(name, value string) bool {
	for _, f := range s.fields() {
		if f.name == name && f.value == value {
			return true
		}
	}
	return false
}

// answerPolicy determines a patient's answers: the preferred choices in order, and the free text of
// the complaint.
type answerPolicy struct {
	choices  []string
	freeText string
}

// healthyPatient denies everything except the free text.
func healthyPatient(words string) answerPolicy {
	return answerPolicy{[]string{"absent", "-none", "female", "same", "better"}, words}
}

// answer fills in the form of a question.
func (b answerPolicy) answer(s pageResponse) url.Values {
	form := url.Values{"do": {"go-on"}}
	for _, f := range s.fields() {
		switch {
		case f.kind == "radio" && (form.Get(f.name) == "" || b.prefers(f.value, form.Get(f.name))):
			form.Set(f.name, f.value)
		case f.kind == "" && f.name == "answer":
			form.Set("answer", "34")
		case f.kind == "textarea" && f.name == "answer":
			form.Set("answer", b.freeText)
		case f.kind == "textarea" && f.name == "words" && !s.hasField("understood", b.freeText):
			form.Set("words", b.freeText)
		case f.kind == "checkbox" && s.hasField("understood", b.freeText):
			form.Add("answer", f.value)
		}
	}
	if (len(form) == 1 || s.status == http.StatusUnprocessableEntity) && s.hasField("do", "skip") {
		form.Set("do", "skip")
	}
	return form
}

func (b answerPolicy) prefers(one, other string) bool {
	for _, choice := range b.choices {
		if one == choice || other == choice {
			return one == choice
		}
	}
	return false
}

// completeSurvey answers from a question on, until a page is not a question or the callback stops
// it. It follows redirects.
func (v *visitor) completeSurvey(b answerPolicy, from string, watch func(pageResponse) (goOn bool)) pageResponse {
	v.t.Helper()
	page := v.get(from)
	for range 200 {
		switch {
		case page.status == http.StatusSeeOther:
			page = v.get(page.location)
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

// continueToEnd is a callback that never stops.
func continueToEnd(pageResponse) bool { return true }
