// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

func TestPrincipalKind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		principal Principal
		want      Kind
	}{
		"application":         {Application{ID: "portal", Scopes: AllScopes()}.Principal(), KindApplication},
		"end user":            {Session{UserID: "ada", AllSurveys: true}.Principal(), KindEndUser},
		"survey session":      {Session{UserID: "ada", SurveyID: "s1"}.Principal(), KindSurveySession},
		"user of application": {Principal{Actor: audit.Actor{Application: "portal", UserID: "ada"}}, KindEndUser},
		"survey without user": {Principal{SurveyID: "s1"}, ""},
		"scopes alone":        {Principal{Scopes: AllScopes()}, ""},
		"zero":                {Principal{}, ""},
	} {
		if got := test.principal.Kind(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestPrincipalHasScope(t *testing.T) {
	t.Parallel()
	p := Application{ID: "portal", Scopes: []Scope{SurveyRead}}.Principal()
	if !p.HasScope(SurveyRead) || p.HasScope(SurveyWrite) || (Principal{}).HasScope("") {
		t.Errorf("scopes of %+v, want survey:read only", p)
	}
}
