// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// httpFlow is a survey driver over HTTP: a server on a database that is closed and reopened.
// Calls alternate between both prefixes, and every response is validated against the
// contract.
type httpFlow struct {
	usersClient
	options guidance.Options
	url     string
	dir     string
	texts   *i18n.Catalog
	server  *httptest.Server
	library *model.Store
	now     atomic.Pointer[time.Time]
	calls   atomic.Int64
	env     section.Env
	id      string // of the survey
}

func newHTTPFlow(t *testing.T, url string) *httpFlow {
	t.Helper()
	f := &httpFlow{url: url, dir: t.TempDir()}
	f.usersClient = newUsersClient(t, func(o *guidance.Options) { f.options = *o })
	f.store = nil // the fixture's store stays unused
	words, err := section.LoadTexts()
	f.must(err)
	f.texts = words
	t.Cleanup(f.stop)
	return f
}

func (f *httpFlow) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *httpFlow) stop() {
	if f.server != nil {
		f.server.Close()
		f.library.Close()
		f.must(f.store.Close())
		f.server = nil
	}
}

// start starts a server on the releases in a directory.
func (f *httpFlow) start(dir string) {
	var err error
	f.store, err = open.New(f.url)
	f.must(err)
	f.must(f.store.Open(f.t.Context(), storage.Owner{}))
	f.library, err = model.OpenStore(dir, []model.ReleaseRef{{ID: surveytest.NewReleaseBuilder().Draft().Meta.ModelID}})
	f.must(err)
	o := f.options
	o.Usage, o.Feedback = f.store, f.store
	o.Users = &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: f.store}, Keyring: f.options.Users.Keyring, Now: o.Now}
	features := f.env.Features
	o.Surveys = &service.Service{
		Storage: storage.Scope[service.Reader, service.Tx]{Store: f.store}, Models: f.library, Engine: inference.New(), Texts: f.texts,
		Features: func() section.Features { return features }, Now: func() time.Time { return *f.now.Load() },
	}
	f.server = httptest.NewServer(middleware.WithRequestInfo(guidance.New(o)))
	checked, err := parsedContract()
	f.must(err)
	f.baseURL, f.client = f.server.URL, f.server.Client()
	f.client.Transport = checked.Transport(f.t, &alternatingPrefixes{f.client.Transport, &f.calls})
}

func (f *httpFlow) RejectsMalformed() bool { return true }
func (f *httpFlow) SetTime(now time.Time)  { f.now.Store(&now) }

// ServeRelease restarts the server with another release.
func (f *httpFlow) ServeRelease(draft *modeltest.Builder, confirms bool) section.Env {
	draft.Drug("d_1", "Insulin", "A10AB01", []string{"p_8"}).Drug("d_2", "Ibuprofen", "M01AE01", nil).ChronicDisease("c_2", "p_8").Hospitalizations("p_47")
	meta := draft.Draft().Meta
	f.must(model.WriteFile(filepath.Join(f.dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(f.t)))
	release := draft.Build(f.t)
	f.env = section.Env{
		Release: release, Engine: inference.New(), Texts: f.texts.Match(release.Meta.Language), Lists: section.ReleaseLists{Release: release},
		Features: section.Features{Prefill: true, PatientResults: true, PrefillConfirmation: confirms},
	}
	return f.Restart()
}

func (f *httpFlow) Restart() section.Env {
	f.stop()
	f.start(f.dir)
	return f.env
}

// ask sends a request for the survey and decodes the response into target.
func (f *httpFlow) ask(method, path string, body, target any) (status int, err error) {
	sent := ""
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = string(text)
	}
	response, text := f.call(method, path, sent, "Authorization", f.bearer, "Content-Type", "application/json")
	if response.StatusCode >= http.StatusBadRequest {
		return response.StatusCode, decodeError(f.t, response.StatusCode, text)
	}
	if response.StatusCode != http.StatusNoContent {
		err = json.Unmarshal([]byte(text), target)
	}
	return response.StatusCode, err
}

// decodeError returns the error in a response. It includes the field of a validation error.
func decodeError(t testing.TB, status int, text string) error {
	t.Helper()
	body := decode[struct {
		Detail string
		Errors []struct{ Field, Message string }
	}](t, text)
	for _, fieldErr := range body.Errors {
		body.Detail = fieldErr.Field + ": " + fieldErr.Message
	}
	return &surveytest.ResponseError{Status: status, Detail: body.Detail}
}

// questionsPath returns the path of the survey's questions.
func (f *httpFlow) questionsPath(rest string) string {
	return surveysPath + "/" + f.id + "/questions/" + rest
}

// alternatingPrefixes sends every second request of the question flow to the other prefix,
// which is not in the contract.
type alternatingPrefixes struct {
	next  http.RoundTripper
	calls *atomic.Int64
}

func (a *alternatingPrefixes) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "/questions/") && a.calls.Add(1)%2 == 0 {
		request = request.Clone(request.Context())
		request.URL.Path = strings.Replace(request.URL.Path, "/api/mgp/v1/", "/api/v2/", 1)
	}
	return a.next.RoundTrip(request)
}

func (f *httpFlow) Create(creation flow.CreateOptions) error {
	patient := creation.Patient
	user := record.EncryptedUser{ID: uuid.NewString(), EncryptedContact: []byte{1}, KeyVersion: "g", CreatedAt: testNow}
	patient.ID, patient.UserID, patient.CreatedAt = uuid.NewString(), user.ID, testNow
	f.must(f.store.Transact(f.t.Context(), func(tx storage.Tx) error {
		if err := tx.InsertUser(f.t.Context(), user, nil); err != nil {
			return err
		}
		return tx.InsertPatient(f.t.Context(), patient)
	}))
	evidence := []map[string]string{}
	for _, evidenceItem := range creation.Evidence {
		evidence = append(evidence, map[string]string{"id": evidenceItem.ID, "choice_id": evidenceItem.Choice, "source": evidenceItem.Source})
	}
	body := map[string]any{"type": creation.Type, "patient_id": patient.ID, "evidence": evidence}
	if creation.Sections != nil {
		body["sections"] = creation.Sections
	}
	var created struct{ ID string }
	_, err := f.ask("POST", surveysPath, body, &created)
	f.id = created.ID
	return err
}

func (f *httpFlow) Answer(given flow.Submission) (*record.Question, error) {
	query := ""
	if given.Index != nil {
		query = fmt.Sprintf("?index=%d", *given.Index)
	}
	return f.question("POST", "current"+query, map[string]any{"answer": given.Answer})
}

func (f *httpFlow) ChangeAnswer(index int, body json.RawMessage) (*record.Question, error) {
	return f.question("PUT", fmt.Sprint(index), map[string]any{"answer": body})
}

func (f *httpFlow) question(method, rest string, body any) (*record.Question, error) {
	var next record.Question
	var encoded struct {
		ID    string
		Index int
	}
	status, err := f.ask(method, f.questionsPath(rest), body, &encoded)
	if err != nil || status == http.StatusNoContent {
		return nil, err
	}
	next.ID, next.Index = encoded.ID, encoded.Index
	return &next, nil
}

func (f *httpFlow) Update(patch flow.Patch) error {
	body := map[string]any{}
	if patch.Sections != nil {
		body["sections"] = patch.Sections
	}
	if end := patch.ExpirationDate; end != nil {
		body["expiration_date"] = *end
		if end.IsZero() {
			body["expiration_date"] = nil
		}
	}
	var revised any
	_, err := f.ask("PATCH", surveysPath+"/"+f.id, body, &revised)
	return err
}

func (f *httpFlow) Current() (*record.Question, error) {
	question, err := f.question("GET", "current", nil)
	if responseErr, ok := err.(*surveytest.ResponseError); ok && responseErr.Detail == (&flow.ClosedError{}).Error() { //nolint:errorlint // as it was made
		return nil, nil
	}
	return question, err
}

func (f *httpFlow) AnswerAt(index int) (json.RawMessage, error) {
	var encoded struct {
		UserAnswer struct{ Answer json.RawMessage } `json:"user_answer"`
	}
	_, err := f.ask("GET", f.questionsPath(fmt.Sprint(index)), nil, &encoded)
	return encoded.UserAnswer.Answer, err
}

func (f *httpFlow) HasResult() bool {
	var summary any
	_, err := f.ask("GET", surveysPath+"/"+f.id+"/summary", nil, &summary)
	return err == nil
}

func (f *httpFlow) Stored() (p flow.Progress) {
	f.must(f.store.Transact(f.t.Context(), func(tx storage.Tx) (err error) {
		if p.Survey, err = tx.GetSurvey(f.t.Context(), f.id); err != nil {
			return err
		}
		p.Steps, err = tx.ListSteps(f.t.Context(), f.id)
		return err
	}))
	return p
}

// TestSurveyFlowOverHTTP checks that surveys over HTTP match the reference model on each
// storage, across restarts and release changes and, in a soak test, under concurrency.
func TestSurveyFlowOverHTTP(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.NewDatabase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHTTPFlow(t, fresh(t))
			driveFlow(t, f)
		})
	}
}

// surveysPerStorage is the number of surveys driven per storage outside a soak test.
const surveysPerStorage = 12

// driveFlow drives random surveys. It runs some of the cases that rapid generates, or all of
// them in soak tests and while rapid shrinks a failure.
func driveFlow(t *testing.T, f *httpFlow) {
	count, failed := 0, os.Getenv("ANAMNESIS_SOAK") != ""
	rapid.Check(t, func(r *rapid.T) {
		if count >= surveysPerStorage && !failed {
			return
		}
		m := &concurrentMachine{surveytest.NewMachine(r, f, testNow), f}
		whole := false
		defer func() { failed = failed || !whole }()
		r.Repeat(surveytest.Actions(m))
		whole = true
		count++
	})
}

// concurrentMachine is a machine with concurrent answers.
type concurrentMachine struct {
	*surveytest.Machine
	flow *httpFlow
}

// Race sends two concurrent answers, or an answer and a change of another answer.
func (m *concurrentMachine) Race(r *rapid.T) {
	before := m.flow.Stored()
	evidenceItem, other := m.DrawCall(r), m.DrawCall(r)
	outcomes := make(chan error, 1)
	go func() { outcomes <- evidenceItem.Do(m.flow) }()
	second := other.Do(m.flow)
	first := <-outcomes
	stored := m.flow.Stored()
	if !m.IsSerializable(before, stored, evidenceItem, other, first, second) && !m.IsSerializable(before, stored, other, evidenceItem, second, first) {
		r.Fatalf("%+v returned %v and %+v returned %v, which matches no sequential order: %s", evidenceItem, first, other, second, cmp.Diff(before, stored))
	}
	m.Resync(stored)
}
