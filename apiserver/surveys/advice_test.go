// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// withArticles is a register over a release that has something to read about c_1 and
// c_3; patients see the results or not.
func withArticles(t *testing.T) (r *surveys.Register, show func(bool)) {
	t.Helper()
	draft, dir := guidancetest.Draft(), t.TempDir()
	for _, condition := range []string{"c_1", "c_3"} {
		draft.Article(condition, "About "+condition, modeltest.Section(model.SummarySection, "In short",
			modeltest.Node(model.ParagraphNode, modeltest.Text("It passes. "), modeltest.LinkTo("https://example.org", "A book")),
			modeltest.Node(model.UnorderedListNode, modeltest.Node(model.ListItemNode, modeltest.Text("rest"))),
		))
	}
	meta := draft.Draft().Meta
	if err := model.WriteFile(filepath.Join(dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	r = opened(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"), dir)
	features := section.Features{PatientResults: true}
	r.Features = func() section.Features { return features }
	return r, func(shown bool) { features.PatientResults = shown }
}

// aWoman is a patient of whom sex and age are known, and her user.
func aWoman(t *testing.T, r *surveys.Register) (guidance.Patient, audit.Actor) {
	t.Helper()
	patient := aPatient(t, r)
	patient.Sex, patient.Age = "female", guidance.Age{Value: 34, Unit: assessment.Year}
	if err := r.Storage.Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdatePatient(t.Context(), patient) }); err != nil {
		t.Fatal(err)
	}
	return patient, audit.Actor{UserID: patient.UserID}
}

// toTheEnd makes a survey and answers all of it.
func toTheEnd(t *testing.T, r *surveys.Register, patient guidance.Patient, by audit.Actor, sections ...string) guidance.Survey {
	t.Helper()
	made, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: patient.ID, Creation: survey.Creation{Type: "triage", Sections: sections}})
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
		if _, err := r.Answer(t.Context(), by, made.ID, survey.Given{Answer: anAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
}

// What a tenant hides are the conditions and what there is to read about them. How urgent
// it is stays, and the result that is kept stays whole.
func TestAdvice(t *testing.T) {
	t.Parallel()
	r, show := withArticles(t)
	patient, user := aWoman(t, r)
	made := toTheEnd(t, r, patient, user, "symptoms", "dynamic")
	shown, err := r.Advice(t.Context(), user, made.ID)
	if err != nil || shown.Hidden || len(shown.Assessment.Conditions) == 0 || len(shown.Questions) < 2 {
		t.Fatalf("got %+v, %v", shown, err)
	}
	show(false)
	hidden, err := r.Advice(t.Context(), user, made.ID)
	if err != nil || !hidden.Hidden || hidden.Assessment.Conditions != nil {
		t.Fatalf("got %+v, %v", hidden, err)
	}
	hidden.Hidden, hidden.Assessment.Conditions = false, shown.Assessment.Conditions
	if diff := cmp.Diff(shown, hidden); diff != "" {
		t.Errorf("more than the conditions is hidden:\n%s", diff)
	}
	show(true)
	if again, err := r.Advice(t.Context(), user, made.ID); err != nil || !cmp.Equal(again, shown) {
		t.Errorf("shown again: %v\n%s", err, cmp.Diff(shown, again))
	}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	r, show := withArticles(t)
	patient, user := aWoman(t, r)
	made := toTheEnd(t, r, patient, user, "symptoms", "dynamic")
	got, advice, err := r.Article(t.Context(), user, made.ID, "c_1")
	text := func(words string) []guidance.Node { return []guidance.Node{{Type: "text", Text: words}} }
	want := guidance.Article{Title: "About c_1", Sections: []guidance.ArticleSection{{Name: "summary", Title: "In short", Content: []guidance.Node{
		{Type: "paragraph", Children: append(text("It passes. "), guidance.Node{Type: "link", Text: "https://example.org", Children: text("A book")})},
		{Type: "unordered-list", Children: []guidance.Node{{Type: "list-item", Children: text("rest")}}},
	}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || advice.Survey.ID != made.ID || advice.Assessment == nil {
		t.Errorf("%v, of %+v (-want +got):\n%s", err, advice, diff)
	}
	_, other := aWoman(t, r)
	for name, test := range map[string]struct {
		by        audit.Actor
		condition string
	}{
		"of nothing to read": {user, "c_2"}, "not of the result": {user, "c_99"}, "of another user": {other, "c_1"},
	} {
		if got, _, err := r.Article(t.Context(), test.by, made.ID, test.condition); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	show(false)
	if got, _, err := r.Article(t.Context(), user, made.ID, "c_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("where conditions are hidden: got %+v, %v", got, err)
	}
}

// There is no advice before the end, and none about conditions where no symptoms are
// asked for.
func TestNoAdvice(t *testing.T) {
	t.Parallel()
	r, _ := withArticles(t)
	patient, user := aWoman(t, r)
	begun := begin(t, r, patient, guidance.Triage)
	if _, err := r.Advice(t.Context(), user, begun.ID); !errors.Is(err, surveys.ErrNotCompleted) {
		t.Errorf("before the end: %v", err)
	}
	if _, _, err := r.Article(t.Context(), user, begun.ID, "c_1"); !errors.Is(err, surveys.ErrNotCompleted) {
		t.Errorf("before the end: %v", err)
	}
	made := toTheEnd(t, r, patient, user, "allergies", "notes")
	advice, err := r.Advice(t.Context(), user, made.ID)
	if err != nil || advice.Assessment != nil || len(advice.Questions) != 2 {
		t.Errorf("got %+v, %v", advice, err)
	}
	if _, _, err := r.Article(t.Context(), user, made.ID, "c_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("without an assessment: %v", err)
	}
}

// Where a tenant hides conditions, the reason of a question names none to its user, and
// still all to an application.
func TestWhyHidesConditions(t *testing.T) {
	t.Parallel()
	r, show := withArticles(t)
	patient, user := aWoman(t, r)
	made, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: patient.ID, Creation: survey.Creation{Type: "triage", Sections: []string{"symptoms", "dynamic"}}})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for step, err := r.Current(t.Context(), user, made.ID); step != nil; step, err = r.Current(t.Context(), user, made.ID) {
		if err != nil {
			t.Fatal(err)
		}
		show(true)
		shown, err := r.Why(t.Context(), user, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		named += len(shown.Reason.Conditions)
		show(false)
		hidden, err := r.Why(t.Context(), user, made.ID)
		ours, oursErr := r.Why(t.Context(), portal, made.ID)
		if errors.Join(err, oursErr) != nil || hidden.Reason.Conditions != nil || !cmp.Equal(ours.Reason, shown.Reason) || hidden.Reason.Type != shown.Reason.Type {
			t.Errorf("shown %+v, hidden %+v, to the application %+v, %v", shown, hidden, ours, errors.Join(err, oursErr))
		}
		if _, err := r.Answer(t.Context(), user, made.ID, survey.Given{Answer: anAnswer(&step.Question)}); err != nil {
			t.Fatal(err)
		}
	}
	if named == 0 {
		t.Error("no reason names a condition")
	}
	if why, err := r.Why(t.Context(), user, made.ID); why.Known || err != nil || !cmp.Equal(why.Reason, survey.Reason{}) {
		t.Errorf("after the end: %+v, %v", why.Reason, err)
	}
}

// A survey is seen by its user and by no other.
func TestSee(t *testing.T) {
	t.Parallel()
	r, _ := withArticles(t)
	patient, user := aWoman(t, r)
	made := begin(t, r, patient, guidance.Triage)
	sight, err := r.See(t.Context(), user, made.ID)
	if err != nil || len(sight.Steps) != 1 || sight.Age != patient.Age || sight.Emergency != "" {
		t.Fatalf("got %+v, %v", sight, err)
	}
	if _, err := r.Answer(t.Context(), user, made.ID, survey.Given{Answer: json.RawMessage(`[{"id": "s_5"}]`)}); err != nil {
		t.Fatal(err)
	}
	if sight, err = r.See(t.Context(), user, made.ID); err != nil || sight.Emergency != "emergency" || !sight.EmergencyIsNew {
		t.Errorf("after an emergency: %+v, %v", sight, err)
	}
	_, other := aWoman(t, r)
	if _, err := r.See(t.Context(), other, made.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another user: %v", err)
	}
	if _, err := r.Why(t.Context(), other, made.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another user: %v", err)
	}
}

// Names are those of the list for the patient, in the order of the ids.
func TestNamed(t *testing.T) {
	t.Parallel()
	r, _ := withArticles(t)
	list := guidance.SourceList{Name: guidance.SymptomList, Sex: "male", Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en"}
	got, err := r.Named(list, []string{"s_2", "s_99", "s_3", "s_1", "lt_1"})
	if want := []guidance.Item{{ID: "s_2", Name: "s_2"}, {ID: "s_1", Name: "s_1"}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := r.Understand(list, string(make([]byte, section.LongestWords))); err != nil {
		t.Errorf("the longest words: %v", err)
	}
	if _, err := r.Understand(list, "\xff\xfe"); err != nil {
		t.Errorf("what is no UTF-8: %v", err)
	}
	if _, err := r.Understand(list, string(make([]byte, section.LongestWords+1))); err == nil || err.Error() != "words: expected at most 2048 characters, got 2049" {
		t.Errorf("too many words: %v", err)
	}
}
