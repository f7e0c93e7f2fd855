// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// answers gives values to the questions from the first on, and checks that each leads to
// the next.
func (v *visitor) answers(values ...url.Values) {
	v.t.Helper()
	for i, form := range values {
		v.post(v.question(i), form).leadsTo(v.t, v.question(i+1))
	}
}

func (v *visitor) question(index int) string {
	return v.survey + "/questions/" + strconv.Itoa(index)
}

func one(value string) url.Values { return url.Values{"answer": {value}} }

var skips = url.Values{"do": {"skip"}}

// A question that is not there yet, or no more, leads to the one that is asked.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Type: "intake", Sections: []string{"demographics", "allergies", "notes"}}))
	for _, index := range []string{"1", "7", "-1", "x", "99999999999999999999", "0x0", "%30%30"} {
		v.get(v.survey+"/questions/"+index).leadsTo(t, v.question(0))
		v.post(v.survey+"/questions/"+index, one("female")).leadsTo(t, v.question(0))
	}
	v.get(v.survey+"/result").leadsTo(t, v.survey)
	v.get(v.survey).is(t, http.StatusOK, "Some questions before your visit")
	v.answers(one("female"))
	v.get(v.survey).leadsTo(t, v.question(1))
	v.answers(one("female"), one("34"), skips)
	v.post(v.question(3), skips).leadsTo(t, v.survey+"/result")
	v.get(v.survey+"/result").is(t, http.StatusOK, "Your answers are ready")
	for _, path := range []string{"", "/questions/0", "/questions/3", "/answers"} {
		v.get(v.survey+path).leadsTo(t, v.survey+"/result")
	}
	v.post(v.question(0), one("male")).leadsTo(t, v.survey+"/result")
	v.get(v.survey+"/result").is(t, http.StatusOK, "Female")
	v.get(v.survey+"/why").is(t, http.StatusOK)
}

// Who goes back sees what was answered. The same answer keeps what followed, another one
// asks it anew.
func TestChange(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Type: "intake", Sections: []string{"demographics", "visit_reason", "notes"}}))
	v.get(v.survey+"/answers").is(t, http.StatusOK, "You have not answered any questions yet")
	v.answers(one("female"), one("34"), one("A cough.\r\nIt began on Monday."))
	shown := v.get(v.question(1))
	shown.is(t, http.StatusOK, "If you change an answer")
	if !shown.has("answer", "34") || strings.Contains(shown.text(), "Why do we ask") {
		t.Errorf("it shows %v", shown.fields())
	}
	list := v.get(v.survey + "/answers")
	list.is(t, http.StatusOK, "Female", "34", "A cough.", "Change")
	if !strings.Contains(list.body, `href="`+v.question(2)+`"`) {
		t.Errorf("the answers lead nowhere\n%s", list.body)
	}
	for i, same := range []url.Values{one("female"), one(" 34"), one("A cough.\r\nIt began on Monday. ")} {
		v.post(v.question(i), same).leadsTo(t, v.question(i+1))
	}
	v.get(v.question(3)).is(t, http.StatusOK, "Is there anything else") // all is kept
	v.post(v.question(1), one("35")).leadsTo(t, v.question(2))
	v.get(v.question(3)).leadsTo(t, v.question(2)) // what followed is asked anew
	v.get(v.survey+"/answers").is(t, http.StatusOK, "Female", "35")
	v.post(v.question(1), one("150")).is(t, http.StatusUnprocessableEntity, "Enter a whole number from 0 to 130")
	v.get(v.survey+"/answers").is(t, http.StatusOK, "35")
}

// Who presses a button twice answers once.
func TestDoubleSubmit(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{}))
	done := make(chan shownPage, 8)
	for range cap(done) {
		go func() { done <- v.post(v.question(0), one("female")) }()
	}
	for range cap(done) {
		(<-done).leadsTo(t, v.question(1))
	}
	v.get(v.question(2)).leadsTo(t, v.question(1))
}

// What is wrong with a form is said in it, with what was filled in.
func TestProblems(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Type: "intake", Sections: []string{"demographics", "visit_reason", "symptoms"}}))
	v.post(v.question(0), nil).is(t, http.StatusUnprocessableEntity, "Problem: ", "There is a problem", "Choose one of the answers")
	v.post(v.question(0), one("whatever")).is(t, http.StatusUnprocessableEntity, "This answer does not fit here")
	v.post(v.question(0), skips).is(t, http.StatusUnprocessableEntity, "This answer does not fit here")
	v.answers(one("female"))
	shown := v.post(v.question(1), one("<b>old</b>"))
	shown.is(t, http.StatusUnprocessableEntity, "Enter a whole number from 0 to 130")
	if !shown.has("answer", "<b>old</b>") {
		t.Errorf("it shows %v", shown.fields())
	}
	v.post(v.question(1), one("34")).leadsTo(t, v.question(2))
	v.post(v.question(2), one(strings.Repeat("ä", 1001))).is(t, http.StatusUnprocessableEntity, "Shorten the text to 1000 characters")
	v.post(v.question(2), one(strings.Repeat("a", 70_000))).is(t, http.StatusBadRequest, "Something went wrong")
	v.post(v.question(2), one("a\x00b")).is(t, http.StatusUnprocessableEntity, "This answer does not fit here")
	v.post(v.question(2), one("a cough")).leadsTo(t, v.question(3))
	v.post(v.question(3), nil).is(t, http.StatusUnprocessableEntity, "Add at least one")
	v.post(v.question(3), one("s_99999")).is(t, http.StatusUnprocessableEntity, "This answer does not fit here")
}

// Symptoms are found in one's own words, by name and on the body, and stay chosen from
// one step to the next.
func TestLists(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Type: "intake", Sections: []string{"demographics", "symptoms", "notes"}}))
	v.answers(one("male"), one("34"))
	path := v.question(2)
	v.get(path).is(t, http.StatusOK, "Show where it is on the body", "Look in the list")
	understood := v.post(path, url.Values{"words": {"I have a cough but no fever"}, "do": {"understand"}})
	understood.is(t, http.StatusOK, "This is what we understood", "Cough", "No: Fever")
	chosen := ticked(understood)
	found := v.post(path, url.Values{"answer": chosen, "phrase": {"headach"}, "do": {"find"}})
	found.is(t, http.StatusOK, "Found: ", "Headache", "Cough", "No: Fever")
	v.post(path, url.Values{"answer": chosen, "phrase": {"headach"}, "looked": {""}}).leadsTo(t, v.question(3)) // what was typed only is no answer
	v.post(path, url.Values{"phrase": {"xyzzy"}, "do": {"find"}}).is(t, http.StatusOK, "Nothing was found")
	region := v.post(path, url.Values{"answer": chosen, "do": {"region:knee"}})
	region.is(t, http.StatusOK, "Knee: tick what is true", "Cough", "No: Fever")
	v.post(path, url.Values{"words": {strings.Repeat("a ", 1100)}, "do": {"understand"}}).is(t, http.StatusUnprocessableEntity, "Write at most 2048 characters")
	v.post(path, url.Values{"words": {"qqq zzz"}}).is(t, http.StatusUnprocessableEntity, "We did not understand this")
	v.post(path, url.Values{"answer": append(chosen, "s_0", "s_0~absent", "~")}).is(t, http.StatusUnprocessableEntity, "This answer does not fit here", "Cough")
}

// The parts of the body are those of the patient.
func TestPartsOfTheBody(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
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
		patient := guidance.Patient{Sex: test.sex, Age: guidance.Age{Value: test.months, Unit: "month"}}
		v := c.opened(c.survey(wish{Type: "intake", Sections: []string{"symptoms"}, Patient: patient}))
		shown := regionsOf(v.get(v.question(0)))
		for _, name := range []string{"Head", "Skin", "Sleep", "Breathing", "Periods", "Pregnancy and birth", "Sex", "Babies and small children"} {
			if slices.Contains(shown, name) == slices.Contains(test.hidden, name) {
				t.Errorf("%s, %d months: %s is hidden: %t", test.sex, test.months, name, slices.Contains(test.hidden, name))
			}
		}
	}
}

// regionsOf are the names of the parts of the body that a page lists.
func regionsOf(s shownPage) (names []string) {
	for node := range s.tree().Descendants() {
		if attribute(node, "class") == "region" {
			names = append(names, inner(node))
		}
	}
	return names
}

// ticked are the values of the boxes of a list that are.
func ticked(s shownPage) (values []string) {
	for _, f := range s.fields() {
		if f.kind == "checkbox" && f.name == "answer" {
			values = append(values, f.value)
		}
	}
	return values
}
