// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"net/http"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// showSurveys lists the surveys of a signed-in user, or shows the sign-in form.
func (h *handlers) showSurveys(w http.ResponseWriter, r *http.Request) {
	words := h.messages.Match(r.Header.Get("Accept-Language"))
	session, ok := h.findSession(r, func(session identity.Session) bool { return session.AllSurveys })
	if !ok {
		h.render(w, r, http.StatusOK, "sign-in", words, signInView{Demo: h.CreateDemoSurvey != nil})
		return
	}
	surveys, _, err := h.Surveys.List(r.Context(), session.Principal(), "", "", firstSurveys)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	h.render(w, r, http.StatusOK, "list", words, h.newListView(surveys))
}

type signInView struct {
	Demo    bool
	Sent    bool   // whether a code was sent
	Contact string // as typed
	Problem string // message ID; empty if there is no problem
}

// signIn sends a code, or verifies the code that the user entered.
func (h *handlers) signIn(w http.ResponseWriter, r *http.Request) {
	view := signInView{Contact: r.PostFormValue("contact")}
	contact, err := readContact(view.Contact)
	if err != nil {
		view.Problem = "sign-in.error.contact"
		h.renderSignIn(w, r, view)
		return
	}
	code, sent := r.PostForm["code"]
	if !sent {
		h.sendCode(w, r, contact, view)
		return
	}
	view.Sent = true
	attempt := throttle.CodeAttempt(middleware.RequestInfoFrom(r.Context()).ClientAddr, contact)
	if h.Throttle.Wait(attempt) > 0 {
		view.Problem = "sign-in.error.wait"
		h.renderSignIn(w, r, view)
		return
	}
	userID, err := h.Users.SignInWithPassword(r.Context(), contact, codeSeparators.Replace(code[0]))
	switch {
	case errors.Is(err, users.ErrInvalidCode):
		h.Throttle.RecordFailure(attempt)
		view.Problem = "sign-in.error.code"
		h.renderSignIn(w, r, view)
	case err != nil:
		h.handleError(w, r, err)
	default:
		h.startUserSession(w, r, userID)
	}
}

// codeSeparators removes characters that people type between digits.
var codeSeparators = strings.NewReplacer(" ", "", "-", "")

// sendCode sends a code. The page is the same whether or not the user exists.
func (h *handlers) sendCode(w http.ResponseWriter, r *http.Request, contact record.Contact, view signInView) {
	attempt := throttle.CodeRequest(middleware.RequestInfoFrom(r.Context()).ClientAddr, contact)
	if h.Throttle.Wait(attempt) > 0 {
		view.Problem = "sign-in.error.wait"
		h.renderSignIn(w, r, view)
		return
	}
	h.Throttle.RecordFailure(attempt) // a request for a code proves nothing, so it counts as a failure
	if err := h.Users.SendOneTimePassword(r.Context(), contact, r.Header.Get("Accept-Language")); err != nil {
		h.handleError(w, r, err)
		return
	}
	view.Sent = true
	h.renderSignIn(w, r, view)
}

// renderSignIn renders the sign-in form with any problem.
func (h *handlers) renderSignIn(w http.ResponseWriter, r *http.Request, view signInView) {
	status := http.StatusOK
	if view.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	h.render(w, r, status, "sign-in", h.messages.Match(r.Header.Get("Accept-Language")), view)
}

// startUserSession starts a session for a user who signed in.
func (h *handlers) startUserSession(w http.ResponseWriter, r *http.Request, userID string) {
	token, err := h.Sessions.IssueUserSession(userID)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	setSession(w, rootPath, token)
	seeOther(w, r, rootPath)
}

// readContact parses an email address or a phone number, depending on whether the text
// contains an @ sign.
func readContact(text string) (record.Contact, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "@") {
		email, err := record.ParseEmail("contact", text)
		return record.Contact{Email: email}, err
	}
	phone, err := record.ParsePhone("contact", text)
	return record.Contact{Phone: phone}, err
}

// firstSurveys is the page of surveys shown in the list; users have few surveys.
var firstSurveys = record.Page{Limit: 50}

// A surveyItem is a row in a list of surveys.
type surveyItem struct{ Path, Type, Status string }

type listView struct{ Surveys []surveyItem }

// newListView returns the list of surveys, newest first.
func (h *handlers) newListView(surveys []record.Survey) listView {
	var view listView
	for _, s := range surveys {
		status := string(s.Status)
		if s.Status != record.StatusCompleted && s.Expired(h.Now()) {
			status = "expired"
		}
		view.Surveys = append(view.Surveys, surveyItem{pathForSurvey(s.ID), string(s.Type), status})
	}
	return view
}
