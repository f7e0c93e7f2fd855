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
func (n tenant) newPageSession(link string) *pageSession {
	n.t.Helper()
	to, err := url.Parse(link)
	if err != nil {
		n.t.Fatal(err)
	}
	to.Host = n.relay()
	return &pageSession{n, to.String(), n.newTab()}
}

// newTab opens a mobile browser tab without cookies. It ignores certificate errors,
// because the tests of other clients verify the Instance's certificate.
func (n tenant) newTab() *browser.Tab {
	n.t.Helper()
	return browser.Open(n.t, browser.Options{Mobile: true, IgnoreCertificateErrors: true})
}

// open follows the link to the current question. A survey without answers shows an
// introduction first.
func (v *pageSession) open() {
	v.tenant.t.Helper()
	v.tab.Go(v.link)
	v.clickAndWait("main form button")
	if !strings.Contains(v.path(), "/questions/") {
		v.clickAndWait("main a.button")
	}
}

// restartPod kills the pod, waits for its replacement, calls comeBack, and checks that
// the page shows the same question as before.
func (v *pageSession) restartPod(comeBack func()) {
	v.tenant.t.Helper()
	type view struct{ path, asks string }
	look := func() view { return view{v.path(), v.tab.Text("h1")} }
	before := look()
	v.tenant.killPods()
	v.waitForServer()
	comeBack()
	if after := look(); after != before {
		v.tenant.t.Errorf("got page %[2]v after the restart, want %[1]v", before, after)
	}
}

// path returns the path of the current page.
func (v *pageSession) path() string {
	v.tenant.t.Helper()
	at, err := url.Parse(v.tab.URL())
	if err != nil {
		v.tenant.t.Fatal(err)
	}
	return at.Path
}

func (v *pageSession) waitForServer() {
	v.tenant.t.Helper()
	to, err := url.Parse(v.link)
	if err != nil {
		v.tenant.t.Fatal(err)
	}
	caller := v.tenant.newCaller(to.Host)
	NewWithT(v.tenant.t).Eventually(func() error {
		ctx, cancel := context.WithTimeout(v.tenant.t.Context(), 20*time.Second)
		defer cancel()
		_, err := caller.send(ctx, http.MethodGet, "/survey", nil, func(*http.Request) {})
		return err
	}, defaultTimeout, "500ms").Should(Succeed())
}

// answer answers the current question, or continues past an alarm page.
func (v *pageSession) answer() {
	v.tenant.t.Helper()
	const goOn, skip = "main .actions button[value=go-on]", "main .actions button[value=skip]"
	switch {
	case !v.tab.Exists(goOn):
		v.clickAndWait(`main a[href*="/questions/"]`)
	case v.tab.Exists("#words") && !v.tab.Exists(skip):
		v.tab.Fill("#words", "I have a headache")
		v.clickAndWait("button[value=understand]")
		v.tab.WaitVisible("#chosen input:checked")
		v.clickAndWait(goOn)
	case v.tab.Exists(skip):
		v.clickAndWait(skip)
	case v.tab.Exists("input.number"):
		v.tab.Fill("#answer", "34")
		v.clickAndWait(goOn)
	default:
		v.chooseAnswer()
		v.clickAndWait(goOn)
	}
}

// chooseAnswer selects "absent" in each group of radio buttons that has it, and the
// first option in the others.
func (v *pageSession) chooseAnswer() {
	v.tenant.t.Helper()
	for _, id := range browser.Evaluate[[]string](v.tab, `
		Object.values(Object.groupBy(document.querySelectorAll("main input[type=radio]"), (radio) => radio.name))
			.map((radios) => (radios.find((radio) => radio.value === "absent") ?? radios[0]).id)`) {
		v.tab.Click(`label[for="` + id + `"]`)
	}
}

// clickAndWait clicks an element and waits until the page's script or the browser has
// replaced the page content.
func (v *pageSession) clickAndWait(selector string) {
	v.tenant.t.Helper()
	browser.Evaluate[bool](v.tab, `document.getElementById("main").dataset.old = "", true`)
	v.tab.Click(selector)
	v.tab.WaitVisible("#main:not([data-old])")
}
