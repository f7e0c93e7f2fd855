// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

var woman = guidance.Patient{Sex: "female", Age: guidance.Age{Value: 60, Unit: "year"}}

// toSymptoms is a triage of a woman that asks for her symptoms.
func (c *clinic) toSymptoms(patient guidance.Patient) *visitor {
	c.t.Helper()
	return c.opened(c.survey(wish{Patient: patient, Sections: []string{"symptoms", "dynamic", "notes"}}))
}

// stroke is what is an emergency by itself.
func (v *visitor) stroke() url.Values {
	v.t.Helper()
	understood := v.post(v.question(0), url.Values{"words": {"sudden weakness on one side of the face and slurred speech"}, "do": {"understand"}})
	understood.is(v.t, http.StatusOK, "This is what we understood")
	return url.Values{"answer": ticked(understood), "do": {"go-on"}}
}

// What is an emergency is said after the answer that makes it known, once, and stands at
// the head of every page from then on.
func TestEmergency(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.toSymptoms(woman)
	if strings.Contains(v.get(v.question(0)).text(), "This may be an emergency") {
		t.Error("it is an emergency before anything was said")
	}
	v.post(v.question(0), v.stroke()).leadsTo(t, v.question(1))
	alarm := v.get(v.question(1))
	alarm.is(t, http.StatusOK, "This may be an emergency", "Call 112", "Go on with the questions", "Call an ambulance now. Do not drive yourself.")
	if alarm.heading() != "This may be an emergency" || !strings.Contains(alarm.body, `href="tel:112"`) || strings.Contains(alarm.body, "<aside") {
		t.Errorf("the alarm is\n%s", alarm.body)
	}
	question := v.get(v.question(1) + "?seen")
	question.is(t, http.StatusOK, "This may be an emergency. Call 112")
	if question.heading() == alarm.heading() {
		t.Error("the question is not asked after the alarm")
	}
	v.post(v.question(1), healthy("").answer(question)).leadsTo(t, v.question(2))
	next := v.get(v.question(2))
	next.is(t, http.StatusOK, "This may be an emergency. Call 112")
	if next.heading() == alarm.heading() {
		t.Error("the alarm is said twice")
	}
	v.get(v.survey+"/why").is(t, http.StatusOK, "This may be an emergency. Call 112")
	v.get(v.survey+"/answers").is(t, http.StatusOK, "This may be an emergency. Call 112")
	v.get(v.survey+"/emergency").is(t, http.StatusOK, "Call an ambulance now")
	result := v.walk(healthy("nothing"), v.question(2), all)
	result.is(t, http.StatusOK, "Call an ambulance now", "Do not drive yourself", "What is serious about it", "Call 112")
	if hints := c.hintsOf(v, result); hints > 0 {
		t.Errorf("%d conditions say what helps at home", hints)
	}
	for _, shown := range []shownPage{alarm, question, next, result} {
		if strings.Contains(shown.text(), "116 123") {
			t.Errorf("%s names a crisis line for a stroke", shown.path)
		}
	}
}

// Without a number of the tenant it names those of the world, and who answers for a child
// is told about the child.
func TestEmergencyOfAChild(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	c.look.Store(&config.Page{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"})
	child := woman
	child.Dependent, child.Age.Value = true, 12
	v := c.toSymptoms(child)
	v.post(v.question(0), v.stroke()).leadsTo(t, v.question(1))
	alarm := v.get(v.question(1))
	alarm.is(t, http.StatusOK, "your child needs help at once", "999 in Britain, 112 in Europe, 911 in the United States")
	if strings.Contains(alarm.body, "tel:") {
		t.Error("it dials a number that it does not know")
	}
}

// A tenant may hide what it may be, and never how urgent it is.
func TestHiddenResults(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	shown, hidden := c.toSymptoms(woman), c.toSymptoms(woman)
	names := map[string]bool{}
	shownResult := shown.walk(healthy("a headache"), shown.question(0), func(s shownPage) bool {
		collectReasons(shown, s, names)
		return true
	})
	if c.hintsOf(shown, shownResult) == 0 {
		t.Error("no condition says what to do about it")
	}
	article, found := articleOf(shownResult, shown.survey)
	if !found || len(names) == 0 {
		t.Fatalf("nothing is shown that could be hidden: %v\n%s", names, shownResult.text())
	}
	c.features.Store(&section.Features{})
	hiddenNames := map[string]bool{}
	result := hidden.walk(healthy("a headache"), hidden.question(0), func(s shownPage) bool {
		collectReasons(hidden, s, hiddenNames)
		return true
	})
	if len(hiddenNames) > 0 {
		t.Errorf("the reasons name %v", hiddenNames)
	}
	result.is(t, http.StatusOK, "Your result", "Who can help", "Your answers", "Headache")
	for _, text := range []string{"What it may be", "What speaks for it", "Read more", "%", "Nothing fits"} {
		if strings.Contains(result.text(), text) {
			t.Errorf("the result says %q\n%s", text, result.text())
		}
	}
	hidden.get(strings.Replace(article, shown.survey, hidden.survey, 1)).is(t, http.StatusNotFound)
	shown.get(article).is(t, http.StatusNotFound)
	if shownResult.urgency() != result.urgency() || result.urgency() == "" {
		t.Errorf("it is %q where conditions are hidden, and else %q", result.urgency(), shownResult.urgency())
	}
}

// collectReasons notes the conditions that a reason of a question names.
func collectReasons(v *visitor, question shownPage, names map[string]bool) {
	if !strings.Contains(question.body, v.survey+"/why") {
		return
	}
	v.t.Helper()
	why := v.get(v.survey + "/why")
	why.is(v.t, http.StatusOK, "Why we ask this", "Back to the question")
	if _, after, ok := strings.Cut(why.text(), "whether it could be one of these: "); ok {
		names[after] = true
	}
}

// urgency is the level that a result has.
func (s shownPage) urgency() string {
	_, after, _ := strings.Cut(s.body, `class="panel level-`)
	level, _, _ := strings.Cut(after, `"`)
	return level
}

// hintsOf is of how many conditions a result says what to do about them.
func (c *clinic) hintsOf(v *visitor, result shownPage) (said int) {
	c.t.Helper()
	advice, err := c.surveys.Advice(c.t.Context(), portal, strings.TrimPrefix(v.survey, "/survey/"))
	c.must(err)
	for _, condition := range advice.Assessment.Conditions {
		if hint := condition.Details.Hint; hint != nil && strings.Contains(result.text(), *hint) {
			said++
		}
	}
	return said
}
