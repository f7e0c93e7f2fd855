// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// Kind is the kind of a principal, spelled as in x-principals in the contracts.
type Kind string

// Kinds of principals.
const (
	KindApplication   Kind = "application"
	KindEndUser       Kind = "end_user"
	KindSurveySession Kind = "survey_session"
)

// AllKinds returns every kind.
func AllKinds() []Kind { return []Kind{KindApplication, KindEndUser, KindSurveySession} }

// Principal is an authenticated caller: an application, an end user, or an end user's
// session for one survey. The zero Principal is unauthenticated and has no kind.
type Principal struct {
	audit.Actor
	SurveyID string  // the survey of a survey session; empty for other kinds
	Scopes   []Scope // the scopes of an access token or an application
}

// Kind returns the kind of the principal, or an empty string for the zero Principal.
func (p Principal) Kind() Kind {
	switch {
	case p.UserID != "" && p.SurveyID != "":
		return KindSurveySession
	case p.UserID != "":
		return KindEndUser
	case p.Application != "":
		return KindApplication
	}
	return ""
}

// HasScope reports whether the principal has the scope.
func (p Principal) HasScope(scope Scope) bool { return slices.Contains(p.Scopes, scope) }

// Principal returns the application as a principal.
func (a Application) Principal() Principal {
	return Principal{Actor: audit.Actor{Application: a.ID}, Scopes: a.Scopes}
}

// Principal returns the user of the session as a principal. It has no scopes: the survey
// page is not part of a contract.
func (s Session) Principal() Principal {
	return Principal{Actor: audit.Actor{UserID: s.UserID}, SurveyID: s.SurveyID}
}
