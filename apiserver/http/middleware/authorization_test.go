// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// TestAuthorization checks that a request reaches its handler only if its principal may
// perform the operation of its route, and that denied requests are attributed.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	operation := func(scheme access.Scheme, scopes ...identity.Scope) access.Operation {
		return access.Operation{ID: "x", Scheme: scheme, Scopes: scopes, Kinds: identity.AllKinds()}
	}
	authorization := Authorization{
		Operations: access.Operations{
			"GET /public":       {Public: true},
			"GET /surveys/{id}": operation("test", identity.SurveyRead),
			"GET /users/{id}":   operation("test", identity.UserRead),
			"GET /other":        operation("unsupported"),
		},
		Authenticators: map[access.Scheme]Authenticator{"test": authenticateHeader},
		Deny: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set("Denied", err.Error())
			w.WriteHeader(http.StatusForbidden)
		},
	}
	for name, test := range map[string]struct {
		method, path, user string
		status             int
		denied             string
	}{
		"allowed":            {"GET", "/surveys/1", "ada", http.StatusOK, ""},
		"public":             {"GET", "/public", "", http.StatusOK, ""},
		"not authenticated":  {"GET", "/surveys/1", "", http.StatusUnauthorized, ""},
		"missing scope":      {"GET", "/users/1", "ada", http.StatusForbidden, "x requires the scope user:read"},
		"unknown scheme":     {"GET", "/other", "ada", http.StatusForbidden, "x is not allowed for this kind of principal"},
		"unknown path":       {"GET", "/unknown", "ada", http.StatusForbidden, "unknown operation is not allowed for any kind of principal"},
		"unknown method":     {"POST", "/surveys/1", "ada", http.StatusForbidden, "unknown operation is not allowed for any kind of principal"},
		"public, other verb": {"POST", "/public", "", http.StatusForbidden, "unknown operation is not allowed for any kind of principal"},
	} {
		var info *RequestInfo
		router := chi.NewRouter()
		router.Use(WithRequestInfo, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				info = RequestInfoFrom(r.Context())
				next.ServeHTTP(w, r)
			})
		})
		router.Group(func(r chi.Router) {
			r.Use(authorization.Middleware)
			handler := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Served", PrincipalFrom(r.Context()).UserID)
			}
			for _, path := range []string{"/public", "/surveys/{id}", "/users/{id}", "/other", "/unknown"} {
				r.HandleFunc(path, handler)
			}
		})
		request := httptest.NewRequest(test.method, test.path, nil)
		request.Header.Set("User", test.user)
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, request)
		_, served := recorder.Header()["Served"]
		if recorder.Code != test.status || served != (test.status == http.StatusOK) || recorder.Header().Get("Denied") != test.denied {
			t.Errorf("%s: got %d, denied %q, served %v", name, recorder.Code, recorder.Header().Get("Denied"), served)
		}
		if got := recorder.Header().Get("Served"); served && got != test.user {
			t.Errorf("%s: handler got user %q", name, got)
		}
		if want := name == "allowed" || name == "missing scope"; info.EndUser != want {
			t.Errorf("%s: attributed to an end user: %v, want %v", name, info.EndUser, want)
		}
	}
}

// authenticateHeader trusts the header User.
func authenticateHeader(w http.ResponseWriter, r *http.Request) (context.Context, identity.Principal, bool) {
	user := r.Header.Get("User")
	if user == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return nil, identity.Principal{}, false
	}
	return r.Context(), identity.Principal{Actor: audit.Actor{UserID: user}, Scopes: []identity.Scope{identity.SurveyRead}}, true
}
