// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

const surveysPath = "/api/mgp/v1/surveys"

// surveyFixture is a fixture with a user and a patient, for creating and answering surveys.
type surveyFixture struct {
	*signInFixture
	user, patient string
	features      section.Features
	surveys       *service.Service
}

func newSurveyFixture(t *testing.T) *surveyFixture {
	t.Helper()
	c := &surveyFixture{features: section.Features{Prefill: true, PatientResults: true}}
	c.signInFixture = newSignInFixture(t, func(o *guidance.Options) {
		o.Surveys = newSurveyService(t, o, &c.features)
		c.surveys = o.Surveys
		o.PublicURL = func() string { return "https://acme.example" }
	})
	c.user = c.create(usersPath, `{"email": "ada@portal.example"}`)
	c.patient = c.create(patientsPath, `{"user_id": "`+c.user+`", "sex": "female", "age": {"value": 34}}`)
	return c
}

// newSurveyService returns a survey service with a small release on the storage of a users
// service.
func newSurveyService(t testing.TB, o *guidance.Options, features *section.Features) *service.Service {
	t.Helper()
	draft, dir := surveytest.NewReleaseBuilder(), t.TempDir()
	draft.Drug("d_1", "Insulin", "A10AB01", []string{"p_8"}).Drug("d_2", "Ibuprofen", "M01AE01", nil, func(d *model.DraftDrug) { d.Brands = []string{"Nurofen"} }).
		ChronicDisease("c_2", "p_8").Hospitalizations("p_47")
	meta := draft.Draft().Meta
	if err := model.WriteFile(filepath.Join(dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenStore(dir, []model.ReleaseRef{{ID: meta.ModelID}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(library.Close)
	words, err := section.LoadTexts()
	if err != nil {
		t.Fatal(err)
	}
	return &service.Service{
		Storage: storage.Scope[service.Reader, service.Tx]{Store: o.Users.Storage.(storage.Scope[users.Reader, users.Tx]).Store}, Models: library, Engine: inference.New(), Texts: words,
		Features: func() section.Features { return *features }, Now: o.Now,
	}
}

// createSurvey creates a survey of the patient and returns its path.
func (f *surveyFixture) createSurvey(more string) (path string) {
	f.t.Helper()
	return surveysPath + "/" + f.create(surveysPath, `{"type": "triage", "patient_id": "`+f.patient+`"`+more+`}`)
}

// questionJSON is the part of a question that tests read.
type questionJSON struct {
	Index      int
	AnswerType string `json:"answer_type"`
	Meta       struct {
		Answers []struct {
			ID      string
			Choices []struct{ ID string }
		}
		MinValue      int    `json:"min_value"`
		Component     string `json:"component"`
		SourceListURL string `json:"source_list_url"`
		Required      bool
	}
	UserAnswer *struct{ Answer json.RawMessage } `json:"user_answer"`
}

func decodeQuestion[T any](t testing.TB, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// validAnswer returns a valid answer to a question.
func validAnswer(q questionJSON) string {
	switch q.AnswerType {
	case "choice":
		return `{"id": "` + q.Meta.Answers[0].ID + `"}`
	case "number":
		return fmt.Sprint(q.Meta.MinValue)
	case "text":
		return `"in my own words"`
	case "symptoms":
		if q.Meta.Component == "single" {
			return `[{"id": "` + q.Meta.Answers[0].ID + `", "choice_id": "present"}]`
		}
	case "list":
		if strings.Contains(q.Meta.SourceListURL, "/symptoms?") {
			return `[{"id": "s_1"}]`
		}
	}
	return "[]"
}

// completeSurvey answers all questions of a survey and returns their number.
func (f *surveyFixture) completeSurvey(path string) (questions int) {
	f.t.Helper()
	text := f.send("GET", path+"/questions/current", "", http.StatusOK)
	for questions = 1; ; questions++ {
		response, next := f.call("POST", path+"/questions/current", `{"answer": `+validAnswer(decodeQuestion[questionJSON](f.t, text))+`}`,
			"Authorization", f.bearer, "Content-Type", "application/json")
		switch response.StatusCode {
		case http.StatusOK:
			text = next
		case http.StatusNoContent:
			return questions
		default:
			f.t.Fatalf("%s: got status %d %s", text, response.StatusCode, next)
		}
	}
}

// TestSurveyLifecycle walks through a survey from its creation to its result, with every
// response validated against the contract.
func TestSurveyLifecycle(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey(`, "visit_reason": {"free": "text"}, "expiration_date": "2026-12-01T10:00:00+01:00"`)
	created := decodeQuestion[map[string]any](t, c.send("GET", path, "", http.StatusOK))
	for field, want := range map[string]any{
		"status": "new", "type": "triage", "expiration_date": "2026-12-01T09:00:00Z", "notification_date": nil,
		"visit_reason": map[string]any{"free": "text"}, "visit_date": nil, "language": "en",
	} {
		if diff := cmp.Diff(want, created[field]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
	for _, result := range []string{"/evidence_assessment", "/summary", "/fhir"} {
		c.send("GET", path+result, "", http.StatusConflict)
	}
	questions := c.completeSurvey(path)
	c.send("GET", path+"/questions/current", "", http.StatusConflict)
	c.send("POST", path+"/questions/current", `{"answer": []}`, http.StatusConflict)
	c.send("PUT", path+"/questions/0", `{"answer": []}`, http.StatusConflict)

	page := decodeQuestion[struct{ Items []struct{ Index int } }](t, c.send("GET", path+"/questions?limit=50", "", http.StatusOK))
	if len(page.Items) != questions || page.Items[questions-1].Index != questions-1 {
		t.Errorf("got %d of %d questions", len(page.Items), questions)
	}
	summary := decodeQuestion[struct {
		Survey    struct{ Status string }
		Questions []struct{ Answer any }
	}](t, c.send("GET", path+"/summary", "", http.StatusOK))
	if summary.Survey.Status != "completed" || len(summary.Questions) != questions {
		t.Errorf("got summary %+v", summary)
	}
	bare := c.send("GET", path+"/evidence_assessment", "", http.StatusOK)
	full := c.send("GET", path+"/evidence_assessment?condition_details=true&explanations=true", "", http.StatusOK)
	assessment := decodeQuestion[struct {
		Conditions []struct{ ID string }
		Triage     struct{ Level string }
	}](t, bare)
	if len(assessment.Conditions) == 0 || assessment.Triage.Level == "" {
		t.Errorf("got assessment %s", bare)
	}
	if strings.Contains(bare, "condition_details") || !strings.Contains(full, "condition_details") || !strings.Contains(full, "explain") {
		t.Errorf("without details: %s, with details: %s", bare, full)
	}
	bundle := c.send("GET", path+"/fhir", "", http.StatusOK)
	for _, resource := range []string{"Bundle", "QuestionnaireResponse", "RiskAssessment"} {
		if !strings.Contains(bundle, `"resourceType":"`+resource+`"`) {
			t.Errorf("resource %s not found in %s", resource, bundle)
		}
	}
	export := decodeQuestion[struct {
		Surveys []struct {
			Questions  []any
			Assessment *struct{} `json:"evidence_assessment"`
		}
		Audit []struct{ Resource string }
	}](t, c.send("GET", usersPath+"/"+c.user+"/export", "", http.StatusOK))
	if len(export.Surveys) != 1 || len(export.Surveys[0].Questions) != questions || export.Surveys[0].Assessment == nil {
		t.Errorf("got exported surveys %+v", export.Surveys)
	}
	seen := map[string]bool{}
	for _, record := range export.Audit {
		seen[record.Resource] = true
	}
	if !seen["survey"] || !seen["result"] {
		t.Errorf("got audit records of %v", seen)
	}
	c.send("DELETE", path, "", http.StatusNoContent)
	c.send("GET", path, "", http.StatusNotFound)
	c.send("GET", path+"/summary", "", http.StatusNotFound)
}

// TestSurveyOnBothPrefixes checks that the question flow is available under both prefixes,
// and that links keep the prefix of the request.
func TestSurveyOnBothPrefixes(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := strings.TrimPrefix(c.createSurvey(""), "/api/mgp/v1")
	c.client.Transport = http.DefaultTransport // the contract knows only the other prefix
	for prefix := range map[string]bool{"/api/mgp/v1": true, "/api/v2": true} {
		question := decodeQuestion[questionJSON](t, c.send("GET", prefix+path+"/questions/current", "", http.StatusOK))
		list, err := url.Parse(question.Meta.SourceListURL)
		if err != nil || list.Path != prefix+"/knowledge/symptoms" || "http://"+list.Host != c.baseURL {
			t.Errorf("got list URL %s", question.Meta.SourceListURL)
		}
		if want := "age.unit=year&age.value=34&language=en&sex=female"; list.RawQuery != want {
			t.Errorf("got list query %s, want %s", list.RawQuery, want)
		}
	}
	next := decodeQuestion[questionJSON](t, c.send("POST", "/api/v2"+path+"/questions/current", `{"answer": [{"id": "s_1"}]}`, http.StatusOK))
	if next.Index != 1 {
		t.Errorf("got next question %d", next.Index)
	}
	page := c.send("GET", "/api/v2"+path+"/questions", "", http.StatusOK)
	if !strings.Contains(page, `"self":"`+c.baseURL+"/api/v2"+path+"/questions?") {
		t.Errorf("got page %s", page)
	}
	for _, elsewhere := range []string{"/api/v2/surveys", "/api/v2" + path, "/api/v2/users", "/api/v2" + path + "/questions/0/x"} {
		c.send("GET", elsewhere, "", http.StatusNotFound)
	}
}

// TestKnowledge checks searching and paging through knowledge lists under both prefixes.
func TestKnowledge(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	lists := contractPrefix + "knowledge/"
	type page struct {
		Items      []struct{ ID, Name string }
		Self, Last string
		Next       *string
	}
	for query, want := range map[string]string{
		"drugs": "d_2 d_1", "drugs?query=nuro": "d_2", "drugs?query=insuln": "d_1", "chronic_diseases": "c_2", "hospitalizations?sex=male&age=40": "p_47",
		"symptoms?sex=male&limit=50": "p_28 p_47 p_7 p_8 s_1 s_11 s_12 s_13 s_14 s_15 s_2 s_21 s_4 s_5", "specialists?language=en-GB": "", "drugs?query=xyz": "",
	} {
		found := decodeQuestion[page](t, c.send("GET", lists+query, "", http.StatusOK))
		var ids []string
		for _, item := range found.Items {
			ids = append(ids, item.ID)
		}
		if got := strings.Join(ids, " "); want != "" && !strings.HasPrefix(got, want) || want == "" && strings.HasPrefix(query, "drugs") && got != "" {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	first := decodeQuestion[page](t, c.send("GET", lists+"drugs?limit=1&query=i&sex=male&age.value=8&age.unit=month", "", http.StatusOK))
	if len(first.Items) != 1 || !strings.Contains(first.Last, "age.unit=month&age.value=8&cursor=") || !strings.Contains(first.Last, "query=i&sex=male") {
		t.Errorf("got first page %+v", first)
	}
	for query, status := range map[string]int{
		"party": 404, "drugs?sex=other": 422, "drugs?age=old": 422, "drugs?age=131": 422, "drugs?age.value=1&age.unit=day": 422, "drugs?language=fr": 422, "drugs?cursor=9": 422, "drugs?limit=51": 422,
	} {
		c.send("GET", lists+query, "", status)
	}
	c.client.Transport = http.DefaultTransport
	if found := decodeQuestion[page](t, c.send("GET", "/api/v2/knowledge/drugs", "", http.StatusOK)); !strings.HasPrefix(found.Self, c.baseURL+"/api/v2/knowledge/drugs?") {
		t.Errorf("got page %s", found.Self)
	}
}

const contractPrefix = "/api/mgp/v1/"

// TestSurveysValidation checks the status of client errors.
func TestSurveysValidation(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	unknownID := uuid.NewString()
	for name, call := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"no type":              {"POST", surveysPath, `{"patient_id": "` + c.patient + `"}`, 422, `"type"`},
		"another type":         {"POST", surveysPath, `{"type": "party", "patient_id": "` + c.patient + `"}`, 422, "triage, intake or follow_up"},
		"no patient":           {"POST", surveysPath, `{"type": "triage"}`, 422, `"patient_id"`},
		"an unknown patient":   {"POST", surveysPath, `{"type": "triage", "patient_id": "` + unknownID + `"}`, 422, "patient not found"},
		"no id":                {"POST", surveysPath, `{"type": "triage", "patient_id": "x"}`, 422, "patient not found"},
		"another section":      {"POST", surveysPath, `{"type": "triage", "patient_id": "` + c.patient + `", "sections": ["party"]}`, 422, "sections[0]"},
		"no sections":          {"POST", surveysPath, `{"type": "triage", "patient_id": "` + c.patient + `", "sections": []}`, 422, "sections"},
		"sections as text":     {"POST", surveysPath, `{"type": "triage", "sections": "dynamic"}`, 422, "sections"},
		"a date without time":  {"POST", surveysPath, `{"type": "triage", "expiration_date": "2026-12-01"}`, 422, "expiration_date"},
		"unknown evidence":     {"POST", surveysPath, `{"type": "triage", "patient_id": "` + c.patient + `", "evidence": [{"id": "s_999", "choice_id": "present", "source": "initial"}]}`, 422, "evidence[0].id"},
		"another language":     {"POST", surveysPath, `{"type": "triage", "patient_id": "` + c.patient + `", "language": "fr"}`, 422, "language"},
		"no JSON":              {"POST", surveysPath, `{`, 400, "byte"},
		"a list":               {"POST", surveysPath, `[]`, 422, "body"},
		"another patient":      {"PATCH", path, `{"patient_id": "` + unknownID + `"}`, 422, "patient_id"},
		"an odd date":          {"PATCH", path, `{"notification_date": "soon"}`, 422, "notification_date"},
		"no such survey":       {"GET", surveysPath + "/" + unknownID, "", 404, ""},
		"no id of a survey":    {"GET", surveysPath + "/x", "", 404, ""},
		"erase nothing":        {"DELETE", surveysPath + "/" + unknownID, "", 404, ""},
		"a status":             {"GET", surveysPath + "?status=done", "", 422, "status"},
		"a page too far":       {"GET", surveysPath + "?cursor=7", "", 422, "cursor"},
		"no answer":            {"POST", path + "/questions/current", `{}`, 422, "answer"},
		"null":                 {"POST", path + "/questions/current", `{"answer": null}`, 422, "answer"},
		"an answer as text":    {"POST", path + "/questions/current", `{"answer": "headache"}`, 422, "answer"},
		"an unknown symptom":   {"POST", path + "/questions/current", `{"answer": [{"id": "s_999"}]}`, 422, "s_999"},
		"another index":        {"POST", path + "/questions/current?index=1", `{"answer": [{"id": "s_1"}]}`, 409, "(current: 0)"},
		"no index":             {"POST", path + "/questions/current?index=first", `{"answer": []}`, 422, "index"},
		"not answered yet":     {"PUT", path + "/questions/0", `{"answer": [{"id": "s_1"}]}`, 404, "has not been answered"},
		"far ahead":            {"GET", path + "/questions/99", "", 404, ""},
		"no index of a path":   {"GET", path + "/questions/first", "", 422, "question_index"},
		"an answer to nothing": {"POST", surveysPath + "/" + unknownID + "/questions/current", `{"answer": []}`, 404, ""},
		"odd details":          {"GET", path + "/evidence_assessment?condition_details=some", "", 422, "condition_details"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.send(call.method, call.path, call.body, call.status); !strings.Contains(got, call.says) {
				t.Errorf("got %s, want a message containing %q", got, call.says)
			}
		})
	}
}

// TestRepeatedAnswerIsIdempotent checks that an answer with an index is recorded once, even
// if it is sent repeatedly.
func TestRepeatedAnswerIsIdempotent(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	body := `{"answer": [{"id": "s_1"}]}`
	first := c.send("POST", path+"/questions/current?index=0", body, http.StatusOK)
	if again := c.send("POST", path+"/questions/current?index=0", body, http.StatusOK); again != first {
		t.Errorf("got response %s, then %s", first, again)
	}
	c.send("POST", path+"/questions/current?index=0", `{"answer": [{"id": "s_2"}]}`, http.StatusConflict)
	changed := decodeQuestion[questionJSON](t, c.send("PUT", path+"/questions/0", `{"answer": [{"id": "s_2"}]}`, http.StatusOK))
	if changed.Index != 1 {
		t.Errorf("after the change: got question %d", changed.Index)
	}
	kept := decodeQuestion[questionJSON](t, c.send("GET", path+"/questions/0", "", http.StatusOK))
	if kept.UserAnswer == nil || string(kept.UserAnswer.Answer) != `[{"id":"s_2","choice_id":"present"}]` {
		t.Errorf("got stored answer %+v", kept.UserAnswer)
	}
}

// TestConcurrentAnswersConflict checks that the first commit of concurrent answers wins, and
// that the others get a conflict that names the current question.
func TestConcurrentAnswersConflict(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	var group sync.WaitGroup
	statuses := make(chan int, 8)
	for range cap(statuses) {
		group.Go(func() {
			response, _ := c.call("POST", path+"/questions/current?index=0", `{"answer": [{"id": "`+fmt.Sprintf("s_%d", 1+len(statuses)%2)+`"}]}`,
				"Authorization", c.bearer, "Content-Type", "application/json")
			statuses <- response.StatusCode
		})
	}
	group.Wait()
	close(statuses)
	for status := range statuses {
		if status != http.StatusOK && status != http.StatusConflict {
			t.Errorf("got status %d", status)
		}
	}
	page := decodeQuestion[struct{ Items []any }](t, c.send("GET", path+"/questions", "", http.StatusOK))
	if len(page.Items) != 1 {
		t.Errorf("got %d stored answers", len(page.Items))
	}
}

// TestEndUserAccess checks that end users can access and answer only the surveys of their own
// patients.
func TestEndUserAccess(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	c.create(usersPath, `{"email": "eve@portal.example"}`)
	path := c.createSurvey("")
	ada, eve := c.signInByEmail("ada@portal.example"), c.signInByEmail("eve@portal.example")
	as := func(bearer, method, path, body string, status int) string {
		t.Helper()
		got, text := c.call(method, path, body, "Authorization", bearer, "Content-Type", "application/json")
		if got.StatusCode != status {
			t.Errorf("%s %s: got status %d, want %d: %s", method, path, got.StatusCode, status, text)
		}
		return text
	}
	for _, call := range []struct{ method, path, body string }{
		{"GET", path, ""}, {"GET", path + "/questions/current", ""}, {"POST", path + "/questions/current", `{"answer": [{"id": "s_1"}]}`},
		{"GET", path + "/questions/0", ""}, {"PUT", path + "/questions/0", `{"answer": [{"id": "s_2"}]}`}, {"GET", path + "/questions", ""},
	} {
		as(eve, call.method, call.path, call.body, http.StatusNotFound)
		as(ada, call.method, call.path, call.body, http.StatusOK)
	}
	as(eve, "GET", path+"/summary", "", http.StatusNotFound)
	for bearer, want := range map[string]int{ada: 1, eve: 0} {
		for _, filter := range []string{"", "?patient_id=" + c.patient, "?status=pending"} {
			if page := decodeQuestion[struct{ Items []any }](t, as(bearer, "GET", surveysPath+filter, "", http.StatusOK)); len(page.Items) != want {
				t.Errorf("%s: got %d surveys, want %d", filter, len(page.Items), want)
			}
		}
	}
	as(ada, "POST", surveysPath, `{"type": "triage", "patient_id": "`+c.patient+`"}`, http.StatusForbidden)
	as(ada, "DELETE", path, "", http.StatusForbidden)
	as(ada, "GET", path+"/magic_link", "", http.StatusForbidden)
	c.completeSurvey(path)
	as(ada, "GET", path+"/evidence_assessment", "", http.StatusOK)
	c.features.PatientResults = false
	as(ada, "GET", path+"/evidence_assessment", "", http.StatusNotFound)
	as(ada, "GET", path+"/summary", "", http.StatusOK)
	if bundle := as(ada, "GET", path+"/fhir", "", http.StatusOK); strings.Contains(bundle, "RiskAssessment") {
		t.Errorf("end user can see hidden results: %s", bundle)
	}
	as(eve, "GET", path+"/fhir", "", http.StatusNotFound)
	c.send("GET", path+"/evidence_assessment", "", http.StatusOK)
}

// TestMagicLink checks that a magic link signs in to the survey that it was created for.
func TestMagicLink(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	link := decodeQuestion[map[string]string](t, c.send("GET", path+"/magic_link", "", http.StatusOK))["magic_link"]
	address, err := url.Parse(link)
	if err != nil || address.Host != "acme.example" || address.Path != strings.TrimPrefix(path, "/api/mgp/v1/surveys")[0:0]+"/survey/"+path[len(surveysPath)+1:] {
		t.Fatalf("got link %s", link)
	}
	body := fmt.Sprintf(`{"code": %q, "resource_type": "survey", "resource_id": %q}`, address.Query().Get("magicCode"), path[len(surveysPath)+1:])
	token := decodeQuestion[map[string]string](t, c.send("POST", magicPath, body, http.StatusOK))["token"]
	if got, text := c.call("GET", path+"/questions/current", "", "Authorization", "Bearer "+token); got.StatusCode != http.StatusOK {
		t.Errorf("got status %d %s", got.StatusCode, text)
	}
}

// TestChangeSurvey checks that a survey can be changed before the first answer, and its dates
// also afterwards.
func TestChangeSurvey(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	changed := decodeQuestion[map[string]any](t, c.send("PATCH", path, `{"sections": ["notes"], "patient_id": "`+c.patient+`", "visit_date": "soon"}`, http.StatusOK))
	if diff := cmp.Diff([]any{"notes"}, changed["sections"]); diff != "" || changed["visit_date"] != "soon" {
		t.Errorf("got changed survey %v", changed)
	}
	if q := decodeQuestion[questionJSON](t, c.send("GET", path+"/questions/current", "", http.StatusOK)); q.AnswerType != "text" {
		t.Errorf("got question %+v", q)
	}
	c.send("PATCH", path, `{"sections": ["symptoms", "notes"]}`, http.StatusOK)
	c.send("POST", path+"/questions/current", `{"answer": [{"id": "s_1"}]}`, http.StatusOK)
	c.send("PATCH", path, `{"sections": ["notes"]}`, http.StatusConflict)
	c.send("PATCH", path, `{"visit_date": null, "expiration_date": "`+testNow.Add(time.Hour).Format(time.RFC3339)+`"}`, http.StatusOK)
	c.send("PATCH", path, `{"expiration_date": "`+testNow.Add(-time.Hour).Format(time.RFC3339)+`"}`, http.StatusOK)
	c.send("POST", path+"/questions/current", `{"answer": null}`, http.StatusConflict)
	after := decodeQuestion[map[string]any](t, c.send("GET", path, "", http.StatusOK))
	if after["visit_date"] != nil || after["status"] != "pending" {
		t.Errorf("after the changes: got %v", after)
	}
	c.send("GET", path+"/questions/current", "", http.StatusOK)
}

// TestAnswerReturnsBusyOnOverload checks that an answer during overload is rejected with
// Retry-After and not stored.
func TestAnswerReturnsBusyOnOverload(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey("")
	full := limiter.New(limiter.Limits{}, func(limiter.Reason) {})
	c.surveys.LimiterFor = func(findings int) service.Limiter { return full.Assessments(findings) }
	for _, call := range [][3]string{
		{"POST", path + "/questions/current", `{"answer": [{"id": "s_1"}]}`}, {"PUT", path + "/questions/0", `{"answer": [{"id": "s_1"}]}`},
		{"POST", surveysPath, `{"type": "triage", "patient_id": "` + c.patient + `"}`}, {"PATCH", path, `{"sections": ["notes"]}`},
	} {
		if got, text := c.call(call[0], call[1], call[2], "Authorization", c.bearer, "Content-Type", "application/json"); got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: got status %d %s", call[0], call[1], got.StatusCode, text)
		}
	}
	c.surveys.LimiterFor = nil
	if q := decodeQuestion[questionJSON](t, c.send("GET", path+"/questions/current", "", http.StatusOK)); q.Index != 0 {
		t.Errorf("got current question %d", q.Index)
	}
}

// TestAnswersAreNotLogged checks that the log does not contain answers.
func TestAnswersAreNotLogged(t *testing.T) {
	t.Parallel()
	c := newSurveyFixture(t)
	path := c.createSurvey(`, "sections": ["notes"]`)
	c.send("POST", path+"/questions/current", `{"answer": [{"id": "my secret"}]}`, http.StatusUnprocessableEntity)
	c.send("POST", path+"/questions/current", `{"answer": "my secret"}`, http.StatusNoContent)
	if log := c.log.String(); strings.Contains(log, "secret") {
		t.Errorf("got log %s", log)
	}
}

// FuzzSurveyBodies checks that every body gets a response allowed by the contract.
func FuzzSurveyBodies(f *testing.F) {
	var options guidance.Options
	features := section.Features{Prefill: true, PatientResults: true}
	r := newUsersClient(f, func(o *guidance.Options) {
		o.Surveys = newSurveyService(f, o, &features)
		o.PublicURL = func() string { return "" }
		options = *o
	})
	user := r.create(usersPath, `{}`)
	patient := r.create(patientsPath, `{"user_id": "`+user+`", "sex": "female", "age": {"value": 34}}`)
	handler := guidance.New(options)
	checked, err := parsedContract()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"type": "follow-up", "patient_id": "` + patient + `", "evidence": [{"id": "s_11", "choice_id": "absent", "source": "initial"}]}`,
		`{"answer": [{"id": "s_1", "choice_id": "present"}]}`, `{"answer": null}`, `{"answer": 1e99}`, `{"answer": "\u0000"}`, `{"answer": {"id": 7}}`,
		`{"sections": ["notes", "notes"]}`, `{"expiration_date": "2026-12-01T00:00:00"}`, `{"visit_date": {"a": [1, null]}}`, `null`, "\xff",
	} {
		f.Add(seed)
	}
	call := func(t *testing.T, method, path, body string) string {
		t.Helper()
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", r.bearer)
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if err := checked.ValidateResponse(request, recorder.Code, recorder.Header(), recorder.Body.Bytes()); err != nil || recorder.Code >= 500 {
			t.Errorf("%s %s %q: got status %d %s: %v", method, path, body, recorder.Code, recorder.Body, err)
		}
		return recorder.Body.String()
	}
	f.Fuzz(func(t *testing.T, body string) {
		created := call(t, "POST", surveysPath, `{"type": "intake", "patient_id": "`+patient+`"}`)
		path := surveysPath + "/" + decodeQuestion[struct{ ID string }](t, created).ID
		call(t, "POST", surveysPath, body)
		call(t, "PATCH", path, body)
		call(t, "POST", path+"/questions/current", body)
		call(t, "POST", path+"/questions/current?index=0", body)
		call(t, "PUT", path+"/questions/0", body)
	})
}
