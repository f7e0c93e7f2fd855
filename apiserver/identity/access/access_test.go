// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// Test principals. The user ada owns the surveys s1 and s2.
var (
	unauthenticated = identity.Principal{}
	portal          = identity.Principal{Actor: audit.Actor{Application: "portal"}, Scopes: []identity.Scope{identity.SurveyRead}}
	ada             = identity.Principal{Actor: audit.Actor{UserID: "ada"}, Scopes: []identity.Scope{identity.SurveyRead}}
	session         = identity.Principal{Actor: audit.Actor{UserID: "ada"}, SurveyID: "s1", Scopes: []identity.Scope{identity.SurveyRead}}
)

func TestAuthorize(t *testing.T) {
	t.Parallel()
	all := identity.AllKinds()
	read := access.Operation{ID: "read", Kinds: all, Scopes: []identity.Scope{identity.SurveyRead}}
	both := access.Operation{ID: "both", Kinds: all, Scopes: []identity.Scope{identity.SurveyRead, identity.SurveyWrite}}
	unscoped := access.Operation{ID: "unscoped", Kinds: all}
	applications := access.Operation{ID: "applications", Kinds: []identity.Kind{identity.KindApplication}, Scopes: []identity.Scope{identity.SurveyRead}}
	denied := func(id string) *access.DeniedError { return &access.DeniedError{OperationID: id} }
	for name, test := range map[string]struct {
		principal identity.Principal
		operation access.Operation
		want      *access.DeniedError
	}{
		"application with scope":            {portal, read, nil},
		"end user with scope":               {ada, read, nil},
		"session with scope":                {session, read, nil},
		"application without a scope":       {portal, both, &access.DeniedError{OperationID: "both", MissingScope: identity.SurveyWrite}},
		"no scope needed":                   {ada, unscoped, nil},
		"application only":                  {portal, applications, nil},
		"end user for applications":         {ada, applications, denied("applications")},
		"session for applications":          {session, applications, denied("applications")},
		"unauthenticated":                   {unauthenticated, unscoped, denied("unscoped")},
		"scopes without a kind":             {identity.Principal{Scopes: identity.AllScopes()}, read, denied("read")},
		"public":                            {unauthenticated, access.Operation{ID: "public", Public: true}, nil},
		"unknown operation":                 {portal, access.Operation{}, denied("")},
		"unknown operation, zero principal": {unauthenticated, access.Operation{}, denied("")},
		"no kind may perform it":            {portal, access.Operation{ID: "none", Kinds: []identity.Kind{}}, denied("none")},
	} {
		err := access.Authorize(test.principal, test.operation)
		got, _ := errors.AsType[*access.DeniedError](err)
		if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestDeniedError(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"getSurvey requires the scope survey:read":                   &access.DeniedError{OperationID: "getSurvey", MissingScope: identity.SurveyRead},
		"getMagicLink is not allowed for this kind of principal":     &access.DeniedError{OperationID: "getMagicLink"},
		"unknown operation is not allowed for any kind of principal": &access.DeniedError{},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		principal                                   identity.Principal
		allUsers, ownPatient, own, ownOther, others bool
	}{
		"application":     {portal, true, true, true, true, true},
		"end user":        {ada, false, true, true, true, false},
		"survey session":  {session, false, false, true, false, false},
		"unauthenticated": {unauthenticated, false, false, false, false, false},
	} {
		for method, check := range map[string]struct{ got, want bool }{
			"all users":                 {access.SeesAllUsers(test.principal), test.allUsers},
			"own patient":               {access.CanSeePatient(test.principal, "ada"), test.ownPatient},
			"another's patient":         {access.CanSeePatient(test.principal, "bob"), test.others},
			"own survey":                {access.CanSeeSurvey(test.principal, "s1", "ada"), test.own},
			"another own survey":        {access.CanSeeSurvey(test.principal, "s2", "ada"), test.ownOther},
			"another's survey":          {access.CanSeeSurvey(test.principal, "s3", "bob"), test.others},
			"survey without owner":      {access.CanSeeSurvey(test.principal, "s4", ""), test.others},
			"its id at another's":       {access.CanSeeSurvey(test.principal, "s1", "bob"), test.others},
			"conditions":                {access.CanSeeConditions(test.principal, false), test.allUsers},
			"conditions with a feature": {access.CanSeeConditions(test.principal, true), true},
		} {
			if check.got != check.want {
				t.Errorf("%s: %s: got %v, want %v", name, method, check.got, check.want)
			}
		}
	}
}

func TestReachesSurvey(t *testing.T) {
	t.Parallel()
	if !access.ReachesSurvey(session, "s1") || access.ReachesSurvey(session, "s2") || !access.ReachesSurvey(ada, "s2") {
		t.Error("want the session to reach its own survey only")
	}
}

func TestListOwner(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		principal       identity.Principal
		requested, want string
		ok              bool
	}{
		{portal, "", "", true},
		{portal, "ada", "ada", true},
		{ada, "", "ada", true},
		{ada, "ada", "ada", true},
		{ada, "bob", "", false},
		{session, "", "", false},
		{session, "ada", "", false},
		{unauthenticated, "", "", false},
	} {
		if got, ok := access.ListOwner(test.principal, test.requested); got != test.want || ok != test.ok {
			t.Errorf("ListOwner(%s, %q) = %q, %v; want %q, %v", test.principal.Kind(), test.requested, got, ok, test.want, test.ok)
		}
	}
}
