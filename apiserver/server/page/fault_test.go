// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// pagesWith are the pages of a clinic with some options of their own.
func (c *clinic) pagesWith(edit func(*page.Options)) http.Handler {
	c.t.Helper()
	content, err := page.ReadContent()
	c.must(err)
	options := page.Options{
		Surveys: c.surveys, People: c.people, Sessions: c.sessions, Content: content, Look: c.look.Load, Now: c.now,
		Guard: guard.New(guard.LimitsFor(0, 2), func(guard.Reason) {}), Log: slog.New(slog.NewTextHandler(&c.log, nil)), Throttle: throttle.New(c.now),
	}
	edit(&options)
	return page.New(options)
}

// asked is what a handler answers to somebody with a session.
func asked(handler http.Handler, method, path, token string) shownPage {
	request := httptest.NewRequest(method, path, nil)
	request.AddCookie(&http.Cookie{Name: "anamnesis-session", Value: token})
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return shownPage{status: recorder.Code, header: recorder.Header(), body: recorder.Body.String(), path: path}
}

func TestErrorPages(t *testing.T) {
	t.Parallel()
	v := newClinic(t).visitor()
	for _, path := range []string{"/survey/demo/x", "/survey/a/b", "/survey/a/questions", "/else", "/survey/assets/logo/none", "/survey/a/sign-out"} {
		v.get(path).is(t, http.StatusNotFound, "This page does not exist")
	}
	shown := v.send(http.MethodDelete, "/survey", nil)
	if shown.status != http.StatusMethodNotAllowed || shown.header.Get("Allow") == "" {
		t.Errorf("DELETE is answered %d, %v", shown.status, shown.header)
	}
}

// A server that is full says so in words, with the number to call.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	full := c.pagesWith(func(o *page.Options) { o.Guard = guard.New(guard.Limits{}, func(guard.Reason) {}) })
	for _, path := range []string{"/survey", "/survey/a", "/survey/a/questions/0"} {
		shown := asked(full, http.MethodGet, path, "")
		shown.is(t, http.StatusServiceUnavailable, "Please try again in a moment", "Call 112 now")
		if shown.header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come back", path)
		}
	}
	asked(full, http.MethodGet, "/", "").is(t, http.StatusOK)
}

// failing surveys are those of a server that something is wrong with.
type failing struct {
	*surveys.Register
	err error
}

func (f failing) See(context.Context, audit.Actor, string) (survey.Sight, error) {
	return survey.Sight{}, f.err
}

// What nobody can help is a page with the number of the call, and one line in the log.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{})
	token, err := c.sessions.IssueSession(sessionAt(c, made), c.now().AddDate(0, 0, 1))
	c.must(err)
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{errors.New("the disk is gone"), http.StatusInternalServerError, "Something went wrong"},
		{storage.ErrNotFound, http.StatusNotFound, "This page does not exist"},
		{guard.ErrBusy, http.StatusServiceUnavailable, "Please try again in a moment"},
		{storage.ErrNotOpen, http.StatusServiceUnavailable, "Please try again in a moment"},
		{storage.ErrContended, http.StatusServiceUnavailable, "Please try again in a moment"},
		{context.Canceled, http.StatusServiceUnavailable, "Please try again in a moment"},
	} {
		broken := c.pagesWith(func(o *page.Options) { o.Surveys = failing{c.surveys, test.err} })
		asked(broken, http.MethodGet, "/survey/"+made.ID+"/questions/0", token).is(t, test.status, test.says)
	}
	if lines := strings.Count(c.log.String(), "a page of a patient failed"); lines != 1 {
		t.Errorf("the log has %d lines about faults:\n%s", lines, c.log.String())
	}
}

// sessionAt is that of the user of a survey.
func sessionAt(c *clinic, s guidance.Survey) identity.Session {
	c.t.Helper()
	patient, err := c.people.Patient(context.Background(), portal, s.PatientID)
	c.must(err)
	return identity.Session{UserID: patient.UserID, SurveyID: s.ID}
}

// Nothing that identifies a patient, and no word of theirs, is in the log after all that
// can be done.
func TestLogSaysNothingOfPatients(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	contact := guidance.Contact{Email: "ada.lovelace@portal.example", Phone: "+493012345678"}
	made := c.survey(wish{Contact: contact, Type: "intake"})
	link := mustParse(t, c.link(made))
	code := link.Query().Get("magicCode")
	v, path := c.visitor(), "/survey/"+made.ID
	v.get(link.RequestURI()).is(t, http.StatusOK)
	v.post(path, url.Values{"code": {code + "x"}}).is(t, http.StatusUnauthorized)
	v.post(path, url.Values{"code": {code}}).leadsTo(t, path)
	v.get(path + "/questions/0?zebra=1")
	v.post(path+"/questions/0", one("zebra")).is(t, http.StatusUnprocessableEntity)
	v.walk(healthy("zebra headache"), path+"/questions/0", all).is(t, http.StatusOK)
	v.get(path+"/articles/zebra").is(t, http.StatusNotFound)
	v.get("/survey/zebra/zebra").is(t, http.StatusNotFound)
	v.post("/survey", url.Values{"contact": {contact.Email}}).is(t, http.StatusOK)
	sent := c.sentCode()
	v.post("/survey", url.Values{"contact": {contact.Email}, "code": {otherThan(sent)}}).is(t, http.StatusUnprocessableEntity)
	v.post("/survey", url.Values{"contact": {contact.Email}, "code": {sent}}).leadsTo(t, "/survey")
	cookies := v.browser.Jar.Cookies(mustParse(t, c.address+path))
	log := c.log.String()
	secrets := []string{made.ID, made.PatientID, sessionAt(c, made).UserID, code, sent, "lovelace", "3012345678", "zebra", "magicCode"}
	for _, cookie := range cookies {
		secrets = append(secrets, cookie.Value)
	}
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %.20q", secret)
		}
	}
	for _, endpoint := range []string{`"POST /survey"`, `"GET /survey/{survey}"`, `"POST /survey/{survey}/questions/{index}"`, `"GET /survey/{survey}/result"`} {
		if !strings.Contains(log, "endpoint="+endpoint) {
			t.Errorf("the log does not name the endpoint %s", endpoint)
		}
	}
	if len(cookies) != 2 || strings.Count(log, "msg=request") < 20 {
		t.Errorf("with %d cookies the log is\n%s", len(cookies), log)
	}
}
