// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// Whoever follows a magic link to see what is there, as mail scanners do, uses nothing up.
func TestLinkIsNotExchangedByLooking(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{})
	link, err := url.Parse(c.link(made))
	c.must(err)
	scanner, path := c.visitor(), "/survey/"+made.ID
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodGet} {
		if shown := scanner.send(method, link.RequestURI(), nil); shown.header.Get("Set-Cookie") != "" {
			t.Errorf("%s gives the cookie %s", method, shown.header.Get("Set-Cookie"))
		}
	}
	scanner.get(path).is(t, http.StatusUnauthorized, "You cannot open this page")
	v := c.visitor()
	v.post(path, url.Values{"code": {link.Query().Get("magicCode")}}).leadsTo(t, path)
	v.get(path).is(t, http.StatusOK, "How urgent is it?")
}

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{})
	link, err := url.Parse(c.link(made))
	c.must(err)
	path := "/survey/" + made.ID
	shown := c.visitor().post(path, url.Values{"code": {link.Query().Get("magicCode")}})
	shown.leadsTo(t, path)
	cookies := (&http.Response{Header: shown.header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("got the cookies %v", cookies)
	}
	got := cookies[0]
	if got.Path != path || !got.HttpOnly || !got.Secure || got.SameSite != http.SameSiteLaxMode || got.Domain != "" || !got.Expires.IsZero() {
		t.Errorf("got %s", shown.header.Get("Set-Cookie"))
	}
	if shown.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a cookie may be kept by caches: %v", shown.header)
	}
}

func TestWrongCodes(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made, other := c.survey(wish{}), c.survey(wish{})
	link, err := url.Parse(c.link(other))
	c.must(err)
	path := "/survey/" + made.ID
	for _, code := range []string{"", "x", strings.Repeat("A", 60_000), link.Query().Get("magicCode")} {
		shown := c.visitor().post(path, url.Values{"code": {code}})
		shown.is(t, http.StatusUnauthorized, "You cannot open this page", "Or sign in with a code")
		if shown.header.Get("Set-Cookie") != "" {
			t.Errorf("%.20q gives a cookie", code)
		}
	}
}

// A session at one survey opens no other, whatever the browser sends.
func TestSessionIsOfOneSurvey(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v, other := c.opened(c.survey(wish{})), c.survey(wish{})
	cookies := v.browser.Jar.Cookies(mustParse(t, c.address+v.survey))
	if len(cookies) != 1 {
		t.Fatalf("the browser has %v", cookies)
	}
	path := "/survey/" + other.ID
	for _, page := range []string{"", "/questions/0", "/why", "/emergency", "/answers", "/result", "/articles/c_1"} {
		v.get(path+page, "Cookie", cookies[0].String()).is(t, http.StatusUnauthorized)
		v.get(path+page).is(t, http.StatusUnauthorized)
	}
	v.post(path+"/questions/0", url.Values{"answer": {"female"}}, "Cookie", cookies[0].String()).is(t, http.StatusUnauthorized)
	v.get("/survey", "Cookie", cookies[0].String()).is(t, http.StatusOK, "Sign in with a code")
	v.get(v.survey).is(t, http.StatusOK)
}

func mustParse(t testing.TB, address string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{}))
	v.get(v.survey).is(t, http.StatusOK, "Leave this page")
	v.post("/survey/sign-out", url.Values{"survey": {strings.TrimPrefix(v.survey, "/survey/")}}).is(t, http.StatusOK, "You have left", "Your answers are kept")
	v.get(v.survey).is(t, http.StatusUnauthorized)
	for _, id := range []string{"a/../..", "A;Path=/", "a\r\nSet-Cookie: b=c", strings.Repeat("a", 65), ""} {
		if got := v.post("/survey/sign-out", url.Values{"survey": {id}}).header.Values("Set-Cookie"); len(got) != 1 {
			t.Errorf("%.30q ends the sessions %q", id, got)
		}
	}
}

// A session ends with its survey; what was answered then stays.
func TestExpiredSurvey(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	first := c.survey(wish{})
	made, err := c.surveys.Create(context.Background(), portal, surveys.NewSurvey{
		PatientID: first.PatientID, Language: "en-US", Creation: survey.Creation{Type: "intake", ExpirationDate: c.now().Add(time.Hour)},
	})
	c.must(err)
	v := c.opened(made)
	question := v.get(v.survey + "/questions/0")
	question.is(t, http.StatusOK)
	c.skew.Store(int64(59 * time.Minute))
	v.post(v.survey+"/questions/0", url.Values{"answer": {"female"}}).leadsTo(t, v.survey+"/questions/1")
	patient, err := c.people.Patient(context.Background(), portal, made.PatientID)
	c.must(err)
	token, err := c.sessions.IssueOwnSession(patient.UserID) // which lasts longer
	c.must(err)
	c.skew.Store(int64(61 * time.Minute))
	v.post(v.survey+"/questions/1", url.Values{"answer": {"34"}}).is(t, http.StatusUnauthorized, "You cannot open this page")
	v.post(v.survey+"/questions/1", url.Values{"answer": {"34"}}, "Cookie", "anamnesis-session="+token, "Accept-Language", "en-US").
		is(t, http.StatusConflict, "These questions are closed", made.ExpirationDate.UTC().Format("January 2, 2006"))
}

// What another web page has a browser send is not taken.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{})
	link, err := url.Parse(c.link(made))
	c.must(err)
	v := c.opened(c.survey(wish{}))
	for path, form := range map[string]url.Values{
		"/survey/" + made.ID:      {"code": {link.Query().Get("magicCode")}},
		"/survey":                 {"contact": {"ada@portal.example"}},
		"/survey/sign-out":        {"survey": {strings.TrimPrefix(v.survey, "/survey/")}},
		v.survey + "/questions/0": {"answer": {"female"}},
	} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://elsewhere.example"}} {
			shown := v.post(path, form, headers...)
			shown.is(t, http.StatusForbidden, "This came from another web page")
			if shown.header.Get("Set-Cookie") != "" {
				t.Errorf("%s from %v gives a cookie", path, headers)
			}
		}
	}
	select {
	case sent := <-c.sent:
		t.Errorf("a code was sent to %v", sent.To)
	default:
	}
	v.get(v.survey+"/questions/1").leadsTo(t, v.survey+"/questions/0") // nothing was answered
	v.post(v.survey+"/questions/0", url.Values{"answer": {"female"}}, "Sec-Fetch-Site", "same-origin", "Origin", c.address).leadsTo(t, v.survey+"/questions/1")
}
