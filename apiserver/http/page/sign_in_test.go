// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// lastSentCode returns the most recently sent code.
func (f *fixture) lastSentCode() string {
	f.t.Helper()
	select {
	case sent := <-f.sentPasswords:
		return sent.Code
	case <-time.After(10 * time.Second):
		f.t.Fatal("no code was sent")
		return ""
	}
}

func TestSignInByCode(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{Contact: record.Contact{Email: "Ada@portal.example"}})
	v := c.newVisitor()
	v.get("/survey").expect(t, http.StatusOK, "Sign in with a code", "Email address or phone number")
	v.post("/survey", url.Values{"contact": {" ada@portal.example "}}).expect(t, http.StatusOK, "we have sent a code to it", "Six digits")
	code := c.lastSentCode()
	wrong := v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {wrongCode(code)}})
	wrong.expect(t, http.StatusUnprocessableEntity, "Enter the code from the latest message", "Send another code")
	if wrong.header.Get("Set-Cookie") != "" {
		t.Error("got a cookie for a wrong code")
	}
	in := v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {" " + code[:3] + "-" + code[3:]}})
	in.expectRedirect(t, "/survey")
	if cookie := in.header.Get("Set-Cookie"); !strings.Contains(cookie, "Path=/survey; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("got cookie %s", cookie)
	}
	list := v.get("/survey")
	list.expect(t, http.StatusOK, "How soon do you need help?", "Not started")
	path := "/survey/" + made.ID
	if !strings.Contains(list.body, `href="`+path+`"`) {
		t.Errorf("link to the survey not found\n%s", list.body)
	}
	v.get(path).expect(t, http.StatusOK, "How soon do you need help?")
	v.get("/survey/"+c.createSurvey(surveySpec{}).ID).expect(t, http.StatusNotFound)                                           // another user's survey
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {code}}).expect(t, http.StatusUnprocessableEntity) // a code works once
	v.post("/survey/sign-out", nil).expect(t, http.StatusOK, "Your answers are saved")
	v.get("/survey").expect(t, http.StatusOK, "Sign in with a code")
}

// wrongCode returns a code that differs from this one.
func wrongCode(code string) string {
	if code == "000000" {
		return "111111"
	}
	return "000000"
}

// TestSurveyList checks that the list shows the status of each survey.
func TestSurveyList(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	first := c.createSurvey(surveySpec{Type: "intake", Sections: []string{"notes"}, Contact: record.Contact{Phone: "+493012345678"}})
	path := "/survey/" + first.ID
	v := c.newVisitor()
	v.post("/survey", url.Values{"contact": {"+49 30 1234 5678"}}).expect(t, http.StatusOK)
	v.post("/survey", url.Values{"contact": {"+49 30 1234 5678"}, "code": {c.lastSentCode()}}).expectRedirect(t, "/survey")
	v.post(path+"/questions/0", skipForm).expectRedirect(t, path+"/result")
	v.get("/survey").expect(t, http.StatusOK, "Questions before a visit Completed")
	v.get("/survey", "Accept-Language", "de-CH,de;q=0.9").expect(t, http.StatusOK, "Beantwortet")
}

// TestSignInDoesNotRevealAccounts checks that the page does not reveal whether a user exists.
func TestSignInDoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	c.createSurvey(surveySpec{Contact: record.Contact{Email: "ada@portal.example"}})
	v := c.newVisitor()
	known := v.post("/survey", url.Values{"contact": {"ada@portal.example"}})
	unknown := v.post("/survey", url.Values{"contact": {"bob@portal.example"}})
	if got := strings.ReplaceAll(unknown.body, "bob@", "ada@"); known.status != http.StatusOK || got != known.body {
		t.Errorf("got status %d %s\nand %d %s", known.status, known.text(), unknown.status, unknown.text())
	}
	for _, invalid := range []string{"", "ada", "ada@", "@portal.example", "12", "+49", "ada@portal.example\r\nBcc: eve@portal.example", strings.Repeat("a", 60_000)} {
		v.post("/survey", url.Values{"contact": {invalid}}).expect(t, http.StatusUnprocessableEntity, "Enter an email address")
	}
}

// TestSignInIsThrottled checks that guesses and frequent code requests are throttled.
func TestSignInIsThrottled(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	c.createSurvey(surveySpec{Contact: record.Contact{Email: "ada@portal.example"}})
	v := c.newVisitor()
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}}).expect(t, http.StatusOK)
	code := c.lastSentCode()
	guess := url.Values{"contact": {"ADA@portal.example"}, "code": {wrongCode(code)}}
	waits := 0
	for range 15 {
		if strings.Contains(v.post("/survey", guess).text(), "Wait a few minutes before you try again") {
			waits++
		}
	}
	if waits < 5 || waits > 10 {
		t.Errorf("%d of 15 guesses were throttled", waits)
	}
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {code}}).expect(t, http.StatusUnprocessableEntity, "Wait a few minutes before you try again")
	asked := 0
	for range 15 {
		if v.post("/survey", url.Values{"contact": {"bob@portal.example"}}).status == http.StatusOK {
			asked++
		}
	}
	if asked < 5 || asked > 10 {
		t.Errorf("%d of 15 code requests were accepted", asked)
	}
}
