// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
)

const (
	usersPath    = "/api/mgp/v1/users"
	patientsPath = "/api/mgp/v1/patients"
	auditPath    = "/api/mgp/v1/audit"
)

// usersClient is a client for users and patients.
type usersClient struct {
	*fixture
	bearer string
}

func newUsersClient(t testing.TB, change ...func(*guidance.Options)) usersClient {
	t.Helper()
	r := newFixture(t, change...)
	return usersClient{r, "Bearer " + r.token("portal", "portal-key", "")}
}

// send sends a call and checks its status.
func (c usersClient) send(method, path, body string, status int) (text string) {
	c.t.Helper()
	response, text := c.call(method, path, body, "Authorization", c.bearer, "Content-Type", "application/json")
	if response.StatusCode != status {
		c.t.Errorf("%s %s %s: got status %d, want %d: %s", method, path, body, response.StatusCode, status, text)
	}
	return strings.TrimSpace(text)
}

// create sends a call and returns the ID of the created object.
func (c usersClient) create(path, body string) string {
	c.t.Helper()
	return decode[struct{ ID string }](c.t, c.send("POST", path, body, http.StatusCreated)).ID
}

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// maskIDs replaces UUIDs, to make responses comparable.
func maskIDs(text string) string { return uuidPattern.ReplaceAllString(text, "<id>") }

func TestUsers(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := r.create(usersPath, `{"email": "Ada@portal.example", "phone": "+49 30 12345678", "unknown": 1}`)
	path := usersPath + "/" + user
	other := usersPath + "/" + r.create(usersPath, `{}`)
	const (
		ada  = `{"email":"Ada@portal.example","id":"<id>","phone":"+493012345678"}`
		bare = `{"email":null,"id":"<id>","phone":null}`
	)
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", path, "", 200, ada},
		{"GET", other, "", 200, bare},
		{"POST", usersPath, `{"email": null, "phone": ""}`, 201, bare},
		{"PATCH", path, `{}`, 200, ada},
		{"PATCH", path, `{"email": ""}`, 200, ada},
		{"PATCH", path, `{"phone": null}`, 200, `{"email":"Ada@portal.example","id":"<id>","phone":null}`},
		{"PATCH", path, `{"email": "ada@x.example", "phone": "+1 (555) 010-0199"}`, 200, `{"email":"ada@x.example","id":"<id>","phone":"+15550100199"}`},
		{"PATCH", other, `{"email": "ADA@x.example"}`, 409, `{"detail":"the email belongs to another user"}`},
		{"PATCH", other, `{"phone": "+1 555 010 0199"}`, 409, `{"detail":"the phone belongs to another user"}`},
		{"POST", usersPath, `{"email": "ADA@x.example"}`, 409, `{"detail":"the email belongs to another user"}`},
		{"DELETE", path, "", 204, ""},
		{"DELETE", path, "", 404, `{"detail":"resource not found"}`},
		{"GET", path, "", 404, `{"detail":"resource not found"}`},
		{"PATCH", path, `{}`, 404, `{"detail":"resource not found"}`},
		{"GET", path + "/export", "", 404, `{"detail":"resource not found"}`},
		{"GET", usersPath + "/x", "", 404, `{"detail":"resource not found"}`},
		{"GET", usersPath + "/%00", "", 404, `{"detail":"resource not found"}`},
		{"POST", usersPath, `{"email": "ada@X.example"}`, 201, `{"email":"ada@X.example","id":"<id>","phone":null}`},
	} {
		if diff := cmp.Diff(step.want, maskIDs(r.send(step.method, step.path, step.body, step.status))); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", step.method, step.path, step.body, diff)
		}
	}
}

func TestPatients(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := r.create(usersPath, `{}`)
	patient := r.create(patientsPath, `{"user_id": "`+user+`"}`)
	path := patientsPath + "/" + patient
	encoded := func(sex, birth, age string, dependent bool) string {
		return fmt.Sprintf(`{"age":%s,"birth_date":%s,"dependent":%v,"id":"<id>","sex":%s,"user_id":"<id>"}`, age, birth, dependent, sex)
	}
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", path, "", 200, encoded("null", "null", "null", false)},
		{"POST", patientsPath, `{"user_id": "` + user + `", "sex": "female", "birth_date": "1992-02-29", "age": {"value": 3}, "dependent": true}`, 201,
			encoded(`"female"`, `"1992-02-29"`, `{"unit":"year","value":34}`, true)},
		{"POST", patientsPath, `{"user_id": "` + user + `", "sex": null, "birth_date": "", "age": {"value": 8, "unit": "month"}, "dependent": null}`, 201,
			encoded("null", "null", `{"unit":"month","value":8}`, false)},
		{"PATCH", path, `{"user_id": "` + user + `", "sex": "male", "age": {"value": 34}, "dependent": true}`, 200,
			encoded(`"male"`, "null", `{"unit":"year","value":34}`, true)},
		{"PATCH", path, `{"sex": "", "age": {}}`, 200, encoded(`"male"`, "null", `{"unit":"year","value":34}`, true)},
		{"PATCH", path, `{"birth_date": "2025-11-21", "dependent": null}`, 200, encoded(`"male"`, `"2025-11-21"`, `{"unit":"month","value":12}`, true)},
		{"PATCH", path, `{"birth_date": null}`, 200, encoded(`"male"`, "null", `{"unit":"year","value":34}`, true)},
		{"PATCH", path, `{"sex": null, "age": null, "dependent": false}`, 200, encoded("null", "null", "null", false)},
		{"PATCH", path, `{"user_id": "0b9b5f4e-2a55-4f0d-8f7b-5a4a5d7c9e22"}`, 422,
			`{"detail":"not valid: user_id","errors":[{"field":"user_id","message":"a patient cannot be moved to another user; create a new patient"}]}`},
		{"POST", patientsPath, `{"user_id": "0b9b5f4e-2a55-4f0d-8f7b-5a4a5d7c9e22"}`, 422,
			`{"detail":"not valid: user_id","errors":[{"field":"user_id","message":"no user has this id"}]}`},
		{"POST", patientsPath, `{"user_id": "\u0000"}`, 422,
			`{"detail":"not valid: user_id","errors":[{"field":"user_id","message":"no user has this id"}]}`},
		{"DELETE", path, "", 204, ""},
		{"GET", path, "", 404, `{"detail":"resource not found"}`},
		{"DELETE", path, "", 404, `{"detail":"resource not found"}`},
		{"PATCH", path, `{"sex": "male"}`, 404, `{"detail":"resource not found"}`},
		{"DELETE", usersPath + "/" + user, "", 204, ""},
	} {
		if diff := cmp.Diff(step.want, maskIDs(r.send(step.method, step.path, step.body, step.status))); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", step.method, step.path, step.body, diff)
		}
	}
	if left := decode[struct{ Items []any }](t, r.send("GET", patientsPath, "", 200)); len(left.Items) != 0 {
		t.Errorf("patients of a deleted user remain: %v", left.Items)
	}
}

// TestUsersAndPatientsValidation checks that all invalid fields are reported at once, with
// the expected values.
func TestUsersAndPatientsValidation(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := usersPath + "/" + r.create(usersPath, `{}`)
	patient := patientsPath + "/" + r.create(patientsPath, `{"user_id": "`+strings.TrimPrefix(user, usersPath+"/")+`"}`)
	for _, test := range []struct {
		method, path, body string
		status             int
		fields             string
	}{
		{"POST", usersPath, `{"email": "ada", "phone": "112"}`, 422, "email phone"},
		{"POST", usersPath, `{"email": 7}`, 422, "email"},
		{"POST", usersPath, `[]`, 422, "body"},
		{"POST", usersPath, `"x"`, 422, "body"},
		{"POST", usersPath, `{"email": "ada@x.example\u0000"}`, 422, "email"},
		{"PATCH", user, `{"email": "ada", "phone": "x"}`, 422, "email phone"},
		{"PATCH", user, `{"email": {}}`, 422, "email"},
		{"PATCH", user, `{"phone": 493012345678}`, 422, "phone"},
		{"POST", patientsPath, `{}`, 422, "user_id"},
		{"POST", patientsPath, `{"sex": "x", "birth_date": "2026-11-22", "age": {"value": 131}}`, 422, "user_id sex birth_date age.value"},
		{"POST", patientsPath, `{"user_id": "x", "age": 34}`, 422, "age"},
		{"POST", patientsPath, `{"user_id": "x", "age": {"value": "34"}}`, 422, "age.value"},
		{"POST", patientsPath, `{"user_id": "x", "dependent": "yes"}`, 422, "dependent"},
		{"PATCH", patient, `{"sex": "x", "birth_date": "x", "age": {"unit": "week", "value": 3}}`, 422, "sex birth_date age.unit"},
		{"PATCH", patient, `{"age": {"value": []}}`, 422, "age.value"},
		{"PATCH", patient, `{"age": 34}`, 422, "age"},
		{"GET", usersPath + "?email=ada", "", 422, "email"},
		{"GET", usersPath + "?email=ada@x.example&phone=%2B493012345678", "", 422, "phone"},
		{"GET", usersPath + "?limit=0&cursor=x&phone=1", "", 422, "limit cursor phone"},
		{"GET", usersPath + "?cursor=1", "", 422, "cursor"},
		{"GET", patientsPath + "?limit=51", "", 422, "limit"},
		{"GET", auditPath + "?from=2026-11-21&to=x", "", 422, "from to"},
		{"GET", auditPath + "?application=%00&limit=x", "", 422, "limit application"},
		{"POST", usersPath, `{`, 400, ""},
		{"POST", usersPath, `{"email": "` + strings.Repeat("x", 1<<20) + `"}`, 413, ""},
	} {
		text := r.send(test.method, test.path, test.body, test.status)
		said := decode[struct {
			Detail string
			Errors []struct{ Field, Message string }
		}](t, text)
		var fields []string
		for _, fieldErr := range said.Errors {
			fields = append(fields, fieldErr.Field)
			if fieldErr.Message == "" {
				t.Errorf("%s %s: field %s has no message", test.path, test.body, fieldErr.Field)
			}
		}
		if got := strings.Join(fields, " "); got != test.fields || said.Detail == "" {
			t.Errorf("%s %s %s: got response %s, want the fields %s", test.method, test.path, test.body, text, test.fields)
		}
	}
}

func TestFindUsers(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	ada := r.create(usersPath, `{"email": "ada@x.example", "phone": "+493012345678"}`)
	r.create(usersPath, `{}`)
	for query, want := range map[string]int{
		"": 2, "?email=ADA@X.EXAMPLE": 1, "?phone=%2B49+30+12345678": 1, "?phone=+493012345678": 1, "?email=eve@x.example": 0, "?email=&phone=": 2,
	} {
		page := decode[struct {
			Self  string
			Items []struct{ ID string }
		}](t, r.send("GET", usersPath+query, "", 200))
		if len(page.Items) != want || want == 1 && page.Items[0].ID != ada {
			t.Errorf("%s: got %v, want %d users", query, page.Items, want)
		}
		if strings.Contains(query, "ADA") && !strings.Contains(page.Self, "email=ADA%40X.EXAMPLE") {
			t.Errorf("%s: link %s lacks the filter", query, page.Self)
		}
	}
}

// TestPatientPagination checks that the page links lead to every page and preserve the
// filter.
func TestPatientPagination(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user, other := r.create(usersPath, `{}`), r.create(usersPath, `{}`)
	var want []string
	for range 5 {
		want = append(want, r.create(patientsPath, `{"user_id": "`+user+`"}`))
		r.create(patientsPath, `{"user_id": "`+other+`"}`)
	}
	var got []string
	next := r.baseURL + patientsPath + "?limit=2&user_id=" + user
	for pages := 0; next != "" && pages < 10; pages++ {
		page := decode[struct {
			Next  *string
			Items []struct{ ID string }
		}](t, r.send("GET", strings.TrimPrefix(next, r.baseURL), "", 200))
		for _, item := range page.Items {
			got = append(got, item.ID)
		}
		next = ""
		if page.Next != nil {
			next = *page.Next
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patients of one user (-want +got):\n%s", diff)
	}
}

func TestExportUser(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := r.create(usersPath, `{"email": "ada@x.example"}`)
	r.create(patientsPath, `{"user_id": "`+user+`", "sex": "female"}`)
	want := `{"audit":[` +
		`{"action":"export","application":"portal","at":"2026-11-21T09:30:00Z","resource":"user","resource_id":"<id>","user_id":null},` +
		`{"action":"create","application":"portal","at":"2026-11-21T09:30:00Z","resource":"patient","resource_id":"<id>","user_id":null},` +
		`{"action":"create","application":"portal","at":"2026-11-21T09:30:00Z","resource":"user","resource_id":"<id>","user_id":null}],` +
		`"patients":[{"age":null,"birth_date":null,"dependent":false,"id":"<id>","sex":"female","user_id":"<id>"}],"surveys":[],` +
		`"user":{"email":"ada@x.example","id":"<id>","phone":null}}`
	if diff := cmp.Diff(want, maskIDs(r.send("GET", usersPath+"/"+user+"/export", "", 200))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := r.create(usersPath, `{}`)
	r.create(patientsPath, `{"user_id": "`+user+`"}`)
	r.send("GET", usersPath, "", 200)
	r.send("DELETE", usersPath+"/"+user, "", 204)
	for query, want := range map[string]string{
		"":                                   "delete user, list user, create patient, create user",
		"?resource=patient":                  "create patient",
		"?action=delete&resource_id=" + user: "delete user",
		"?application=kiosk":                 "",
		"?user_id=" + user:                   "",
		"?from=2026-11-21T10:30:00%2B01:00&to=2026-11-21T09:30:01": "delete user, list user, create patient, create user",
		"?to=2026-11-21T09:30:00Z":                                 "",
		"?limit=2&cursor=1":                                        "create patient, create user",
	} {
		page := decode[struct {
			Items []struct{ Action, Resource string }
		}](t, r.send("GET", auditPath+query, "", 200))
		var got []string
		for _, record := range page.Items {
			got = append(got, record.Action+" "+record.Resource)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
}

// unavailableStore is a store that cannot be reached.
type unavailableStore struct{}

func (s unavailableStore) View(ctx context.Context, _ func(users.Reader) error) error {
	return s.Transact(ctx, nil)
}

func (unavailableStore) Transact(context.Context, func(users.Tx) error) error {
	return fmt.Errorf("beginning transaction: connection to the server failed: connection refused")
}

func TestUsersStorageDown(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t, func(o *guidance.Options) {
		o.Users = &users.Service{Storage: unavailableStore{}, Keyring: o.Users.Keyring, Now: o.Now}
	})
	id := "/0b9b5f4e-2a55-4f0d-8f7b-5a4a5d7c9e22"
	calls := [][3]string{
		{"POST", usersPath, `{}`}, {"GET", usersPath, ""}, {"GET", usersPath + id, ""}, {"PATCH", usersPath + id, `{}`},
		{"DELETE", usersPath + id, ""}, {"GET", usersPath + id + "/export", ""}, {"POST", patientsPath, `{"user_id": "` + id[1:] + `"}`},
		{"GET", patientsPath, ""}, {"GET", patientsPath + id, ""}, {"PATCH", patientsPath + id, `{}`}, {"DELETE", patientsPath + id, ""},
		{"GET", auditPath, ""},
	}
	for _, call := range calls {
		response, text := r.call(call[0], call[1], call[2], "Authorization", r.bearer, "Content-Type", "application/json")
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || strings.Contains(text, "refused") {
			t.Errorf("%v: got status %d %s", call, response.StatusCode, text)
		}
	}
	if got := strings.Count(r.log.String(), "connection refused"); got != len(calls) {
		t.Errorf("got %d log lines with the cause, want %d", got, len(calls))
	}
}

// TestUsersWithWrongKeys checks that wrong encryption keys are reported as a server fault
// without revealing secrets.
func TestUsersWithWrongKeys(t *testing.T) {
	t.Parallel()
	var register *users.Service
	r := newUsersClient(t, func(o *guidance.Options) { register = o.Users })
	user := r.create(usersPath, `{"email": "ada@x.example"}`)
	other, err := encryption.GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	register.Keyring = other
	text := r.send("GET", usersPath+"/"+user, "", 500)
	if strings.Contains(text, "keyset") || !strings.Contains(r.log.String(), "restore the keysets") || strings.Contains(r.log.String(), "ada@") {
		t.Errorf("got response %s and log %s", text, r.log)
	}
}

// TestPersonalDataIsNotLogged checks that the log does not contain personal data.
func TestPersonalDataIsNotLogged(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	user := r.create(usersPath, `{"email": "ada@x.example", "phone": "+493012345678"}`)
	r.send("GET", usersPath+"?email=ada@x.example", "", 200)
	r.send("POST", usersPath, `{"email": "ada@x.example"}`, 409)
	r.send("POST", usersPath, `{"email": "ada@x"}`, 422)
	r.send("DELETE", usersPath+"/"+user, "", 204)
	if log := r.log.String(); strings.Contains(log, "ada@") || strings.Contains(log, "12345678") {
		t.Errorf("got log %s", log)
	}
}

// FuzzUserBodies checks that every body gets a response allowed by the contract.
func FuzzUserBodies(f *testing.F) {
	var options guidance.Options
	r := newUsersClient(f, func(o *guidance.Options) { options = *o })
	user := r.create(usersPath, `{}`)
	patient := patientsPath + "/" + r.create(patientsPath, `{"user_id": "`+user+`"}`)
	handler := guidance.New(options)
	checked, err := parsedContract()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"email": "ada@x.example", "phone": null}`, `{"user_id": "` + user + `", "age": {"value": 1e400}}`, `{"sex": "male", "birth_date": "0001-01-01"}`,
		`null`, `{"age": null}`, `{"dependent": 1}`, "\xff", `{"email": "a@b.c\u0000"}`, `{"phone": "+٤٩٣٠١٢٣٤٥٦٧٨"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, call := range [][2]string{{"POST", usersPath}, {"PATCH", usersPath + "/" + user}, {"POST", patientsPath}, {"PATCH", patient}} {
			request := httptest.NewRequest(call[0], call[1], strings.NewReader(body))
			request.Header.Set("Authorization", r.bearer)
			request.Header.Set("Content-Type", "application/json")
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			if err := checked.ValidateResponse(request, recorder.Code, recorder.Header(), recorder.Body.Bytes()); err != nil || recorder.Code >= 500 {
				t.Errorf("%v %q: got status %d %s: %v", call, body, recorder.Code, recorder.Body, err)
			}
		}
	})
}
