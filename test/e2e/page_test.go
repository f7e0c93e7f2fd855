// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// TestPatientPageSurvivesPodRestart completes a triage through a magic link in a real
// browser while the only pod is killed twice. An open page, and the link on another
// device, must continue at the current question.
func TestPatientPageSurvivesPodRestart(t *testing.T) {
	t.Parallel()
	n := createReadyInstance(t, newNamespace(t, "page"), "clinic", embeddedSpec())
	api := n.newAPIClient("http/1.1")
	survey, link := api.mustCreateMagicLink(t)
	v := n.newPageSession(link)
	v.open()
	answers := 0
	for ; !strings.HasSuffix(v.tab.URL(), "/result"); answers++ {
		switch answers {
		case answersBetweenKills / 2:
			v.restartPod(v.tab.Reload)
		case answersBetweenKills:
			v.restartPod(func() {
				v.tab = n.newTab()
				v.open()
			})
		case 100:
			t.Fatalf("survey did not end; last page: %s", v.tab.URL())
		}
		v.answer()
	}
	v.tab.Screenshot("result after pods were killed")
	level := v.tab.Text(`main [class*="level-"]`)
	summary, err := api.Guidance.GetSummary(t.Context(), survey.ID)
	if err != nil || summary.Survey.Status != guidance.SurveyStatusCompleted || len(summary.Questions) < answersBetweenKills || level == "" {
		t.Errorf("after %d pages: got survey status %+v, %d answers, error %v, page text %q", answers, summary.Survey.Status, len(summary.Questions), err, level)
	}
}

// mustCreateMagicLink creates a triage survey for a new patient and returns it with its
// magic link.
func (c apiClient) mustCreateMagicLink(t *testing.T) (survey guidance.Survey, link string) {
	t.Helper()
	patient, err := c.Guidance.CreatePatient(t.Context(), guidance.NewPatient{UserID: new(c.mustCreateUser(t))})
	if err != nil {
		t.Fatal(err)
	}
	survey, err = c.Guidance.CreateSurvey(t.Context(), nil, guidance.NewSurvey{Type: new("triage"), PatientID: new(patient.ID.String())})
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Guidance.GetMagicLink(t.Context(), survey.ID)
	if err != nil {
		t.Fatal(err)
	}
	return survey, made.MagicLink
}

// A pageSession is a patient's session in a mobile browser.
type pageSession struct {
	tenant tenant
	link   string // rewritten to the relay's address
	tab    *browser.Tab
}

// newPageSession returns the session of a patient who received a link.
func (tn tenant) newPageSession(link string) *pageSession {
	tn.t.Helper()
	to, err := url.Parse(link)
	if err != nil {
		tn.t.Fatal(err)
	}
	to.Host = tn.relay()
	return &pageSession{tn, to.String(), tn.newTab()}
}

// newTab opens a mobile browser tab without cookies. It ignores certificate errors,
// because the tests of other clients verify the Instance's certificate.
func (tn tenant) newTab() *browser.Tab {
	tn.t.Helper()
	return browser.Open(tn.t, browser.Options{Mobile: true, IgnoreCertificateErrors: true})
}

// open follows the link to the current question. A survey without answers shows an
// introduction first.
func (s *pageSession) open() {
	s.tenant.t.Helper()
	s.tab.Go(s.link)
	s.clickAndWait("main form button")
	if !strings.Contains(s.path(), "/questions/") {
		s.clickAndWait("main a.button")
	}
}

// restartPod kills the pod, waits for its replacement, calls comeBack, and checks that
// the page shows the same question as before.
func (s *pageSession) restartPod(comeBack func()) {
	s.tenant.t.Helper()
	type view struct{ path, asks string }
	look := func() view { return view{s.path(), s.tab.Text("h1")} }
	before := look()
	s.tenant.killPods()
	s.waitForServer()
	comeBack()
	if after := look(); after != before {
		s.tenant.t.Errorf("got page %[2]v after the restart, want %[1]v", before, after)
	}
}

// path returns the path of the current page.
func (s *pageSession) path() string {
	s.tenant.t.Helper()
	at, err := url.Parse(s.tab.URL())
	if err != nil {
		s.tenant.t.Fatal(err)
	}
	return at.Path
}

func (s *pageSession) waitForServer() {
	s.tenant.t.Helper()
	to, err := url.Parse(s.link)
	if err != nil {
		s.tenant.t.Fatal(err)
	}
	caller := s.tenant.newCaller(to.Host)
	NewWithT(s.tenant.t).Eventually(func() error {
		ctx, cancel := context.WithTimeout(s.tenant.t.Context(), 20*time.Second)
		defer cancel()
		_, err := caller.send(ctx, http.MethodGet, "/survey", nil, func(*http.Request) {})
		return err
	}, defaultTimeout, "500ms").Should(Succeed())
}

// answer answers the current question, or continues past an alarm page.
func (s *pageSession) answer() {
	s.tenant.t.Helper()
	const goOn, skip = "main .actions button[value=go-on]", "main .actions button[value=skip]"
	switch {
	case !s.tab.Exists(goOn):
		s.clickAndWait(`main a[href*="/questions/"]`)
	case s.tab.Exists("#words") && !s.tab.Exists(skip):
		s.tab.Fill("#words", "I have a headache")
		s.clickAndWait("button[value=understand]")
		s.tab.WaitVisible("#chosen input:checked")
		s.clickAndWait(goOn)
	case s.tab.Exists(skip):
		s.clickAndWait(skip)
	case s.tab.Exists("input.number"):
		s.tab.Fill("#answer", "34")
		s.clickAndWait(goOn)
	default:
		s.chooseAnswer()
		s.clickAndWait(goOn)
	}
}

// chooseAnswer selects "absent" in each group of radio buttons that has it, and the
// first option in the others.
func (s *pageSession) chooseAnswer() {
	s.tenant.t.Helper()
	for _, id := range browser.Evaluate[[]string](s.tab, `
		Object.values(Object.groupBy(document.querySelectorAll("main input[type=radio]"), (radio) => radio.name))
			.map((radios) => (radios.find((radio) => radio.value === "absent") ?? radios[0]).id)`) {
		s.tab.Click(`label[for="` + id + `"]`)
	}
}

// clickAndWait clicks an element and waits until the page's script or the browser has
// replaced the page content.
func (s *pageSession) clickAndWait(selector string) {
	s.tenant.t.Helper()
	browser.Evaluate[bool](s.tab, `document.getElementById("main").dataset.old = "", true`)
	s.tab.Click(selector)
	s.tab.WaitVisible("#main:not([data-old])")
}
