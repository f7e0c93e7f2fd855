// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/net/html"

	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// TestPatientsPageSurvivesThePod has a patient open a magic link and answer a whole triage
// in a browser without a script, whose only pod is killed on the way: the same page, asked
// for again, goes on where it was.
func TestPatientsPageSurvivesThePod(t *testing.T) {
	t.Parallel()
	n := apply(t, newNamespace(t, "page"), "clinic", embedded())
	api := n.dial("http/1.1")
	patient, err := api.Guidance.CreatePatient(t.Context(), guidance.NewPatient{UserID: new(api.mustCreateUser(t))})
	if err != nil {
		t.Fatal(err)
	}
	made, err := api.Guidance.CreateSurvey(t.Context(), nil, guidance.NewSurvey{Type: new("triage"), PatientID: new(patient.ID.String())})
	if err != nil {
		t.Fatal(err)
	}
	link, err := api.Guidance.GetMagicLink(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	v := n.newVisitor()
	at := v.open(v.path(link.MagicLink))
	at = v.send(at.forms()[0], nil)
	at = v.open(at.link("/questions/"))
	answers := 0
	for ; !strings.HasSuffix(at.path, "/result"); answers++ {
		if answers == answersBetweenKills/2 || answers == answersBetweenKills {
			n.killPods()
		}
		if answers > 100 {
			t.Fatalf("there is no end to the questions; the last is %s", at.path)
		}
		at = v.answer(at)
	}
	summary, err := api.Guidance.GetSummary(t.Context(), made.ID)
	if err != nil || len(summary.Questions) < answersBetweenKills || !strings.Contains(at.text, "level-") {
		t.Errorf("after %d pages %d answers are summed up, %v; the page says %s", answers, len(summary.Questions), err, at.text)
	}
}

// A visitor is a patient before a browser without a script.
type visitor struct {
	n      tenant
	client *http.Client
}

func (n tenant) newVisitor() *visitor {
	n.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(n.secret(n.key.Name+"-serving-tls", "ca.crt"))) {
		n.t.Fatal("the Instance has no authority")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		n.t.Fatal(err)
	}
	transport := newTransport(n.relay(), &tls.Config{RootCAs: authorities, ServerName: n.host()}, "http/1.1")
	n.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{n, &http.Client{Transport: transport, Jar: jar, Timeout: 20 * time.Second}}
}

// path is that of an address, with what is asked for.
func (v *visitor) path(address string) string {
	v.n.t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		v.n.t.Fatal(err)
	}
	return parsed.RequestURI()
}

func (v *visitor) open(path string) sheet { return v.load(http.MethodGet, path, nil) }

// send sends a form with what is filled in beside what it holds.
func (v *visitor) send(f form, filled url.Values) sheet {
	for name, value := range f.hidden {
		if !filled.Has(name) {
			if filled == nil {
				filled = url.Values{}
			}
			filled.Set(name, value)
		}
	}
	return v.load(http.MethodPost, f.action, filled)
}

// load asks for a page until it comes, as somebody on a bad line does: to send an answer
// again changes nothing.
func (v *visitor) load(method, path string, filled url.Values) (at sheet) {
	v.n.t.Helper()
	NewWithT(v.n.t).Eventually(func() error {
		request, err := http.NewRequestWithContext(v.n.t.Context(), method, "https://"+v.n.host()+path, strings.NewReader(filled.Encode()))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Accept-Language", "en")
		response, err := v.client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s %s: answered %s", method, path, response.Status)
		}
		at, err = read(response)
		return err
	}, patience, "500ms").Should(Succeed())
	return at
}

// answer answers the question of a page; after an alarm it goes on.
func (v *visitor) answer(at sheet) sheet {
	v.n.t.Helper()
	forms := at.forms()
	if len(forms) == 0 {
		return v.open(at.link("/questions/"))
	}
	filled := url.Values{}
	switch f := forms[0]; {
	case slices.Contains(f.names, "words"):
		filled.Set("answer", "s_21")
	case slices.Contains(f.texts, "answer") && !f.skips:
		filled.Set("answer", "34")
	case f.skips:
		filled.Set("do", "skip")
	default:
		for name, values := range f.radios {
			filled.Set(name, values[0])
			if slices.Contains(values, "absent") {
				filled.Set(name, "absent")
			}
		}
	}
	return v.send(forms[0], filled)
}

// A sheet is a page that was loaded.
type sheet struct {
	path, text string
	main       *html.Node
}

func read(response *http.Response) (sheet, error) {
	document, err := html.Parse(response.Body)
	if err != nil {
		return sheet{}, err
	}
	at := sheet{path: response.Request.URL.Path}
	for node := range document.Descendants() {
		if node.Data == "main" {
			at.main = node
		}
	}
	if at.main == nil {
		return sheet{}, fmt.Errorf("%s has no main part", at.path)
	}
	var text strings.Builder
	err = html.Render(&text, at.main)
	at.text = text.String()
	return at, err
}

// link is where the first link leads whose address contains a text, and that is no other
// page's way back.
func (s sheet) link(part string) string {
	for node := range s.main.Descendants() {
		if to := attribute(node, "href"); node.Data == "a" && strings.Contains(to, part) {
			return to
		}
	}
	return ""
}

// A form is what can be filled in.
type form struct {
	action string
	hidden map[string]string
	radios map[string][]string
	texts  []string // names of fields to type into
	names  []string // of all
	skips  bool     // whether it may be left out
}

func (s sheet) forms() []form {
	var forms []form
	for node := range s.main.Descendants() {
		if node.Data == "form" {
			forms = append(forms, readForm(node))
		}
	}
	return forms
}

func readForm(node *html.Node) form {
	f := form{action: attribute(node, "action"), hidden: map[string]string{}, radios: map[string][]string{}}
	for field := range node.Descendants() {
		name, value := attribute(field, "name"), attribute(field, "value")
		if name == "" {
			continue
		}
		f.names = append(f.names, name)
		switch kind := attribute(field, "type"); {
		case field.Data == "button":
			f.skips = f.skips || value == "skip"
		case kind == "hidden":
			f.hidden[name] = value
		case kind == "radio":
			f.radios[name] = append(f.radios[name], value)
		case kind == "" || field.Data == "textarea":
			f.texts = append(f.texts, name)
		}
	}
	return f
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
