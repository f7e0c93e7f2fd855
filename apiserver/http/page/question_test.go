// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// answerAll answers the questions from the first on, and checks that each redirects to the next.
func (v *visitor) answerAll(values ...url.Values) {
	v.t.Helper()
	for i, form := range values {
		v.post(v.question(i), form).expectRedirect(v.t, v.question(i+1))
	}
}

func (v *visitor) question(index int) string {
	return v.survey + "/questions/" + strconv.Itoa(index)
}

func singleAnswer(value string) url.Values { return url.Values{"answer": {value}} }

var skipForm = url.Values{"do": {"skip"}}

// TestQuestionOrderRedirects checks that nonexistent questions redirect to the current one.
func TestQuestionOrderRedirects(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake", Sections: []string{"demographics", "allergies", "notes"}}))
	for _, index := range []string{"1", "7", "-1", "x", "99999999999999999999", "0x0", "%30%30"} {
		v.get(v.survey+"/questions/"+index).expectRedirect(t, v.question(0))
		v.post(v.survey+"/questions/"+index, singleAnswer("female")).expectRedirect(t, v.question(0))
	}
	v.get(v.survey+"/result").expectRedirect(t, v.survey)
	v.get(v.survey).expect(t, http.StatusOK, "Some questions before your visit")
	v.answerAll(singleAnswer("female"))
	v.get(v.survey).expectRedirect(t, v.question(1))
	v.answerAll(singleAnswer("female"), singleAnswer("34"), skipForm)
	v.post(v.question(3), skipForm).expectRedirect(t, v.survey+"/result")
	v.get(v.survey+"/result").expect(t, http.StatusOK, "Your answers are ready")
	for _, path := range []string{"", "/questions/0", "/questions/3", "/answers"} {
		v.get(v.survey+path).expectRedirect(t, v.survey+"/result")
	}
	v.post(v.question(0), singleAnswer("male")).expectRedirect(t, v.survey+"/result")
	v.get(v.survey+"/result").expect(t, http.StatusOK, "Female")
	v.get(v.survey+"/why").expect(t, http.StatusOK)
}

// TestChangeAnswer checks that going back shows the previous answer, that submitting it again
// keeps the later answers, and that another answer repeats the later questions.
func TestChangeAnswer(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake", Sections: []string{"demographics", "visit_reason", "notes"}}))
	v.get(v.survey+"/answers").expect(t, http.StatusOK, "You have not answered any questions yet")
	v.answerAll(singleAnswer("female"), singleAnswer("34"), singleAnswer("A cough.\r\nIt began on Monday."))
	shown := v.get(v.question(1))
	shown.expect(t, http.StatusOK, "If you change an answer")
	if !shown.hasField("answer", "34") || strings.Contains(shown.text(), "Why do we ask") {
		t.Errorf("got fields %v", shown.fields())
	}
	list := v.get(v.survey + "/answers")
	list.expect(t, http.StatusOK, "Female", "34", "A cough.", "Change")
	if !strings.Contains(list.body, `href="`+v.question(2)+`"`) {
		t.Errorf("missing links to the questions\n%s", list.body)
	}
	for i, same := range []url.Values{singleAnswer("female"), singleAnswer(" 34"), singleAnswer("A cough.\r\nIt began on Monday. ")} {
		v.post(v.question(i), same).expectRedirect(t, v.question(i+1))
	}
	v.get(v.question(3)).expect(t, http.StatusOK, "Is there anything else") // everything is kept
	v.post(v.question(1), singleAnswer("35")).expectRedirect(t, v.question(2))
	v.get(v.question(3)).expectRedirect(t, v.question(2)) // the following questions are repeated
	v.get(v.survey+"/answers").expect(t, http.StatusOK, "Female", "35")
	v.post(v.question(1), singleAnswer("150")).expect(t, http.StatusUnprocessableEntity, "Enter a whole number from 0 to 130")
	v.get(v.survey+"/answers").expect(t, http.StatusOK, "35")
}

// TestDoubleSubmit checks that pressing a button twice submits one answer.
func TestDoubleSubmit(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{}))
	done := make(chan pageResponse, 8)
	for range cap(done) {
		go func() { done <- v.post(v.question(0), singleAnswer("female")) }()
	}
	for range cap(done) {
		(<-done).expectRedirect(t, v.question(1))
	}
	v.get(v.question(2)).expectRedirect(t, v.question(1))
}

// TestFormErrors checks that a rejected form shows its errors together with the entered
// values.
func TestFormErrors(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake", Sections: []string{"demographics", "visit_reason", "symptoms"}}))
	v.post(v.question(0), nil).expect(t, http.StatusUnprocessableEntity, "Problem: ", "There is a problem", "Choose one of the answers")
	v.post(v.question(0), singleAnswer("whatever")).expect(t, http.StatusUnprocessableEntity, "This answer does not fit the question")
	v.post(v.question(0), skipForm).expect(t, http.StatusUnprocessableEntity, "This answer does not fit the question")
	v.answerAll(singleAnswer("female"))
	shown := v.post(v.question(1), singleAnswer("<b>old</b>"))
	shown.expect(t, http.StatusUnprocessableEntity, "Enter a whole number from 0 to 130")
	if !shown.hasField("answer", "<b>old</b>") {
		t.Errorf("got fields %v", shown.fields())
	}
	v.post(v.question(1), singleAnswer("34")).expectRedirect(t, v.question(2))
	v.post(v.question(2), singleAnswer(strings.Repeat("ä", 1001))).expect(t, http.StatusUnprocessableEntity, "Shorten the text to 1000 characters")
	v.post(v.question(2), singleAnswer(strings.Repeat("a", 70_000))).expect(t, http.StatusBadRequest, "Something went wrong")
	v.post(v.question(2), singleAnswer("a\x00b")).expect(t, http.StatusUnprocessableEntity, "This answer does not fit the question")
	v.post(v.question(2), singleAnswer("a cough")).expectRedirect(t, v.question(3))
	v.post(v.question(3), nil).expect(t, http.StatusUnprocessableEntity, "add at least one symptom")
	v.post(v.question(3), singleAnswer("s_99999")).expect(t, http.StatusUnprocessableEntity, "This answer does not fit the question")
}

// TestSymptomList checks that symptoms are found by free text, by name and on the body map,
// and stay selected between steps.
func TestSymptomList(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake", Sections: []string{"demographics", "symptoms", "notes"}}))
	v.answerAll(singleAnswer("male"), singleAnswer("34"))
	path := v.question(2)
	v.get(path).expect(t, http.StatusOK, "Show where it is on the body", "Search the list")
	understood := v.post(path, url.Values{"words": {"I have a cough but no fever"}, "do": {"understand"}})
	understood.expect(t, http.StatusOK, "This is what we understood", "Cough", "No: Fever")
	chosen := checkedValues(understood)
	found := v.post(path, url.Values{"answer": chosen, "phrase": {"headach"}, "do": {"find"}})
	found.expect(t, http.StatusOK, " found. Tick all that apply", "Headache", "Cough", "No: Fever")
	v.post(path, url.Values{"answer": chosen, "phrase": {"headach"}, "looked": {""}}).expectRedirect(t, v.question(3)) // text typed into the search is not an answer
	v.post(path, url.Values{"phrase": {"xyzzy"}, "do": {"find"}}).expect(t, http.StatusOK, "We could not find that")
	region := v.post(path, url.Values{"answer": chosen, "do": {"region:knee"}})
	region.expect(t, http.StatusOK, "Knee: tick all that apply", "Cough", "No: Fever")
	v.post(path, url.Values{"words": {strings.Repeat("a ", 1100)}, "do": {"understand"}}).expect(t, http.StatusUnprocessableEntity, "Shorten what you wrote to 2048 characters")
	v.post(path, url.Values{"words": {"qqq zzz"}}).expect(t, http.StatusUnprocessableEntity, "We did not understand this")
	v.post(path, url.Values{"answer": append(chosen, "s_0", "s_0~absent", "~")}).expect(t, http.StatusUnprocessableEntity, "This answer does not fit the question", "Cough")
}

// TestBodyRegionsFitPatient checks that the body regions match the patient.
func TestBodyRegionsFitPatient(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, test := range []struct {
		sex    string
		months int
		hidden []string
	}{
		{"male", 34 * 12, []string{"Periods", "Pregnancy and birth", "Babies and small children"}},
		{"female", 34 * 12, []string{"Babies and small children"}},
		{"female", 80 * 12, []string{"Periods", "Pregnancy and birth", "Babies and small children"}},
		{"male", 8, []string{"Periods", "Pregnancy and birth", "Sex"}},
	} {
		patient := record.Patient{Sex: test.sex, Age: record.Age{Value: test.months, Unit: "month"}}
		v := c.openMagicLink(c.createSurvey(surveySpec{Type: "intake", Sections: []string{"symptoms"}, Patient: patient}))
		shown := regionNames(v.get(v.question(0)))
		for _, name := range []string{"Head", "Skin", "Sleep", "Breathing", "Periods", "Pregnancy and birth", "Sex", "Babies and small children"} {
			if slices.Contains(shown, name) == slices.Contains(test.hidden, name) {
				t.Errorf("%s, %d months: %s is hidden: %t", test.sex, test.months, name, slices.Contains(test.hidden, name))
			}
		}
	}
}

// regionNames returns the names of the body regions on a page.
func regionNames(s pageResponse) (names []string) {
	for node := range s.tree().Descendants() {
		if attribute(node, "class") == "region" {
			names = append(names, innerText(node))
		}
	}
	return names
}

// checkedValues returns the values of the checked checkboxes.
func checkedValues(s pageResponse) (values []string) {
	for _, f := range s.fields() {
		if f.kind == "checkbox" && f.name == "answer" {
			values = append(values, f.value)
		}
	}
	return values
}
