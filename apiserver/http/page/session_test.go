// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// TestMagicLinkSurvivesPrefetch checks that following a magic link without confirmation, like
// mail scanners, does not consume it.
func TestMagicLinkSurvivesPrefetch(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{})
	link, err := url.Parse(c.magicLink(made))
	c.must(err)
	scanner, path := c.newVisitor(), "/survey/"+made.ID
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodGet} {
		if shown := scanner.send(method, link.RequestURI(), nil); shown.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got cookie %s", method, shown.header.Get("Set-Cookie"))
		}
	}
	scanner.get(path).expect(t, http.StatusUnauthorized, "You cannot open this page")
	v := c.newVisitor()
	v.post(path, url.Values{"code": {link.Query().Get("magicCode")}}).expectRedirect(t, path)
	v.get(path).expect(t, http.StatusOK, "How soon do you need help?")
}

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{})
	link, err := url.Parse(c.magicLink(made))
	c.must(err)
	path := "/survey/" + made.ID
	shown := c.newVisitor().post(path, url.Values{"code": {link.Query().Get("magicCode")}})
	shown.expectRedirect(t, path)
	cookies := (&http.Response{Header: shown.header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("got cookies %v", cookies)
	}
	got := cookies[0]
	if got.Path != path || !got.HttpOnly || !got.Secure || got.SameSite != http.SameSiteLaxMode || got.Domain != "" || !got.Expires.IsZero() {
		t.Errorf("got %s", shown.header.Get("Set-Cookie"))
	}
	if shown.header.Get("Cache-Control") != "no-store" {
		t.Errorf("response with a cookie is cacheable: %v", shown.header)
	}
}

func TestInvalidMagicCode(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made, other := c.createSurvey(surveySpec{}), c.createSurvey(surveySpec{})
	link, err := url.Parse(c.magicLink(other))
	c.must(err)
	path := "/survey/" + made.ID
	for _, code := range []string{"", "x", strings.Repeat("A", 60_000), link.Query().Get("magicCode")} {
		shown := c.newVisitor().post(path, url.Values{"code": {code}})
		shown.expect(t, http.StatusUnauthorized, "You cannot open this page", "Or sign in with a code")
		if shown.header.Get("Set-Cookie") != "" {
			t.Errorf("code %.20q: got a cookie", code)
		}
	}
}

// TestSessionIsLimitedToOneSurvey checks that a survey session grants access to no other
// survey, regardless of what the browser sends.
func TestSessionIsLimitedToOneSurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v, other := c.openMagicLink(c.createSurvey(surveySpec{})), c.createSurvey(surveySpec{})
	cookies := v.browser.Jar.Cookies(mustParse(t, c.address+v.survey))
	if len(cookies) != 1 {
		t.Fatalf("got cookies %v", cookies)
	}
	path := "/survey/" + other.ID
	for _, page := range []string{"", "/questions/0", "/why", "/emergency", "/answers", "/result", "/articles/c_1"} {
		v.get(path+page, "Cookie", cookies[0].String()).expect(t, http.StatusUnauthorized)
		v.get(path+page).expect(t, http.StatusUnauthorized)
	}
	v.post(path+"/questions/0", url.Values{"answer": {"female"}}, "Cookie", cookies[0].String()).expect(t, http.StatusUnauthorized)
	v.get("/survey", "Cookie", cookies[0].String()).expect(t, http.StatusOK, "Sign in with a code")
	v.get(v.survey).expect(t, http.StatusOK)
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
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{}))
	v.get(v.survey).expect(t, http.StatusOK, "Save and leave")
	v.post("/survey/sign-out", url.Values{"survey": {strings.TrimPrefix(v.survey, "/survey/")}}).expect(t, http.StatusOK, "Your answers are saved", "Your answers are saved")
	v.get(v.survey).expect(t, http.StatusUnauthorized)
	for _, id := range []string{"a/../..", "A;Path=/", "a\r\nSet-Cookie: b=c", strings.Repeat("a", 65), ""} {
		if got := v.post("/survey/sign-out", url.Values{"survey": {id}}).header.Values("Set-Cookie"); len(got) != 1 {
			t.Errorf("survey %.30q: ended sessions %q", id, got)
		}
	}
}

// TestExpiredSurvey checks that a session expires with its survey, and that earlier answers
// are kept.
func TestExpiredSurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	first := c.createSurvey(surveySpec{})
	made, err := c.surveys.Create(context.Background(), portalActor, service.CreateRequest{
		PatientID: first.PatientID, Language: "en-US", CreateOptions: flow.CreateOptions{Type: "intake", ExpirationDate: c.now().Add(time.Hour)},
	})
	c.must(err)
	v := c.openMagicLink(made)
	question := v.get(v.survey + "/questions/0")
	question.expect(t, http.StatusOK)
	c.clockOffset.Store(int64(59 * time.Minute))
	v.post(v.survey+"/questions/0", url.Values{"answer": {"female"}}).expectRedirect(t, v.survey+"/questions/1")
	patient, err := c.users.GetPatient(context.Background(), portalActor, made.PatientID)
	c.must(err)
	token, err := c.sessions.IssueUserSession(patient.UserID) // outlives the survey
	c.must(err)
	c.clockOffset.Store(int64(61 * time.Minute))
	v.post(v.survey+"/questions/1", url.Values{"answer": {"34"}}).expect(t, http.StatusUnauthorized, "You cannot open this page")
	v.post(v.survey+"/questions/1", url.Values{"answer": {"34"}}, "Cookie", "anamnesis-session="+token, "Accept-Language", "en-US").
		expect(t, http.StatusConflict, "You can no longer answer these questions", made.ExpirationDate.UTC().Format("January 2, 2006"))
}

// TestCrossOriginPostIsRejected checks that cross-origin posts are rejected.
func TestCrossOriginPostIsRejected(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{})
	link, err := url.Parse(c.magicLink(made))
	c.must(err)
	v := c.openMagicLink(c.createSurvey(surveySpec{}))
	for path, form := range map[string]url.Values{
		"/survey/" + made.ID:      {"code": {link.Query().Get("magicCode")}},
		"/survey":                 {"contact": {"ada@portal.example"}},
		"/survey/sign-out":        {"survey": {strings.TrimPrefix(v.survey, "/survey/")}},
		v.survey + "/questions/0": {"answer": {"female"}},
	} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://elsewhere.example"}} {
			shown := v.post(path, form, headers...)
			shown.expect(t, http.StatusForbidden, "You came here from another website")
			if shown.header.Get("Set-Cookie") != "" {
				t.Errorf("%s from %v: got a cookie", path, headers)
			}
		}
	}
	select {
	case sent := <-c.sentPasswords:
		t.Errorf("a code was sent to %v", sent.To)
	default:
	}
	v.get(v.survey+"/questions/1").expectRedirect(t, v.survey+"/questions/0") // nothing was answered
	v.post(v.survey+"/questions/0", url.Values{"answer": {"female"}}, "Sec-Fetch-Site", "same-origin", "Origin", c.address).expectRedirect(t, v.survey+"/questions/1")
}
