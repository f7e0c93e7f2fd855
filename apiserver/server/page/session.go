// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// cookieName is that of sessions. One at a survey is sent to the pages of that survey
// alone, so that several can be open in one browser; one of a user to all.
const cookieName = "anamnesis-session"

// setSession gives a browser a session at the pages under a path, until the browser is
// closed or the session has ended. It is Secure with --dev too: browsers take http on
// this machine for safe.
func setSession(w http.ResponseWriter, path, token string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: token, Path: path, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}

// endSession takes a session back from a browser.
func endSession(w http.ResponseWriter, path string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Path: path, MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}

// sessionFor is a session of the browser that somebody wants.
func (h *handlers) sessionFor(r *http.Request, wanted func(identity.Session) bool) (identity.Session, bool) {
	for _, cookie := range r.CookiesNamed(cookieName) {
		if session, err := h.Sessions.VerifySession(cookie.Value); err == nil && wanted(session) {
			middleware.CallOf(r.Context()).EndUser = true
			return session, true
		}
	}
	return identity.Session{}, false
}

// atSurvey is a session of the browser at the survey of the address.
func (h *handlers) atSurvey(r *http.Request) (identity.Session, bool) {
	id := surveyID(r)
	return h.sessionFor(r, func(session identity.Session) bool { return session.Reaches(id) })
}

func surveyID(r *http.Request) string { return chi.URLParam(r, "survey") }

// pathOf is where the pages of a survey are.
func pathOf(surveyID string) string { return root + "/" + surveyID }

type actorKey struct{}

// authorize lets those through who have a session at the survey.
func (h *handlers) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := h.atSurvey(r)
		if !ok {
			h.note(w, r, http.StatusUnauthorized, "gone")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), actorKey{}, audit.Actor{UserID: session.UserID})))
	})
}

// actorOf is who acts in a call that authorize let through.
func actorOf(r *http.Request) audit.Actor {
	by, _ := r.Context().Value(actorKey{}).(audit.Actor)
	return by
}

// enter is what a magic link opens, and where somebody comes back to. The code of a link
// is not exchanged before somebody says so, since mail scanners follow links.
func (h *handlers) enter(w http.ResponseWriter, r *http.Request) {
	if code := r.URL.Query().Get("magicCode"); code != "" {
		h.render(w, r, http.StatusOK, "link", h.words.In(r.Header.Get("Accept-Language")), linkView{Code: code, Path: pathOf(surveyID(r))})
		return
	}
	h.authorize(http.HandlerFunc(h.begin)).ServeHTTP(w, r)
}

type linkView struct{ Code, Path string }

// exchange gives a session for the code of a magic link.
func (h *handlers) exchange(w http.ResponseWriter, r *http.Request) {
	id := surveyID(r)
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	session, until, err := h.People.SignInByMagicCode(ctx, r.PostFormValue("code"), id)
	if errors.Is(err, people.ErrWrongCode) {
		h.note(w, r, http.StatusUnauthorized, "gone")
		return
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	token, err := h.Sessions.IssueSession(session, until)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	setSession(w, pathOf(id), token)
	seeOther(w, r, pathOf(id))
}

// seeOther sends a browser on, after a form was taken.
func seeOther(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // a path of ours
}

// signOut ends the sessions of a browser at a survey, and of a user.
func (h *handlers) signOut(w http.ResponseWriter, r *http.Request) {
	endSession(w, root)
	if id := r.PostFormValue("survey"); uuid.Validate(id) == nil {
		endSession(w, pathOf(id))
	}
	h.note(w, r, http.StatusOK, "left")
}
