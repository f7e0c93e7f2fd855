// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// cookieName is the name of session cookies. A survey session is limited to the path of its
// survey, so that several surveys can be open in one browser; a user session covers all
// pages.
const cookieName = "anamnesis-session"

// setSession sets a session cookie for the pages under a path. The cookie lasts until the
// browser closes or the session expires. It is Secure even with --dev, because browsers treat
// http on localhost as secure.
func setSession(w http.ResponseWriter, path, token string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: token, Path: path, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}

// clearSession deletes the session cookie.
func clearSession(w http.ResponseWriter, path string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Path: path, MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}

// findSession returns the browser's first session that matches.
func (h *handlers) findSession(r *http.Request, matches func(identity.Session) bool) (identity.Session, bool) {
	for _, cookie := range r.CookiesNamed(cookieName) {
		if session, err := h.Sessions.VerifySession(cookie.Value); err == nil && matches(session) {
			middleware.RequestInfoFrom(r.Context()).EndUser = true
			return session, true
		}
	}
	return identity.Session{}, false
}

// surveySession returns the browser's session for the survey in the URL.
func (h *handlers) surveySession(r *http.Request) (identity.Session, bool) {
	id := surveyID(r)
	return h.findSession(r, func(session identity.Session) bool { return access.ReachesSurvey(session.Principal(), id) })
}

func surveyID(r *http.Request) string { return chi.URLParam(r, "survey") }

// pathForSurvey returns the path of a survey's pages.
func pathForSurvey(surveyID string) string { return rootPath + "/" + surveyID }

type principalKey struct{}

// authorize admits requests with a session for the survey.
func (h *handlers) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := h.surveySession(r)
		if !ok {
			h.renderNotice(w, r, http.StatusUnauthorized, "gone")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, session.Principal())))
	})
}

// principalFrom returns the principal of a request that authorize admitted.
func principalFrom(r *http.Request) identity.Principal {
	principal, _ := r.Context().Value(principalKey{}).(identity.Principal)
	return principal
}

// openSurvey is the target of magic links and of returning patients. A code is exchanged only
// after confirmation, because mail scanners follow links.
func (h *handlers) openSurvey(w http.ResponseWriter, r *http.Request) {
	if code := r.URL.Query().Get("magicCode"); code != "" {
		h.render(w, r, http.StatusOK, "link", h.messages.Match(r.Header.Get("Accept-Language")), linkView{Code: code, Path: pathForSurvey(surveyID(r))})
		return
	}
	h.authorize(http.HandlerFunc(h.showStart)).ServeHTTP(w, r)
}

type linkView struct{ Code, Path string }

// exchangeMagicCode exchanges a magic code for a session.
func (h *handlers) exchangeMagicCode(w http.ResponseWriter, r *http.Request) {
	id := surveyID(r)
	session, until, err := h.Users.SignInWithMagicCode(r.Context(), r.PostFormValue("code"), id)
	if errors.Is(err, users.ErrInvalidCode) {
		h.renderNotice(w, r, http.StatusUnauthorized, "gone")
		return
	}
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	token, err := h.Sessions.IssueSession(session, until)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	setSession(w, pathForSurvey(id), token)
	seeOther(w, r, pathForSurvey(id))
}

// seeOther redirects a browser after processing a form.
func seeOther(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // a path of ours
}

// signOut ends the browser's sessions for a survey and for a user.
func (h *handlers) signOut(w http.ResponseWriter, r *http.Request) {
	clearSession(w, rootPath)
	if id := r.PostFormValue("survey"); identifier.IsUUID(id) {
		clearSession(w, pathForSurvey(id))
	}
	h.renderNotice(w, r, http.StatusOK, "left")
}
