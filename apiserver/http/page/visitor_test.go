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
func (f *fixture) openMagicLink(s record.Survey) *visitor {
	f.t.Helper()
	v := f.newVisitor()
	link, err := url.Parse(f.magicLink(s))
	f.must(err)
	v.survey = "/survey/" + s.ID
	v.post(v.survey, url.Values{"code": {link.Query().Get("magicCode")}}).expectRedirect(f.t, v.survey)
	return v
}

// missingMessagePattern matches the placeholder of a missing message.
var missingMessagePattern = regexp.MustCompile(`\[[a-z-]+\.[a-z0-9_.-]+]`)

func (f *fixture) newVisitor() *visitor {
	return &visitor{t: f.t, address: f.address, browser: f.newBrowser()}
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
		v.t.Errorf("%s: message %s not found", path, id)
	}
	return pageResponse{
		status: response.StatusCode, header: response.Header, body: string(body), path: path, location: response.Header.Get("Location"),
		wireBytes: len(body), isCompressed: response.Header.Get("Content-Encoding") == "gzip",
	}
}

// expectRedirect checks that the response is a redirect.
func (r pageResponse) expectRedirect(t testing.TB, path string) {
	t.Helper()
	if r.status != http.StatusSeeOther || r.location != path {
		t.Fatalf("%s: got status %d to %q, want a redirect to %s\n%.2000s", r.path, r.status, r.location, path, r.text())
	}
}

// expect checks the status and some texts of a page.
func (r pageResponse) expect(t testing.TB, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: got status %d, want %d\n%.2000s", r.path, r.status, status, r.text())
	}
	for _, text := range texts {
		if !strings.Contains(r.text(), text) {
			t.Errorf("%s does not contain %q\n%.2000s", r.path, text, r.text())
		}
	}
}

// tree returns the parsed page.
func (r pageResponse) tree() *html.Node {
	root, err := html.Parse(strings.NewReader(r.body))
	if err != nil {
		panic(err) // only if the reader fails
	}
	return root
}

// text returns the text of a page without its styles.
func (r pageResponse) text() string {
	var text strings.Builder
	for node := range r.tree().Descendants() {
		if node.Type == html.TextNode && node.Parent.DataAtom != atom.Style {
			text.WriteString(strings.Join(strings.Fields(node.Data), " ") + " ")
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// heading returns the heading of a page.
func (r pageResponse) heading() string {
	for node := range r.tree().Descendants() {
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
func (r pageResponse) fields() (fields []formField) {
	for node := range r.tree().Descendants() {
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
func (r pageResponse) hasField(name, value string) bool {
	for _, f := range r.fields() {
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
func (p answerPolicy) answer(s pageResponse) url.Values {
	form := url.Values{"do": {"go-on"}}
	for _, f := range s.fields() {
		switch {
		case f.kind == "radio" && (form.Get(f.name) == "" || p.prefers(f.value, form.Get(f.name))):
			form.Set(f.name, f.value)
		case f.kind == "" && f.name == "answer":
			form.Set("answer", "34")
		case f.kind == "textarea" && f.name == "answer":
			form.Set("answer", p.freeText)
		case f.kind == "textarea" && f.name == "words" && !s.hasField("understood", p.freeText):
			form.Set("words", p.freeText)
		case f.kind == "checkbox" && s.hasField("understood", p.freeText):
			form.Add("answer", f.value)
		}
	}
	if (len(form) == 1 || s.status == http.StatusUnprocessableEntity) && s.hasField("do", "skip") {
		form.Set("do", "skip")
	}
	return form
}

func (p answerPolicy) prefers(first, second string) bool {
	for _, choice := range p.choices {
		if first == choice || second == choice {
			return first == choice
		}
	}
	return false
}

// completeSurvey answers questions, starting with the given one, until a page is not a
// question or the callback stops it. It follows redirects.
func (v *visitor) completeSurvey(b answerPolicy, from string, watch func(pageResponse) (continues bool)) pageResponse {
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
	v.t.Fatal("survey does not end")
	return page
}

// continueToEnd is a callback that never stops.
func continueToEnd(pageResponse) bool { return true }
