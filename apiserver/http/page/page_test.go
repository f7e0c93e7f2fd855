// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// TestTriageSurvey completes a triage from the magic link to the result without JavaScript.
func TestTriageSurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	made := c.createSurvey(surveySpec{})
	link, err := url.Parse(c.magicLink(made))
	c.must(err)
	v, path := c.newVisitor(), "/survey/"+made.ID
	v.get(link.RequestURI()).expect(t, http.StatusOK, "Your questions are ready", "Call 112 now")
	v.post(path, url.Values{"code": {link.Query().Get("magicCode")}}).expectRedirect(t, path)
	v.get(path).expect(t, http.StatusOK, "How soon do you need help?", "This is not a diagnosis", "Call 112 now")
	result := v.completeSurvey(healthyPatient("I have had a headache since yesterday"), path+"/questions/0", continueToEnd)
	result.expect(t, http.StatusOK, "Your result", "Female, 34 years · Answered on "+c.date(), "Who can help", "What it could be", "Headache", "What fits", "This is not a diagnosis")
	if result.path != path+"/result" {
		t.Errorf("survey ended at %s", result.path)
	}
	article, found := findArticle(result, path)
	if !found {
		t.Fatalf("article not found in the result\n%s", result.text())
	}
	v.get(article).expect(t, http.StatusOK, "Back to your result")
	v.get(path+"/articles/c_0").expect(t, http.StatusNotFound, "This page does not exist")
}

// findArticle returns the path of an article on a condition.
func findArticle(result pageResponse, path string) (article string, found bool) {
	_, after, found := strings.Cut(result.body, `href="`+path+`/articles/`)
	id, _, _ := strings.Cut(after, `"`)
	return path + "/articles/" + id, found
}

func TestIntakeSurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake"}))
	v.get(v.survey).expect(t, http.StatusOK, "Some questions before your visit", "ready for the doctor")
	sections := map[string]bool{}
	result := v.completeSurvey(healthyPatient("A cough. It began on Monday."), v.survey+"/questions/0", func(s pageResponse) bool {
		if _, after, ok := strings.Cut(s.text(), "Part "); ok {
			number, _, _ := strings.Cut(after, ":")
			sections[number] = true
		}
		return true
	})
	result.expect(t, http.StatusOK, "Your answers are ready", "See them in person.", "A cough. It began on Monday.")
	if len(sections) != 11 {
		t.Errorf("got parts %v", sections)
	}
}

// TestSurveyWithoutAssessment checks that a survey without symptom questions ends with a list
// of the answers.
func TestSurveyWithoutAssessment(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for kind, says := range map[string]string{
		"intake": "The doctor can read your answers now", "triage": "Your answers are saved", "follow_up": "Your answers are saved",
	} {
		v := c.openMagicLink(c.createSurvey(surveySpec{Type: kind, Sections: []string{"allergies", "notes"}}))
		v.completeSurvey(healthyPatient("I feel <b>fine</b> & well"), v.survey+"/questions/0", continueToEnd).expect(t, http.StatusOK,
			"Your answers are ready", says, "Is there anything else you would like to tell the doctor? I feel <b>fine</b> & well", "Skipped")
	}
}

// TestFollowUpSurvey checks that a follow-up asks a returning patient about changes, and that
// an adult who answers for a child is addressed as a parent.
func TestFollowUpSurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	child := record.Patient{Dependent: true, Sex: "male", Age: record.Age{Value: 7, Unit: "year"}}
	first := c.createSurvey(surveySpec{Patient: child, Language: "de"})
	v := c.openMagicLink(first)
	v.get(v.survey).expect(t, http.StatusOK, "Wie dringend ist es bei Ihrem Kind?")
	v.completeSurvey(healthyPatient("Husten und Fieber"), v.survey+"/questions/0", continueToEnd).expect(t, http.StatusOK, "Husten")
	patient, err := c.users.GetPatient(context.Background(), portalActor, first.PatientID)
	c.must(err)
	v = c.openMagicLink(c.createSurveyFor(patient, surveySpec{Type: "follow_up"}))
	v.get(v.survey).expect(t, http.StatusOK, "How is your child now?", "Please answer for them")
	asksAgain := false
	v.completeSurvey(healthyPatient("nothing"), v.survey+"/questions/0", func(s pageResponse) bool {
		asksAgain = asksAgain || strings.Contains(strings.ToLower(s.heading()), "cough")
		return true
	}).expect(t, http.StatusOK, "Your result", "Male, 7 years")
	if !asksAgain {
		t.Error("want a question about the cough")
	}
}
