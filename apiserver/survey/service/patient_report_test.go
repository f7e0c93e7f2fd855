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

// newServiceWithArticles returns a service over a release with articles on c_1 and c_3, and a
// function that shows or hides results for patients.
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
	if err := serviceStore(r).Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdatePatient(t.Context(), patient) }); err != nil {
		t.Fatal(err)
	}
	return patient, identity.Principal{Actor: audit.Actor{UserID: patient.UserID}}
}

// completeSurvey creates a survey and answers all questions.
func completeSurvey(t *testing.T, r *service.Service, patient record.Patient, principal identity.Principal, sections ...string) record.Survey {
	t.Helper()
	created, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: "triage", Sections: sections}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		step, err := r.Current(t.Context(), principal, created.ID)
		if err != nil {
			t.Fatal(err)
		}
		if step == nil {
			return created
		}
		if _, err := r.Answer(t.Context(), principal, created.ID, flow.Submission{Answer: validAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPatientReportHidesConditions checks that a tenant can hide conditions and their
// articles, while the triage level stays visible and the stored result stays complete.
func TestPatientReportHidesConditions(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	created := completeSurvey(t, r, patient, user, "symptoms", "dynamic")
	shown, err := r.PatientReport(t.Context(), user, created.ID)
	if err != nil || shown.Hidden || len(shown.Assessment.Conditions) == 0 || len(shown.Questions) < 2 {
		t.Fatalf("got %+v, %v", shown, err)
	}
	show(false)
	hidden, err := r.PatientReport(t.Context(), user, created.ID)
	if err != nil || !hidden.Hidden || hidden.Assessment.Conditions != nil {
		t.Fatalf("got %+v, %v", hidden, err)
	}
	hidden.Hidden, hidden.Assessment.Conditions = false, shown.Assessment.Conditions
	if diff := cmp.Diff(shown, hidden); diff != "" {
		t.Errorf("report differs in more than the conditions:\n%s", diff)
	}
	show(true)
	if again, err := r.PatientReport(t.Context(), user, created.ID); err != nil || !cmp.Equal(again, shown) {
		t.Errorf("after showing conditions again: %v\n%s", err, cmp.Diff(shown, again))
	}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	created := completeSurvey(t, r, patient, user, "symptoms", "dynamic")
	got, report, err := r.Article(t.Context(), user, created.ID, "c_1")
	text := func(words string) []record.ArticleNode { return []record.ArticleNode{{Type: "text", Text: words}} }
	want := record.Article{Title: "About c_1", Sections: []record.ArticleSection{{Name: "summary", Title: "In short", Content: []record.ArticleNode{
		{Type: "paragraph", Children: append(text("It passes. "), record.ArticleNode{Type: "link", Text: "https://example.org", Children: text("A book")})},
		{Type: "unordered-list", Children: []record.ArticleNode{{Type: "list-item", Children: text("rest")}}},
	}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || report.Survey.ID != created.ID || report.Assessment == nil {
		t.Errorf("%v, report %+v (-want +got):\n%s", err, report, diff)
	}
	_, other := createWoman(t, r)
	for name, test := range map[string]struct {
		by        identity.Principal
		condition string
	}{
		"of nothing to read": {user, "c_2"}, "not of the result": {user, "c_99"}, "of another user": {other, "c_1"},
	} {
		if got, _, err := r.Article(t.Context(), test.by, created.ID, test.condition); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	show(false)
	if got, _, err := r.Article(t.Context(), user, created.ID, "c_1"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("with hidden conditions: got %+v, %v", got, err)
	}
}

// TestPatientReportErrors checks that the report is unavailable before the survey is
// completed, and contains no conditions if the survey asked for no symptoms.
func TestPatientReportErrors(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	started := createSurvey(t, r, patient, record.TypeTriage)
	if _, err := r.PatientReport(t.Context(), user, started.ID); !errors.Is(err, service.ErrNotCompleted) {
		t.Errorf("before completion: got %v", err)
	}
	if _, _, err := r.Article(t.Context(), user, started.ID, "c_1"); !errors.Is(err, service.ErrNotCompleted) {
		t.Errorf("before completion: got %v", err)
	}
	created := completeSurvey(t, r, patient, user, "allergies", "notes")
	report, err := r.PatientReport(t.Context(), user, created.ID)
	if err != nil || report.Assessment != nil || len(report.Questions) != 2 {
		t.Errorf("got %+v, %v", report, err)
	}
	if _, _, err := r.Article(t.Context(), user, created.ID, "c_1"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("without an assessment: got %v", err)
	}
}

// TestExplainHidesConditionsFromUsers checks that, if a tenant hides conditions, the
// explanation of a question reveals none to end users, but all to applications.
func TestExplainHidesConditionsFromUsers(t *testing.T) {
	t.Parallel()
	r, show := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	created, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: "triage", Sections: []string{"symptoms", "dynamic"}}})
	if err != nil {
		t.Fatal(err)
	}
	reasonsWithConditions := 0
	for step, err := r.Current(t.Context(), user, created.ID); step != nil; step, err = r.Current(t.Context(), user, created.ID) {
		if err != nil {
			t.Fatal(err)
		}
		show(true)
		shown, err := r.Explain(t.Context(), user, created.ID)
		if err != nil {
			t.Fatal(err)
		}
		reasonsWithConditions += len(shown.Reason.Conditions)
		show(false)
		hidden, err := r.Explain(t.Context(), user, created.ID)
		appView, appErr := r.Explain(t.Context(), portal, created.ID)
		if errors.Join(err, appErr) != nil || hidden.Reason.Conditions != nil || !cmp.Equal(appView.Reason, shown.Reason) || hidden.Reason.Type != shown.Reason.Type {
			t.Errorf("got view %+v, with hidden conditions %+v, as application %+v, %v", shown, hidden, appView, errors.Join(err, appErr))
		}
		if _, err := r.Answer(t.Context(), user, created.ID, flow.Submission{Answer: validAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
	if reasonsWithConditions == 0 {
		t.Error("want at least one reason with conditions")
	}
	if explained, err := r.Explain(t.Context(), user, created.ID); explained.HasReason || err != nil || !cmp.Equal(explained.Reason, flow.Reason{}) {
		t.Errorf("after completion: got reason %+v, %v", explained.Reason, err)
	}
}

// TestViewIsLimitedToOwner checks that only the owner of a survey can view it.
func TestViewIsLimitedToOwner(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	patient, user := createWoman(t, r)
	created := createSurvey(t, r, patient, record.TypeTriage)
	view, err := r.View(t.Context(), user, created.ID)
	if err != nil || len(view.Steps) != 1 || view.Age != patient.Age || view.Emergency != "" {
		t.Fatalf("got %+v, %v", view, err)
	}
	if _, err := r.Answer(t.Context(), user, created.ID, flow.Submission{Answer: json.RawMessage(`[{"id": "s_5"}]`)}); err != nil {
		t.Fatal(err)
	}
	if view, err = r.View(t.Context(), user, created.ID); err != nil || view.Emergency != "emergency" || !view.IsNewEmergency {
		t.Errorf("after an emergency: got %+v, %v", view, err)
	}
	_, other := createWoman(t, r)
	if _, err := r.View(t.Context(), other, created.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("as another user: got %v", err)
	}
	if _, err := r.Explain(t.Context(), other, created.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("as another user: got %v", err)
	}
}

// TestItemsByIDKeepsOrder checks that items are returned in the order of the IDs, with names
// from the list as filtered for the patient.
func TestItemsByIDKeepsOrder(t *testing.T) {
	t.Parallel()
	r, _ := newServiceWithArticles(t)
	list := record.SourceList{Name: record.SymptomList, Sex: "male", Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en"}
	got, err := r.ItemsByID(list, []string{"s_2", "s_99", "s_3", "s_1", "lt_1"})
	if want := []record.Item{{ID: "s_2", Name: "s_2"}, {ID: "s_1", Name: "s_1"}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := r.ParseText(list, string(make([]byte, section.MaxFreeTextLength))); err != nil {
		t.Errorf("text of maximum length: %v", err)
	}
	if _, err := r.ParseText(list, "\xff\xfe"); err != nil {
		t.Errorf("invalid UTF-8: got %v", err)
	}
	if _, err := r.ParseText(list, string(make([]byte, section.MaxFreeTextLength+1))); err == nil || err.Error() != "words: expected at most 2048 characters, got 2049" {
		t.Errorf("text above the maximum length: got %v", err)
	}
}
