// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// sentCode is the code that was sent last.
func (c *clinic) sentCode() string {
	c.t.Helper()
	select {
	case sent := <-c.sent:
		return sent.Code
	case <-time.After(10 * time.Second):
		c.t.Fatal("no code was sent")
		return ""
	}
}

func TestSignInByCode(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{Contact: guidance.Contact{Email: "Ada@portal.example"}})
	v := c.visitor()
	v.get("/survey").is(t, http.StatusOK, "Sign in with a code", "E-mail address or telephone number")
	v.post("/survey", url.Values{"contact": {" ada@portal.example "}}).is(t, http.StatusOK, "a code is on its way", "Six digits")
	code := c.sentCode()
	wrong := v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {otherThan(code)}})
	wrong.is(t, http.StatusUnprocessableEntity, "The code is wrong or has expired", "Send another code")
	if wrong.header.Get("Set-Cookie") != "" {
		t.Error("a wrong code gives a cookie")
	}
	in := v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {" " + code[:3] + "-" + code[3:]}})
	in.leadsTo(t, "/survey")
	if cookie := in.header.Get("Set-Cookie"); !strings.Contains(cookie, "Path=/survey; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("got the cookie %s", cookie)
	}
	list := v.get("/survey")
	list.is(t, http.StatusOK, "How urgent is it?", "Not started")
	path := "/survey/" + made.ID
	if !strings.Contains(list.body, `href="`+path+`"`) {
		t.Errorf("the list does not lead to the survey\n%s", list.body)
	}
	v.get(path).is(t, http.StatusOK, "How urgent is it?")
	v.get("/survey/"+c.survey(wish{}).ID).is(t, http.StatusNotFound)                                                       // of somebody else
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {code}}).is(t, http.StatusUnprocessableEntity) // once
	v.post("/survey/sign-out", nil).is(t, http.StatusOK, "You have left")
	v.get("/survey").is(t, http.StatusOK, "Sign in with a code")
}

// otherThan is a code that is wrong.
func otherThan(code string) string {
	if code == "000000" {
		return "111111"
	}
	return "000000"
}

// The list says how far each survey is.
func TestListOfSurveys(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	first := c.survey(wish{Type: "intake", Sections: []string{"notes"}, Contact: guidance.Contact{Phone: "+493012345678"}})
	path := "/survey/" + first.ID
	v := c.visitor()
	v.post("/survey", url.Values{"contact": {"+49 30 1234 5678"}}).is(t, http.StatusOK)
	v.post("/survey", url.Values{"contact": {"+49 30 1234 5678"}, "code": {c.sentCode()}}).leadsTo(t, "/survey")
	v.post(path+"/questions/0", skips).leadsTo(t, path+"/result")
	v.get("/survey").is(t, http.StatusOK, "Questions before a visit Answered")
	v.get("/survey", "Accept-Language", "de-CH,de;q=0.9").is(t, http.StatusOK, "Beantwortet")
}

// It cannot be told from the page whether somebody is known.
func TestNobodyIsTold(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	c.survey(wish{Contact: guidance.Contact{Email: "ada@portal.example"}})
	v := c.visitor()
	known := v.post("/survey", url.Values{"contact": {"ada@portal.example"}})
	unknown := v.post("/survey", url.Values{"contact": {"bob@portal.example"}})
	if got := strings.ReplaceAll(unknown.body, "bob@", "ada@"); known.status != http.StatusOK || got != known.body {
		t.Errorf("answered %d %s\nand %d %s", known.status, known.text(), unknown.status, unknown.text())
	}
	for _, nobody := range []string{"", "ada", "ada@", "@portal.example", "12", "+49", "ada@portal.example\r\nBcc: eve@portal.example", strings.Repeat("a", 60_000)} {
		v.post("/survey", url.Values{"contact": {nobody}}).is(t, http.StatusUnprocessableEntity, "Enter an e-mail address")
	}
}

// Who guesses has to wait, and who asks for many codes.
func TestGuessersWait(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	c.survey(wish{Contact: guidance.Contact{Email: "ada@portal.example"}})
	v := c.visitor()
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}}).is(t, http.StatusOK)
	code := c.sentCode()
	guess := url.Values{"contact": {"ADA@portal.example"}, "code": {otherThan(code)}}
	waits := 0
	for range 15 {
		if strings.Contains(v.post("/survey", guess).text(), "Too many tries") {
			waits++
		}
	}
	if waits < 5 || waits > 10 {
		t.Errorf("%d of 15 guesses have to wait", waits)
	}
	v.post("/survey", url.Values{"contact": {"ada@portal.example"}, "code": {code}}).is(t, http.StatusUnprocessableEntity, "Too many tries")
	asked := 0
	for range 15 {
		if v.post("/survey", url.Values{"contact": {"bob@portal.example"}}).status == http.StatusOK {
			asked++
		}
	}
	if asked < 5 || asked > 10 {
		t.Errorf("%d of 15 codes could be asked for", asked)
	}
}
