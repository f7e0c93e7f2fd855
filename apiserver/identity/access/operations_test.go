// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

// TestLoadOperations checks that the table contains exactly the operations of the contracts.
func TestLoadOperations(t *testing.T) {
	t.Parallel()
	operations, err := access.LoadOperations()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for base, contract := range map[string][]byte{"/v3": openapi.EngineV3, "": openapi.Guidance} {
		document, err := openapi3.NewLoader().LoadFromData(contract)
		if err != nil {
			t.Fatal(err)
		}
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				want[method+" "+base+path] = operation.OperationID
			}
		}
	}
	got := map[string]string{}
	for name, operation := range operations {
		got[name] = operation.ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-contract +table)\n%s", diff)
	}
}

// TestOperations checks one operation per scheme, the public operations, and the operations
// without a required scope.
func TestOperations(t *testing.T) {
	t.Parallel()
	operations, err := access.LoadOperations()
	if err != nil {
		t.Fatal(err)
	}
	all := identity.AllKinds()
	for name, want := range map[string]access.Operation{
		"POST /v3/diagnosis":                     {ID: "diagnose", Scheme: access.SchemeApplicationKey, Scopes: []identity.Scope{identity.KnowledgeRead}, Kinds: all},
		"POST /api/auth/token":                   {ID: "createToken", Scheme: access.SchemeClientCredentials, Scopes: []identity.Scope{}, Kinds: all},
		"POST /api/mgp/v1/auth/login/magic_code": {ID: "signInByMagicCode", Scheme: access.SchemeAccessToken, Scopes: []identity.Scope{}, Kinds: all},
		"GET /api/mgp/v1/surveys/{survey_id}":    {ID: "getSurvey", Scheme: access.SchemeAccessToken, Scopes: []identity.Scope{identity.SurveyRead}, Kinds: all},
		"GET /api/mgp/v1/surveys/{survey_id}/magic_link": {
			ID: "getMagicLink", Scheme: access.SchemeAccessToken, Scopes: []identity.Scope{identity.SurveyRead}, Kinds: []identity.Kind{identity.KindApplication},
		},
		"GET /.well-known/jwks.json": {ID: "getKeys", Public: true, Kinds: all},
	} {
		method, path, _ := strings.Cut(name, " ")
		if diff := cmp.Diff(want, operations.Lookup(method, path)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	var public, unscoped []string
	for name, operation := range operations {
		switch {
		case operation.Public:
			public = append(public, name)
		case len(operation.Scopes) == 0:
			unscoped = append(unscoped, name)
		}
	}
	slices.Sort(public)
	slices.Sort(unscoped)
	wantPublic := []string{"GET /.well-known/jwks.json", "POST /api/mgp/v1/auth/login/otp", "POST /api/mgp/v1/auth/otp"}
	if diff := cmp.Diff(wantPublic, public); diff != "" {
		t.Errorf("public operations (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"POST /api/auth/token", "POST /api/mgp/v1/auth/login/magic_code"}, unscoped); diff != "" {
		t.Errorf("operations without a scope (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(access.Operation{}, operations.Lookup("DELETE", "/.well-known/jwks.json")); diff != "" {
		t.Errorf("unknown operation (-want +got)\n%s", diff)
	}
}

// TestParseOperationsErrors checks that contracts with missing or invalid security
// requirements are rejected.
func TestParseOperationsErrors(t *testing.T) {
	t.Parallel()
	contract := func(operation string) string { return "paths:\n  /a:\n    get: {operationId: a, " + operation + "}\n" }
	for name, test := range map[string]struct{ contract, want string }{
		"no YAML":       {"\t", "parsing API contract"},
		"no security":   {contract("tags: [x]"), "GET /a: missing security"},
		"null security": {contract("security: null"), "GET /a: missing security"},
		"alternatives":  {contract("security: [{accessToken: []}, {application: []}]"), "alternatives are not supported"},
		"optional":      {contract("security: [{}]"), "alternatives are not supported"},
		"unknown scope": {contract("security: [{accessToken: ['survey:eat']}]"), "survey:eat"},
		"unknown kind":  {contract("security: [{accessToken: []}], x-principals: [robot]"), "robot"},
	} {
		operations, err := access.ParseOperations([]byte(test.contract))
		if err == nil || !strings.Contains(err.Error(), test.want) || operations != nil {
			t.Errorf("%s: got %v and error %v, want an error containing %q", name, operations, err, test.want)
		}
	}
	if _, err := access.ParseOperations(openapi.Guidance, openapi.Guidance); err == nil {
		t.Error("want an error for an operation defined in two contracts")
	}
}

// TestNoPrincipals checks that an empty list of principals denies everyone, unlike a
// missing list.
func TestNoPrincipals(t *testing.T) {
	t.Parallel()
	operations, err := access.ParseOperations([]byte("paths: {/a: {get: {operationId: a, security: [{accessToken: []}], x-principals: []}}}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := access.Authorize(portal, operations.Lookup("GET", "/a")); err == nil {
		t.Error("want an operation without principals to be denied")
	}
}
