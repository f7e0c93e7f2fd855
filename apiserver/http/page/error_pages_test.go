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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// handlerWith returns the pages of a fixture with edited options.
func (f *fixture) handlerWith(edit func(*page.Options)) http.Handler {
	f.t.Helper()
	content, err := page.ReadContent()
	f.must(err)
	options := page.Options{
		Surveys: f.surveys, Users: f.users, Sessions: f.sessions, Content: content, Theme: f.theme.Load, Now: f.now,
		Limiter: limiter.New(limiter.LimitsForMemory(0, 2), func(limiter.Reason) {}), Log: slog.New(slog.NewTextHandler(&f.log, nil)), Throttle: throttle.New(f.now),
	}
	edit(&options)
	return page.New(options)
}

// requestPage returns a handler's response to a request with a session.
func requestPage(handler http.Handler, method, path, token string) pageResponse {
	request := httptest.NewRequest(method, path, nil)
	request.AddCookie(&http.Cookie{Name: "anamnesis-session", Value: token})
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return pageResponse{status: recorder.Code, header: recorder.Header(), body: recorder.Body.String(), path: path}
}

func TestErrorPages(t *testing.T) {
	t.Parallel()
	v := newFixture(t).newVisitor()
	for _, path := range []string{"/survey/demo/x", "/survey/a/b", "/survey/a/questions", "/else", "/survey/assets/logo/none", "/survey/a/sign-out"} {
		v.get(path).expect(t, http.StatusNotFound, "This page does not exist")
	}
	shown := v.send(http.MethodDelete, "/survey", nil)
	if shown.status != http.StatusMethodNotAllowed || shown.header.Get("Allow") == "" {
		t.Errorf("DELETE: got status %d, header %v", shown.status, shown.header)
	}
}

// TestOverloadPage checks that an overloaded server shows a page with the emergency number.
func TestOverloadPage(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	full := c.handlerWith(func(o *page.Options) { o.Limiter = limiter.New(limiter.Limits{}, func(limiter.Reason) {}) })
	for _, path := range []string{"/survey", "/survey/a", "/survey/a/questions/0"} {
		shown := requestPage(full, http.MethodGet, path, "")
		shown.expect(t, http.StatusServiceUnavailable, "Please try again in a moment", "Call 112 now")
		if shown.header.Get("Retry-After") == "" {
			t.Errorf("%s: missing Retry-After", path)
		}
	}
	requestPage(full, http.MethodGet, "/", "").expect(t, http.StatusOK)
}

// failingSurveys is a survey service that fails.
type failingSurveys struct {
	*service.Service
	err error
}

func (f failingSurveys) View(context.Context, identity.Principal, string) (flow.View, error) {
	return flow.View{}, f.err
}

// TestInternalErrorPages checks that a server fault yields a page with the request ID and one
// log line.
func TestInternalErrorPages(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{})
	token, err := c.sessions.IssueSession(sessionForSurvey(c, made), c.now().AddDate(0, 0, 1))
	c.must(err)
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{errors.New("disk failure"), http.StatusInternalServerError, "Something went wrong"},
		{record.ErrNotFound, http.StatusNotFound, "This page does not exist"},
		{limiter.ErrBusy, http.StatusServiceUnavailable, "Please try again in a moment"},
		{record.ErrNotOpen, http.StatusServiceUnavailable, "Please try again in a moment"},
		{record.ErrConflict, http.StatusServiceUnavailable, "Please try again in a moment"},
		{context.Canceled, http.StatusServiceUnavailable, "Please try again in a moment"},
	} {
		broken := c.handlerWith(func(o *page.Options) { o.Surveys = failingSurveys{c.surveys, test.err} })
		requestPage(broken, http.MethodGet, "/survey/"+made.ID+"/questions/0", token).expect(t, test.status, test.says)
	}
	if lines := strings.Count(c.log.String(), "failed to handle page request"); lines != 1 {
		t.Errorf("got %d log lines for server faults:\n%s", lines, c.log.String())
	}
}

// sessionForSurvey returns a session of the survey's user.
func sessionForSurvey(c *fixture, s record.Survey) identity.Session {
	c.t.Helper()
	patient, err := c.users.GetPatient(context.Background(), portalActor, s.PatientID)
	c.must(err)
	return identity.Session{UserID: patient.UserID, SurveyID: s.ID}
}

// TestPatientDataIsNotLogged checks that patient identifiers and input never appear in the
// log.
func TestPatientDataIsNotLogged(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	contact := record.Contact{Email: "ada.lovelace@portal.example", Phone: "+493012345678"}
	made := c.createSurvey(surveySpec{Contact: contact, Type: "intake"})
	link := mustParse(t, c.magicLink(made))
	code := link.Query().Get("magicCode")
	v, path := c.newVisitor(), "/survey/"+made.ID
	v.get(link.RequestURI()).expect(t, http.StatusOK)
	v.post(path, url.Values{"code": {code + "x"}}).expect(t, http.StatusUnauthorized)
	v.post(path, url.Values{"code": {code}}).expectRedirect(t, path)
	v.get(path + "/questions/0?zebra=1")
	v.post(path+"/questions/0", singleAnswer("zebra")).expect(t, http.StatusUnprocessableEntity)
	v.completeSurvey(healthyPatient("zebra headache"), path+"/questions/0", continueToEnd).expect(t, http.StatusOK)
	v.get(path+"/articles/zebra").expect(t, http.StatusNotFound)
	v.get("/survey/zebra/zebra").expect(t, http.StatusNotFound)
	v.post("/survey", url.Values{"contact": {contact.Email}}).expect(t, http.StatusOK)
	sent := c.lastSentCode()
	v.post("/survey", url.Values{"contact": {contact.Email}, "code": {wrongCode(sent)}}).expect(t, http.StatusUnprocessableEntity)
	v.post("/survey", url.Values{"contact": {contact.Email}, "code": {sent}}).expectRedirect(t, "/survey")
	cookies := v.browser.Jar.Cookies(mustParse(t, c.address+path))
	log := c.log.String()
	secrets := []string{made.ID, made.PatientID, sessionForSurvey(c, made).UserID, code, sent, "lovelace", "3012345678", "zebra", "magicCode"}
	for _, cookie := range cookies {
		secrets = append(secrets, cookie.Value)
	}
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("log reveals %.20q", secret)
		}
	}
	for _, endpoint := range []string{`"POST /survey"`, `"GET /survey/{survey}"`, `"POST /survey/{survey}/questions/{index}"`, `"GET /survey/{survey}/result"`} {
		if !strings.Contains(log, "endpoint="+endpoint) {
			t.Errorf("endpoint %s not found in the log", endpoint)
		}
	}
	if len(cookies) != 2 || strings.Count(log, `msg="handled request"`) < 20 {
		t.Errorf("got log with %d cookies\n%s", len(cookies), log)
	}
}
