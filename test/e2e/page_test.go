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

	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// TestPatientsPageSurvivesThePod has a patient open a magic link in a real browser and
// answer a whole triage, while the only pod is killed twice: the page that was open goes
// on at its question, and so does the link on another device.
func TestPatientsPageSurvivesThePod(t *testing.T) {
	t.Parallel()
	n := apply(t, newNamespace(t, "page"), "clinic", embedded())
	api := n.dial("http/1.1")
	survey, link := api.mustInvite(t)
	v := n.newVisitor(link)
	v.open()
	answers := 0
	for ; !strings.HasSuffix(v.tab.URL(), "/result"); answers++ {
		switch answers {
		case answersBetweenKills / 2:
			v.restart(v.tab.Reload)
		case answersBetweenKills:
			v.restart(func() {
				v.tab = n.newTab()
				v.open()
			})
		case 100:
			t.Fatalf("there is no end to the questions; the last is %s", v.tab.URL())
		}
		v.answer()
	}
	v.tab.Screenshot("result after pods were killed")
	level := v.tab.Text(`main [class*="level-"]`)
	summary, err := api.Guidance.GetSummary(t.Context(), survey.ID)
	if err != nil || summary.Survey.Status != guidance.SurveyStatusCompleted || len(summary.Questions) < answersBetweenKills || level == "" {
		t.Errorf("after %d pages the survey is %+v with %d answers, %v; the page says %q", answers, summary.Survey.Status, len(summary.Questions), err, level)
	}
}

// mustInvite makes a triage of a new patient and the link that opens it.
func (c apiClient) mustInvite(t *testing.T) (survey guidance.Survey, link string) {
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

// A visitor is a patient with a telephone.
type visitor struct {
	n    tenant
	link string // as it is reached from here
	tab  *browser.Tab
}

// newVisitor is one who was sent a link.
func (n tenant) newVisitor(link string) *visitor {
	n.t.Helper()
	to, err := url.Parse(link)
	if err != nil {
		n.t.Fatal(err)
	}
	to.Host = n.relay()
	return &visitor{n, to.String(), n.newTab()}
}

// newTab is that of a telephone without cookies. Whether the certificate is the
// Instance's, its other clients see.
func (n tenant) newTab() *browser.Tab {
	n.t.Helper()
	return browser.Open(n.t, browser.Options{Mobile: true, AnyCertificate: true})
}

// open opens the link, which leads to the question where the survey is, and before the
// first answer to what it is about.
func (v *visitor) open() {
	v.n.t.Helper()
	v.tab.Go(v.link)
	v.follow("main form button")
	if !strings.Contains(v.path(), "/questions/") {
		v.follow("main a.button")
	}
}

// restart kills the pod, waits until another one answers, has the patient come back, and
// wants the question to be the one that was there.
func (v *visitor) restart(comeBack func()) {
	v.n.t.Helper()
	type view struct{ path, asks string }
	look := func() view { return view{v.path(), v.tab.Text("h1")} }
	before := look()
	v.n.killPods()
	v.awaitServer()
	comeBack()
	if after := look(); after != before {
		v.n.t.Errorf("the patient was at %+v and is at %+v", before, after)
	}
}

// path is that of the page, without where it is reached.
func (v *visitor) path() string {
	v.n.t.Helper()
	at, err := url.Parse(v.tab.URL())
	if err != nil {
		v.n.t.Fatal(err)
	}
	return at.Path
}

func (v *visitor) awaitServer() {
	v.n.t.Helper()
	to, err := url.Parse(v.link)
	if err != nil {
		v.n.t.Fatal(err)
	}
	caller := v.n.calls(to.Host)
	NewWithT(v.n.t).Eventually(func() error {
		ctx, cancel := context.WithTimeout(v.n.t.Context(), 20*time.Second)
		defer cancel()
		_, err := caller.send(ctx, http.MethodGet, "/survey", nil, func(*http.Request) {})
		return err
	}, patience, "500ms").Should(Succeed())
}

// answer answers the question that is there, or goes on after an alarm.
func (v *visitor) answer() {
	v.n.t.Helper()
	const goOn, skip = "main .actions button[value=go-on]", "main .actions button[value=skip]"
	switch {
	case !v.tab.Exists(goOn):
		v.follow(`main a[href*="/questions/"]`)
	case v.tab.Exists("#words") && !v.tab.Exists(skip):
		v.tab.Fill("#words", "I have a headache")
		v.follow("button[value=understand]")
		v.tab.Await("#chosen input:checked")
		v.follow(goOn)
	case v.tab.Exists(skip):
		v.follow(skip)
	case v.tab.Exists("input.number"):
		v.tab.Fill("#answer", "34")
		v.follow(goOn)
	default:
		v.choose()
		v.follow(goOn)
	}
}

// choose denies what can be denied, and else takes the first that there is.
func (v *visitor) choose() {
	v.n.t.Helper()
	for _, id := range browser.Evaluate[[]string](v.tab, `
		Object.values(Object.groupBy(document.querySelectorAll("main input[type=radio]"), (radio) => radio.name))
			.map((radios) => (radios.find((radio) => radio.value === "absent") ?? radios[0]).id)`) {
		v.tab.Click(`label[for="` + id + `"]`)
	}
}

// follow presses what leads to another page, and waits until the script of the page has
// put that in the place of this one, or the browser has.
func (v *visitor) follow(selector string) {
	v.n.t.Helper()
	browser.Evaluate[bool](v.tab, `document.getElementById("main").dataset.old = "", true`)
	v.tab.Click(selector)
	v.tab.Await("#main:not([data-old])")
}
