// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// An authorizationFixture serves both APIs, with an application for every set of scopes used
// in the tests.
type authorizationFixture struct {
	t        *testing.T
	handler  http.Handler
	tokens   *identity.TokenIssuer
	users    *users.Service
	surveys  *service.Service
	webhooks *webhook.Service
}

// applicationKey is the key of every application.
const applicationKey = "application-key"

var creator = identity.Principal{Actor: audit.Actor{Application: "all"}}

// appIDWithoutScope returns the ID of the application with all scopes except one.
func appIDWithoutScope(scope identity.Scope) string {
	return "without-" + strings.ReplaceAll(string(scope), ":", "-")
}

// appIDWithScopes returns the ID of the application with exactly these scopes.
func appIDWithScopes(scopes []identity.Scope) string {
	return strings.NewReplacer(":", "-", " ", "+").Replace("only-" + identity.FormatScopes(scopes))
}

func newAuthorizationFixture(t *testing.T, operations access.Operations) *authorizationFixture {
	t.Helper()
	credentials := map[string]identity.Credential{}
	grant := func(id string, scopes []identity.Scope) {
		credentials[id] = identity.Credential{ID: id, Key: applicationKey, Scopes: append([]identity.Scope{}, scopes...)}
	}
	grant("all", identity.AllScopes())
	for _, scope := range identity.AllScopes() {
		grant(appIDWithoutScope(scope), slices.DeleteFunc(identity.AllScopes(), func(s identity.Scope) bool { return s == scope }))
	}
	for _, operation := range contractOperations(t) {
		grant(appIDWithScopes(operation.scopes), operation.scopes)
	}
	grant(appIDWithScopes(nil), nil)
	applications, err := identity.NewApplications(slices.Collect(maps.Values(credentials))...)
	check(t, err)
	keys, err := identity.NewSigningKeys()
	check(t, err)
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	check(t, err)
	t.Cleanup(func() { check(t, store.Close()) })
	keyring, err := encryption.GenerateKeyring()
	check(t, err)
	texts, err := section.LoadTexts()
	check(t, err)
	clock := func() time.Time { return today }
	library := openLibrary(t)
	f := &authorizationFixture{
		t:        t,
		tokens:   &identity.TokenIssuer{InstanceID: "test", Applications: applications, SigningKeys: keys, Now: clock},
		users:    &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Keyring: keyring, Now: clock},
		surveys:  &service.Service{Storage: storage.Scope[service.Reader, service.Tx]{Store: store}, Models: library, Engine: inference.New(), Texts: texts, Features: func() section.Features { return section.Features{PatientResults: true} }, Now: clock},
		webhooks: &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keyring, Now: clock, OnChange: func() {}},
	}
	unlimited, log := limiter.New(limiter.LimitsForMemory(0, 2), func(limiter.Reason) {}), slog.New(slog.DiscardHandler)
	f.handler = router.New(router.Options{
		Guidance: guidance.New(guidance.Options{
			TokenIssuer: f.tokens, Operations: operations, Usage: store, Meter: &fakeMeter{}, Feedback: store, Users: f.users, Surveys: f.surveys, Webhooks: f.webhooks,
			PublicURL: func() string { return "https://acme.example" }, Scheme: "https", Now: clock, Limiter: unlimited, Log: log,
		}),
		Page: stubPage(), Models: library, Engine: inference.New(), Tokens: f.tokens, Feedback: &fakeFeedbackStore{},
		Applications: applications, Operations: operations, Meter: &fakeMeter{}, Now: clock, AllowsOrigin: func(string) bool { return false },
		Draining: func() bool { return false }, OnAuthenticated: func(context.Context) {}, Limiter: unlimited, Observer: nopObserver{}, Log: log,
	})
	return f
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nopObserver ignores all responses.
type nopObserver struct{}

func (nopObserver) Observe(string, int, time.Duration) {}

// A contractOperation is an operation of a contract, parsed independently of package access.
type contractOperation struct {
	name         string // method and path
	method, path string
	scheme       access.Scheme
	scopes       []identity.Scope
	applications bool // whether only applications may perform it
}

// contractOperations returns the operations of both contracts.
func contractOperations(t *testing.T) []contractOperation {
	t.Helper()
	var operations []contractOperation
	for base, contract := range map[string][]byte{"/v3": openapi.EngineV3, "": openapi.Guidance} {
		document, err := openapi3.NewLoader().LoadFromData(contract)
		check(t, err)
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				parsed := contractOperation{name: method + " " + base + path, method: method, path: base + path}
				parsed.applications = operation.Extensions["x-principals"] != nil
				security := document.Security
				if operation.Security != nil {
					security = *operation.Security
				}
				for _, requirement := range security {
					schemes := slices.Sorted(maps.Keys(requirement))
					parsed.scheme = access.Scheme(strings.Join(schemes, "+"))
					for _, scheme := range schemes {
						for _, scope := range requirement[scheme] {
							parsed.scopes = append(parsed.scopes, identity.Scope(scope))
						}
					}
				}
				operations = append(operations, parsed)
			}
		}
	}
	if len(operations) < 55 {
		t.Fatalf("the contracts have only %d operations", len(operations))
	}
	return operations
}

// owner is a user with resources.
type owner struct{ user, patient, survey, webhook string }

// newOwner creates a user with a patient, a survey and a webhook.
func (f *authorizationFixture) newOwner() owner {
	f.t.Helper()
	ctx := f.t.Context()
	user, err := f.users.CreateUser(ctx, creator, record.Contact{})
	check(f.t, err)
	patient, err := f.users.CreatePatient(ctx, creator, record.Patient{UserID: user.ID})
	check(f.t, err)
	survey, err := f.surveys.Create(ctx, creator, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: "triage"}})
	check(f.t, err)
	url, token := "https://receiver.example", "token"
	configured, err := f.webhooks.Create(ctx, creator.Actor, webhook.Settings{URL: &url, Token: &token})
	check(f.t, err)
	f.t.Cleanup(func() { _, _ = f.webhooks.Delete(context.Background(), creator.Actor, configured.ID) }) // unless the test did
	return owner{user.ID, patient.ID, survey.ID, configured.ID}
}

// call performs an operation on the resources of an owner.
func (f *authorizationFixture) call(operation contractOperation, target owner, headers map[string]string) (status int, body string) {
	path := strings.NewReplacer(
		"{user_id}", target.user, "{patient_id}", target.patient, "{survey_id}", target.survey, "{webhook_id}", target.webhook,
		"{question_index}", "0", "{delivery_id}", target.webhook, "{list}", "symptoms", "{id}", "c_1", "{condition_id}", "c_1",
	).Replace(operation.path)
	request := httptest.NewRequest(operation.method, path, strings.NewReader("{}"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Instance-Id", "test-mgp")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	f.handler.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

// asApplication returns the headers by which an application authenticates for an operation.
func (f *authorizationFixture) asApplication(operation contractOperation, id string) map[string]string {
	f.t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.SetBasicAuth(id, applicationKey)
	switch operation.scheme {
	case access.SchemeApplicationKey:
		return map[string]string{"App-Id": id, "App-Key": applicationKey}
	case access.SchemeClientCredentials:
		return map[string]string{"Authorization": request.Header.Get("Authorization")}
	}
	token, err := f.tokens.IssueToken(identity.TokenRequest{InstanceID: "test-mgp", ClientID: id, ClientSecret: applicationKey, GrantType: "client_credentials"})
	check(f.t, err)
	return map[string]string{"Authorization": "Bearer " + token}
}

// asUser returns the headers by which an end user authenticates.
func (f *authorizationFixture) asUser(id string) map[string]string {
	f.t.Helper()
	token, err := f.tokens.IssueUserToken(id)
	check(f.t, err)
	return map[string]string{"Authorization": "Bearer " + token}
}

// unauthenticated returns the status of a call without valid credentials, or zero if the
// operation requires no credentials.
func unauthenticated(operation contractOperation) int {
	switch operation.scheme {
	case "":
		return 0
	case access.SchemeApplicationKey:
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

// denies reports whether a status means that the call was not authorized.
func denies(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// userScopes are the scopes of end users.
var userScopes = []identity.Scope{identity.KnowledgeRead, identity.QuestionRead, identity.QuestionWrite, identity.SurveyRead, identity.PatientRead}

// allowsUsers reports whether end users may perform an operation with an access token.
func allowsUsers(operation contractOperation) bool {
	lacking := slices.ContainsFunc(operation.scopes, func(s identity.Scope) bool { return !slices.Contains(userScopes, s) })
	return operation.scheme == access.SchemeAccessToken && !lacking && !operation.applications
}

const notFoundDetail = "resource not found"

// TestAuthorizationOfEveryOperation calls every operation of both contracts as every kind of
// principal, with and without the required scopes, and on another user's resources.
func TestAuthorizationOfEveryOperation(t *testing.T) {
	t.Parallel()
	f := newAuthorizationFixture(t, accesstest.Operations(t))
	for _, operation := range contractOperations(t) {
		t.Run(operation.name, func(t *testing.T) {
			f := *f
			f.t = t
			f.checkUnauthenticated(operation)
			if operation.scheme == "" {
				return
			}
			f.checkApplications(operation)
			f.checkUsers(operation)
		})
	}
}

// checkUnauthenticated calls an operation without credentials and with invalid ones.
func (f *authorizationFixture) checkUnauthenticated(operation contractOperation) {
	session, err := f.tokens.IssueSession(identity.Session{UserID: "ada", SurveyID: "s1"}, today.Add(time.Hour))
	check(f.t, err)
	target, wrong := f.newOwner(), httptest.NewRequest(http.MethodGet, "/", nil)
	wrong.SetBasicAuth("all", "wrong-key")
	for name, headers := range map[string]map[string]string{
		"no credentials":      nil,
		"wrong key":           {"App-Id": "all", "App-Key": "wrong-key", "Authorization": wrong.Header.Get("Authorization")},
		"wrong token":         {"Authorization": "Bearer wrong"},
		"session of the page": {"Authorization": "Bearer " + session},
	} {
		status, text := f.call(operation, target, headers)
		if want := unauthenticated(operation); want == 0 && denies(status) || want != 0 && status != want {
			f.t.Errorf("%s: got %d, want %d: %s", name, status, want, text)
		}
	}
}

// checkApplications calls an operation as applications with and without its scopes.
func (f *authorizationFixture) checkApplications(operation contractOperation) {
	for _, id := range []string{appIDWithScopes(operation.scopes), "all"} {
		if status, text := f.call(operation, f.newOwner(), f.asApplication(operation, id)); denies(status) || status >= http.StatusInternalServerError {
			f.t.Errorf("application %s: got %d: %s", id, status, text)
		}
	}
	for _, scope := range operation.scopes {
		for _, id := range []string{appIDWithoutScope(scope), appIDWithScopes(nil)} {
			status, text := f.call(operation, f.newOwner(), f.asApplication(operation, id))
			if status != http.StatusForbidden || !strings.Contains(text, fmt.Sprintf("lacks the scope %s", scope)) {
				f.t.Errorf("application %s: got %d, want 403 that names %s: %s", id, status, scope, text)
			}
		}
	}
}

// checkUsers calls an operation as end users, on their own resources and on another user's.
func (f *authorizationFixture) checkUsers(operation contractOperation) {
	own, another := f.newOwner(), f.newOwner()
	onOwn, ownText := f.call(operation, own, f.asUser(own.user))
	onAnother, anotherText := f.call(operation, another, f.asUser(own.user))
	ofUser := strings.Contains(operation.path, "{survey_id}") || strings.Contains(operation.path, "{patient_id}")
	switch {
	case operation.scheme != access.SchemeAccessToken:
		if want := unauthenticated(operation); onOwn != want || onAnother != want {
			f.t.Errorf("end user: got %d and %d, want %d: %s", onOwn, onAnother, want, ownText)
		}
	case !allowsUsers(operation):
		if onOwn != http.StatusForbidden || onAnother != http.StatusForbidden {
			f.t.Errorf("end user: got %d and %d, want 403: %s", onOwn, onAnother, ownText)
		}
	default:
		if denies(onOwn) || strings.Contains(ownText, notFoundDetail) || onOwn >= http.StatusInternalServerError {
			f.t.Errorf("end user on own resources: got %d: %s", onOwn, ownText)
		}
		if ofUser && (onAnother != http.StatusNotFound || !strings.Contains(anotherText, notFoundDetail)) {
			f.t.Errorf("end user on another user's resources: got %d, want 404: %s", onAnother, anotherText)
		}
	}
	for _, id := range []string{another.user, another.patient, another.survey} {
		if strings.Contains(ownText, id) || ofUser && strings.Contains(anotherText, id) {
			f.t.Errorf("end user: the response reveals another user's resource: %s %s", ownText, anotherText)
		}
	}
}

// TestUnknownOperationIsDenied checks that operations missing in the contracts are denied to
// everyone, even if they require no credentials.
func TestUnknownOperationIsDenied(t *testing.T) {
	t.Parallel()
	f := newAuthorizationFixture(t, access.Operations{})
	target := f.newOwner()
	for _, operation := range contractOperations(t) {
		for name, headers := range map[string]map[string]string{
			"no credentials": nil, "application": f.asApplication(operation, "all"), "end user": f.asUser(target.user),
		} {
			if status, text := f.call(operation, target, headers); status != http.StatusForbidden {
				t.Errorf("%s as %s: got %d, want 403: %s", operation.name, name, status, text)
			}
		}
	}
}
