// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// newServiceWithArticles returns a service over a release with articles about c_1 and
// c_3, which shows or hides results from patients.
func newServiceWithArticles(t *testing.T) (r *service.Service, show func(bool)) {
	t.Helper()
	draft, dir := surveytest.NewReleaseBuilder(), t.TempDir()
	for _, condition := range []string{"c_1", "c_3"} {
		draft.Article(condition, "About "+condition, modeltest.Section(model.SummarySection, "In short",
			modeltest.Node(model.ParagraphNode, modeltest.Text("It passes. "), modeltest.Link("https://example.org", "A book")),
			modeltest.Node(model.UnorderedListNode, modeltest.Node(model.ListItemNode, modeltest.Text("rest"))),
		))
	}
	meta := draft.Draft().Meta
	if err := model.WriteFile(filepath.Join(dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	r = openService(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"), dir)
	features := section.Features{PatientResults: true}
	r.Features = func() section.Features { return features }
	return r, func(shown bool) { features.PatientResults = shown }
}

// createWoman creates a patient with known sex and age, and her user.
func createWoman(t *testing.T, r *service.Service) (record.Patient, identity.Principal) {
	t.Helper()
	patient := createPatient(t, r)
	patient.Sex, patient.Age = "female", record.Age{Value: 34, Unit: assessment.Year}
	if err := storeOf(r).Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdatePatient(t.Context(), patient) }); err != nil {
		t.Fatal(err)
	}
	return patient, identity.Principal{Actor: audit.Actor{UserID: patient.UserID}}
}

// completeSurvey creates a survey and answers all questions.
func completeSurvey(t *testing.T, r *service.Service, patient record.Patient, by identity.Principal, sections ...string) record.Survey {
	t.Helper()
	made, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: "triage", Sections: sections}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		step, err := r.Current(t.Context(), by, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if step == nil {
			return made
		}
		if _, err := r.Answer(t.Context(), by, made.ID, flow.Submission{Answer: validAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
}

// A tenant can hide conditions and their articles. The triage level stays visible, and
// the stored result stays complete.
func TestPatientReportHidesConditions(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	made := completeSurvey(t, r, patient, user, "symptoms", "dynamic")
	shown, err := r.PatientReport(t.Context(), user, made.ID)
	if err != nil || shown.Hidden || len(shown.Assessment.Conditions) == 0 || len(shown.Questions) < 2 {
		t.Fatalf("got %+v, %v", shown, err)
	}
	show(false)
	hidden, err := r.PatientReport(t.Context(), user, made.ID)
	if err != nil || !hidden.Hidden || hidden.Assessment.Conditions != nil {
		t.Fatalf("got %+v, %v", hidden, err)
	}
	hidden.Hidden, hidden.Assessment.Conditions = false, shown.Assessment.Conditions
	if diff := cmp.Diff(shown, hidden); diff != "" {
		t.Errorf("more than the conditions is hidden:\n%s", diff)
	}
	show(true)
	if again, err := r.PatientReport(t.Context(), user, made.ID); err != nil || !cmp.Equal(again, shown) {
		t.Errorf("shown again: %v\n%s", err, cmp.Diff(shown, again))
	}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	made := completeSurvey(t, r, patient, user, "symptoms", "dynamic")
	got, advice, err := r.Article(t.Context(), user, made.ID, "c_1")
	text := func(words string) []record.ArticleNode { return []record.ArticleNode{{Type: "text", Text: words}} }
	want := record.Article{Title: "About c_1", Sections: []record.ArticleSection{{Name: "summary", Title: "In short", Content: []record.ArticleNode{
		{Type: "paragraph", Children: append(text("It passes. "), record.ArticleNode{Type: "link", Text: "https://example.org", Children: text("A book")})},
		{Type: "unordered-list", Children: []record.ArticleNode{{Type: "list-item", Children: text("rest")}}},
	}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || advice.Survey.ID != made.ID || advice.Assessment == nil {
		t.Errorf("%v, of %+v (-want +got):\n%s", err, advice, diff)
	}
	_, other := createWoman(t, r)
	for name, test := range map[string]struct {
		by        identity.Principal
		condition string
	}{
		"of nothing to read": {user, "c_2"}, "not of the result": {user, "c_99"}, "of another user": {other, "c_1"},
	} {
		if got, _, err := r.Article(t.Context(), test.by, made.ID, test.condition); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	show(false)
	if got, _, err := r.Article(t.Context(), user, made.ID, "c_1"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("where conditions are hidden: got %+v, %v", got, err)
	}
}

// There is no report before the survey is completed, and no conditions if no symptoms
// were asked about.
func TestPatientReportErrors(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	begun := createSurvey(t, r, patient, record.TypeTriage)
	if _, err := r.PatientReport(t.Context(), user, begun.ID); !errors.Is(err, service.ErrNotCompleted) {
		t.Errorf("before the end: %v", err)
	}
	if _, _, err := r.Article(t.Context(), user, begun.ID, "c_1"); !errors.Is(err, service.ErrNotCompleted) {
		t.Errorf("before the end: %v", err)
	}
	made := completeSurvey(t, r, patient, user, "allergies", "notes")
	advice, err := r.PatientReport(t.Context(), user, made.ID)
	if err != nil || advice.Assessment != nil || len(advice.Questions) != 2 {
		t.Errorf("got %+v, %v", advice, err)
	}
	if _, _, err := r.Article(t.Context(), user, made.ID, "c_1"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("without an assessment: %v", err)
	}
}

// If a tenant hides conditions, the explanation of a question names none to end users,
// but all to applications.
func TestExplainHidesConditionsFromUsers(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	made, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: "triage", Sections: []string{"symptoms", "dynamic"}}})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for step, err := r.Current(t.Context(), user, made.ID); step != nil; step, err = r.Current(t.Context(), user, made.ID) {
		if err != nil {
			t.Fatal(err)
		}
		show(true)
		shown, err := r.Explain(t.Context(), user, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		named += len(shown.Reason.Conditions)
		show(false)
		hidden, err := r.Explain(t.Context(), user, made.ID)
		ours, oursErr := r.Explain(t.Context(), portal, made.ID)
		if errors.Join(err, oursErr) != nil || hidden.Reason.Conditions != nil || !cmp.Equal(ours.Reason, shown.Reason) || hidden.Reason.Type != shown.Reason.Type {
			t.Errorf("shown %+v, hidden %+v, to the application %+v, %v", shown, hidden, ours, errors.Join(err, oursErr))
		}
		if _, err := r.Answer(t.Context(), user, made.ID, flow.Submission{Answer: validAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
	if named == 0 {
		t.Error("no reason names a condition")
	}
	if why, err := r.Explain(t.Context(), user, made.ID); why.HasReason || err != nil || !cmp.Equal(why.Reason, flow.Reason{}) {
		t.Errorf("after the end: %+v, %v", why.Reason, err)
	}
}

// A survey is visible to its own user only.
func TestViewIsLimitedToOwner(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	made := createSurvey(t, r, patient, record.TypeTriage)
	sight, err := r.View(t.Context(), user, made.ID)
	if err != nil || len(sight.Steps) != 1 || sight.Age != patient.Age || sight.Emergency != "" {
		t.Fatalf("got %+v, %v", sight, err)
	}
	if _, err := r.Answer(t.Context(), user, made.ID, flow.Submission{Answer: json.RawMessage(`[{"id": "s_5"}]`)}); err != nil {
		t.Fatal(err)
	}
	if sight, err = r.View(t.Context(), user, made.ID); err != nil || sight.Emergency != "emergency" || !sight.IsNewEmergency {
		t.Errorf("after an emergency: %+v, %v", sight, err)
	}
	_, other := createWoman(t, r)
	if _, err := r.View(t.Context(), other, made.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another user: %v", err)
	}
	if _, err := r.Explain(t.Context(), other, made.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another user: %v", err)
	}
}

// Names come from the list as filtered for the patient, in the order of the IDs.
func TestItemsByIDKeepsOrder(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	list := record.SourceList{Name: record.SymptomList, Sex: "male", Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en"}
	got, err := r.ItemsByID(list, []string{"s_2", "s_99", "s_3", "s_1", "lt_1"})
	if want := []record.Item{{ID: "s_2", Name: "s_2"}, {ID: "s_1", Name: "s_1"}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := r.ParseText(list, string(make([]byte, section.MaxFreeTextLength))); err != nil {
		t.Errorf("the longest words: %v", err)
	}
	if _, err := r.ParseText(list, "\xff\xfe"); err != nil {
		t.Errorf("what is no UTF-8: %v", err)
	}
	if _, err := r.ParseText(list, string(make([]byte, section.MaxFreeTextLength+1))); err == nil || err.Error() != "words: expected at most 2048 characters, got 2049" {
		t.Errorf("too many words: %v", err)
	}
}
