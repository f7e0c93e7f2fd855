// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// A triage from the link in a message to its result, without a script.
func TestTriage(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	made := c.survey(wish{})
	link, err := url.Parse(c.link(made))
	c.must(err)
	v, path := c.visitor(), "/survey/"+made.ID
	v.get(link.RequestURI()).is(t, http.StatusOK, "Your questions are ready", "Call 112 now")
	v.post(path, url.Values{"code": {link.Query().Get("magicCode")}}).leadsTo(t, path)
	v.get(path).is(t, http.StatusOK, "How urgent is it?", "This is not a diagnosis", "Call 112 now")
	result := v.walk(healthy("I have had a headache since yesterday"), path+"/questions/0", all)
	result.is(t, http.StatusOK, "Your result", "Female, 34 years · Answered on "+c.date(), "Who can help", "What it may be", "Headache", "What speaks for it", "This is not a diagnosis")
	if result.path != path+"/result" {
		t.Errorf("it ended at %s", result.path)
	}
	article, found := articleOf(result, path)
	if !found {
		t.Fatalf("there is nothing to read about any condition\n%s", result.text())
	}
	v.get(article).is(t, http.StatusOK, "Back to your result")
	v.get(path+"/articles/c_0").is(t, http.StatusNotFound, "This page does not exist")
}

// articleOf is where there is something to read about a condition.
func articleOf(result shownPage, path string) (article string, found bool) {
	_, after, found := strings.Cut(result.body, `href="`+path+`/articles/`)
	id, _, _ := strings.Cut(after, `"`)
	return path + "/articles/" + id, found
}

func TestIntake(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Type: "intake"}))
	v.get(v.survey).is(t, http.StatusOK, "Some questions before your visit", "ready for the doctor")
	sections := map[string]bool{}
	result := v.walk(healthy("A cough. It began on Monday."), v.survey+"/questions/0", func(s shownPage) bool {
		if _, after, ok := strings.Cut(s.text(), "Part "); ok {
			number, _, _ := strings.Cut(after, ":")
			sections[number] = true
		}
		return true
	})
	result.is(t, http.StatusOK, "Your answers are ready", "Go there in person.", "A cough. It began on Monday.")
	if len(sections) != 11 {
		t.Errorf("it had the parts %v", sections)
	}
}

// A survey that asks for no symptoms ends with what was answered.
func TestSurveyWithoutAnAssessment(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	for kind, says := range map[string]string{
		"intake": "The doctor can read your answers now", "triage": "Your answers are kept", "follow_up": "Your answers are kept",
	} {
		v := c.opened(c.survey(wish{Type: kind, Sections: []string{"allergies", "notes"}}))
		v.walk(healthy("I feel <b>fine</b> & well"), v.survey+"/questions/0", all).is(t, http.StatusOK,
			"Your answers are ready", says, "Is there anything else that you want to tell the doctor? I feel <b>fine</b> & well", "Skipped")
	}
}

// A follow-up asks how it is now, of a patient who was here before; an adult who answers
// for a child is spoken to as a parent.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	child := guidance.Patient{Dependent: true, Sex: "male", Age: guidance.Age{Value: 7, Unit: "year"}}
	first := c.survey(wish{Patient: child, Language: "de"})
	v := c.opened(first)
	v.get(v.survey).is(t, http.StatusOK, "Wie dringend ist es bei Ihrem Kind?")
	v.walk(healthy("Husten und Fieber"), v.survey+"/questions/0", all).is(t, http.StatusOK, "Husten")
	patient, err := c.people.Patient(context.Background(), portal, first.PatientID)
	c.must(err)
	v = c.opened(c.surveyOf(patient, wish{Type: "follow_up"}))
	v.get(v.survey).is(t, http.StatusOK, "How is your child now?", "You answer for your child")
	asksAgain := false
	v.walk(healthy("nothing"), v.survey+"/questions/0", func(s shownPage) bool {
		asksAgain = asksAgain || strings.Contains(strings.ToLower(s.heading()), "cough")
		return true
	}).is(t, http.StatusOK, "Your result", "Male, 7 years")
	if !asksAgain {
		t.Error("it does not ask for the cough again")
	}
}
