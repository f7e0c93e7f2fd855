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

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	asking "github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// served is a flow over HTTP: a server of its own over a database, which is closed and
// opened anew. Calls take both prefixes in turn, and every answer is held against the
// contract.
type served struct {
	registry
	options guidance.Options
	url     string
	tmp     string
	words   section.Vocabulary
	server  *httptest.Server
	library *model.Library
	now     atomic.Pointer[time.Time]
	calls   atomic.Int64
	world   section.World
	id      string // of the survey
}

func newServed(t *testing.T, url string) *served {
	t.Helper()
	f := &served{url: url, tmp: t.TempDir()}
	f.registry = newRegistry(t, func(o *guidance.Options) { f.options = *o })
	f.store = nil // that of the rig stays unused
	words, err := section.ReadVocabulary()
	f.must(err)
	f.words = words
	t.Cleanup(f.stop)
	return f
}

func (f *served) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *served) stop() {
	if f.server != nil {
		f.server.Close()
		f.library.Close()
		f.must(f.store.Close())
		f.server = nil
	}
}

// start opens all that a server has over the releases of a directory.
func (f *served) start(dir string) {
	var err error
	f.store, err = open.New(f.url)
	f.must(err)
	f.must(f.store.Open(f.t.Context(), storage.Owner{}))
	f.library, err = model.OpenLibrary(dir, []model.Wanted{{ID: guidancetest.Draft().Draft().Meta.ModelID}})
	f.must(err)
	o := f.options
	o.Usage, o.Feedback = f.store, f.store
	o.People = &people.Register{Storage: f.store, Keys: f.options.People.Keys, Now: o.Now}
	features := f.world.Features
	o.Surveys = &surveys.Register{
		Storage: f.store, Models: f.library, Engine: engine.New(), Words: f.words,
		Features: func() section.Features { return features }, Now: func() time.Time { return *f.now.Load() },
	}
	f.server = httptest.NewServer(middleware.Identify(guidance.New(o)))
	checked, err := contract()
	f.must(err)
	f.address, f.client = f.server.URL, f.server.Client()
	f.client.Transport = checked.Transport(f.t, &bothPrefixes{f.client.Transport, &f.calls})
}

func (f *served) Strict() bool       { return true }
func (f *served) Pass(now time.Time) { f.now.Store(&now) }

// Serve restarts the server with another release.
func (f *served) Serve(draft *modeltest.Builder, confirms bool) section.World {
	draft.Drug("d_1", "Insulin", "A10AB01", []string{"p_8"}).Drug("d_2", "Ibuprofen", "M01AE01", nil).ChronicDisease("c_2", "p_8").Hospitalizations("p_47")
	meta := draft.Draft().Meta
	f.must(model.WriteFile(filepath.Join(f.tmp, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(f.t)))
	release := draft.Build(f.t)
	f.world = section.World{
		Release: release, Engine: engine.New(), Words: f.words.In(release.Meta.Language), Lists: section.ReleaseLists{Release: release},
		Features: section.Features{Prefill: true, PatientResults: true, PrefillConfirmation: confirms},
	}
	return f.Restart()
}

func (f *served) Restart() section.World {
	f.stop()
	f.start(f.tmp)
	return f.world
}

// ask makes a call of the survey and reads what it answers into into.
func (f *served) ask(method, path string, body, into any) (status int, err error) {
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
		return response.StatusCode, refused(f.t, response.StatusCode, text)
	}
	if response.StatusCode != http.StatusNoContent {
		err = json.Unmarshal([]byte(text), into)
	}
	return response.StatusCode, err
}

// refused is what an answer tells of an error: of a field that is wrong, the field too.
func refused(t testing.TB, status int, text string) error {
	t.Helper()
	told := decode[struct {
		Detail string
		Errors []struct{ Field, Message string }
	}](t, text)
	for _, wrong := range told.Errors {
		told.Detail = wrong.Field + ": " + wrong.Message
	}
	return &guidancetest.RefusedError{Status: status, Text: told.Detail}
}

// questions is where the questions of the survey are.
func (f *served) questions(rest string) string {
	return surveysPath + "/" + f.id + "/questions/" + rest
}

// bothPrefixes sends each second call of the question flow to the other prefix, of
// which the contract does not know.
type bothPrefixes struct {
	next  http.RoundTripper
	calls *atomic.Int64
}

func (b *bothPrefixes) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "/questions/") && b.calls.Add(1)%2 == 0 {
		request = request.Clone(request.Context())
		request.URL.Path = strings.Replace(request.URL.Path, "/api/mgp/v1/", "/api/v2/", 1)
	}
	return b.next.RoundTrip(request)
}

func (f *served) Create(creation survey.Creation) error {
	patient := creation.Patient
	user := storage.User{ID: uuid.NewString(), Contact: []byte{1}, Generation: "g", CreatedAt: now}
	patient.ID, patient.UserID, patient.CreatedAt = uuid.NewString(), user.ID, now
	f.must(f.store.Transact(f.t.Context(), func(tx storage.Tx) error {
		if err := tx.InsertUser(f.t.Context(), user, nil); err != nil {
			return err
		}
		return tx.InsertPatient(f.t.Context(), patient)
	}))
	evidence := []map[string]string{}
	for _, one := range creation.Evidence {
		evidence = append(evidence, map[string]string{"id": one.ID, "choice_id": one.Choice, "source": one.Source})
	}
	body := map[string]any{"type": creation.Type, "patient_id": patient.ID, "evidence": evidence}
	if creation.Sections != nil {
		body["sections"] = creation.Sections
	}
	var made struct{ ID string }
	_, err := f.ask("POST", surveysPath, body, &made)
	f.id = made.ID
	return err
}

func (f *served) Answer(given survey.Given) (*asking.Question, error) {
	query := ""
	if given.Index != nil {
		query = fmt.Sprintf("?index=%d", *given.Index)
	}
	return f.question("POST", "current"+query, map[string]any{"answer": given.Answer})
}

func (f *served) Change(index int, answer json.RawMessage) (*asking.Question, error) {
	return f.question("PUT", fmt.Sprint(index), map[string]any{"answer": answer})
}

func (f *served) question(method, rest string, body any) (*asking.Question, error) {
	var next asking.Question
	var shown struct {
		ID    string
		Index int
	}
	status, err := f.ask(method, f.questions(rest), body, &shown)
	if err != nil || status == http.StatusNoContent {
		return nil, err
	}
	next.ID, next.Index = shown.ID, shown.Index
	return &next, nil
}

func (f *served) Revise(patch survey.Patch) error {
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

func (f *served) Current() (*asking.Question, error) {
	question, err := f.question("GET", "current", nil)
	if told, ok := err.(*guidancetest.RefusedError); ok && told.Text == (&survey.ClosedError{}).Error() { //nolint:errorlint // as it was made
		return nil, nil
	}
	return question, err
}

func (f *served) At(index int) (json.RawMessage, error) {
	var shown struct {
		UserAnswer struct{ Answer json.RawMessage } `json:"user_answer"`
	}
	_, err := f.ask("GET", f.questions(fmt.Sprint(index)), nil, &shown)
	return shown.UserAnswer.Answer, err
}

func (f *served) HasResult() bool {
	var summary any
	_, err := f.ask("GET", surveysPath+"/"+f.id+"/summary", nil, &summary)
	return err == nil
}

func (f *served) Kept() (p survey.Progress) {
	f.must(f.store.Transact(f.t.Context(), func(tx storage.Tx) (err error) {
		if p.Survey, err = tx.Survey(f.t.Context(), f.id); err != nil {
			return err
		}
		p.Steps, err = tx.Steps(f.t.Context(), f.id)
		return err
	}))
	return p
}

// Surveys over HTTP go as the small model of the specification says, on each storage,
// through restarts and other releases; in a soak through races too.
func TestAnySurveyOverHTTP(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newServed(t, fresh(t))
			drive(t, f)
		})
	}
}

// share is how many surveys a run drives on each storage that is no soak.
const share = 12

// drive drives surveys of a flow: a share of those that rapid draws, but for a soak and
// for those that make a failure smaller.
func drive(t *testing.T, f *served) {
	ran, broke := 0, os.Getenv("ANAMNESIS_SOAK") != ""
	rapid.Check(t, func(r *rapid.T) {
		if ran >= share && !broke {
			return
		}
		m := &racing{guidancetest.Start(r, f, now), f}
		whole := false
		defer func() { broke = broke || !whole }()
		r.Repeat(guidancetest.Actions(m))
		whole = true
		ran++
	})
}

// racing is a machine whose answers race too.
type racing struct {
	*guidancetest.Machine
	flow *served
}

// Race has two clients answer at once, or one answer while the other changes an answer.
func (m *racing) Race(r *rapid.T) {
	was := m.flow.Kept()
	one, other := m.Call(r), m.Call(r)
	outcomes := make(chan error, 1)
	go func() { outcomes <- one.Make(m.flow) }()
	second := other.Make(m.flow)
	first := <-outcomes
	kept := m.flow.Kept()
	if !m.Settled(was, kept, one, other, first, second) && !m.Settled(was, kept, other, one, second, first) {
		r.Fatalf("%+v came to %v and %+v to %v, which no order explains: %s", one, first, other, second, cmp.Diff(was, kept))
	}
	m.Resume(kept)
}
