// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// showSurveys lists the surveys of somebody who signed in, and lets others do so.
func (h *handlers) showSurveys(w http.ResponseWriter, r *http.Request) {
	words := h.words.In(r.Header.Get("Accept-Language"))
	session, ok := h.sessionFor(r, func(session identity.Session) bool { return session.Own })
	if !ok {
		h.render(w, r, http.StatusOK, "sign-in", words, signInView{Demo: h.Demonstrate != nil})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	found, _, err := h.Surveys.Surveys(ctx, audit.Actor{UserID: session.UserID}, "", "", mostListed)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.render(w, r, http.StatusOK, "list", words, h.listed(found))
}

type signInView struct {
	Demo    bool
	Sent    bool   // whether a code is on its way
	Contact string // as it was typed
	Problem string // the id of a text; empty for none
}

// signIn sends a code, or takes the one that was sent.
func (h *handlers) signIn(w http.ResponseWriter, r *http.Request) {
	view := signInView{Contact: r.PostFormValue("contact")}
	who, err := readContact(view.Contact)
	if err != nil {
		view.Problem = "sign-in.error.contact"
		h.showSignIn(w, r, view)
		return
	}
	code, sent := r.PostForm["code"]
	if !sent {
		h.sendPassword(w, r, who, view)
		return
	}
	view.Sent = true
	guess := throttle.Guessing(middleware.CallOf(r.Context()).Client, who)
	if h.Throttle.Wait(guess) > 0 {
		view.Problem = "sign-in.error.wait"
		h.showSignIn(w, r, view)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	userID, err := h.People.SignInByPassword(ctx, who, blanks.Replace(code[0]))
	switch {
	case errors.Is(err, people.ErrWrongCode):
		h.Throttle.Failed(guess)
		view.Problem = "sign-in.error.code"
		h.showSignIn(w, r, view)
	case err != nil:
		h.fail(w, r, err)
	default:
		h.welcome(w, r, userID)
	}
}

// blanks are what people type between digits.
var blanks = strings.NewReplacer(" ", "", "-", "")

// sendPassword sends a code, and says so whether there is such a user or not.
func (h *handlers) sendPassword(w http.ResponseWriter, r *http.Request, to guidance.Contact, view signInView) {
	ask := throttle.Asking(middleware.CallOf(r.Context()).Client, to)
	if h.Throttle.Wait(ask) > 0 {
		view.Problem = "sign-in.error.wait"
		h.showSignIn(w, r, view)
		return
	}
	h.Throttle.Failed(ask) // nothing is proved by asking
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	if err := h.People.SendPassword(ctx, to, r.Header.Get("Accept-Language")); err != nil {
		h.fail(w, r, err)
		return
	}
	view.Sent = true
	h.showSignIn(w, r, view)
}

// showSignIn shows where somebody signs in, with what is wrong.
func (h *handlers) showSignIn(w http.ResponseWriter, r *http.Request, view signInView) {
	status := http.StatusOK
	if view.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	h.render(w, r, status, "sign-in", h.words.In(r.Header.Get("Accept-Language")), view)
}

// welcome gives a session to somebody who signed in.
func (h *handlers) welcome(w http.ResponseWriter, r *http.Request, userID string) {
	token, err := h.Sessions.IssueOwnSession(userID)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	setSession(w, root, token)
	seeOther(w, r, root)
}

// readContact reads an e-mail address or a number, which are told apart by the sign that
// only one of them has.
func readContact(text string) (guidance.Contact, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "@") {
		email, err := guidance.ReadEmail("contact", text)
		return guidance.Contact{Email: email}, err
	}
	phone, err := guidance.ReadPhone("contact", text)
	return guidance.Contact{Phone: phone}, err
}

// mostListed are the surveys that a list has: those of one person.
var mostListed = surveys.Page{AtMost: 50}

// A listedSurvey is a line of a list of surveys.
type listedSurvey struct{ Path, Type, Status string }

type listView struct{ Surveys []listedSurvey }

// listed is a list of surveys, the newest first.
func (h *handlers) listed(found []guidance.Survey) listView {
	var view listView
	for _, s := range found {
		status := string(s.Status)
		if s.Status != guidance.Completed && s.Expired(h.Now()) {
			status = "expired"
		}
		view.Surveys = append(view.Surveys, listedSurvey{pathOf(s.ID), string(s.Type), status})
	}
	return view
}
