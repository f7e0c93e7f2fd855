// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

var testWoman = record.Patient{Sex: "female", Age: record.Age{Value: 60, Unit: "year"}}

// openAtSymptoms opens a triage of a woman at the symptoms question.
func (f *fixture) openAtSymptoms(patient record.Patient) *visitor {
	f.t.Helper()
	return f.openMagicLink(f.createSurvey(surveySpec{Patient: patient, Sections: []string{"symptoms", "dynamic", "notes"}}))
}

// strokeSymptoms returns an answer that is an emergency on its own.
func (v *visitor) strokeSymptoms() url.Values {
	v.t.Helper()
	understood := v.post(v.question(0), url.Values{"words": {"sudden weakness on one side of the face and slurred speech"}, "do": {"understand"}})
	understood.expect(v.t, http.StatusOK, "This is what we understood")
	return url.Values{"answer": checkedValues(understood), "do": {"go-on"}}
}

// TestEmergencyIsShownOnce checks that the emergency page is shown once, after the answer
// that reveals the emergency, and that all following pages have a notice at the top.
func TestEmergencyIsShownOnce(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openAtSymptoms(testWoman)
	if strings.Contains(v.get(v.question(0)).text(), "This may be an emergency") {
		t.Error("want no emergency before the first answer")
	}
	v.post(v.question(0), v.strokeSymptoms()).expectRedirect(t, v.question(1))
	alarm := v.get(v.question(1))
	alarm.expect(t, http.StatusOK, "This may be an emergency", "Call 112", "Continue with the questions", "Call an ambulance now. Do not drive yourself.")
	if alarm.heading() != "This may be an emergency" || !strings.Contains(alarm.body, `href="tel:112"`) || strings.Contains(alarm.body, "<aside") {
		t.Errorf("got emergency page\n%s", alarm.body)
	}
	question := v.get(v.question(1) + "?seen")
	question.expect(t, http.StatusOK, "This may be an emergency. Call 112")
	if question.heading() == alarm.heading() {
		t.Error("want the question after the emergency page")
	}
	v.post(v.question(1), healthyPatient("").answer(question)).expectRedirect(t, v.question(2))
	next := v.get(v.question(2))
	next.expect(t, http.StatusOK, "This may be an emergency. Call 112")
	if next.heading() == alarm.heading() {
		t.Error("emergency page is shown twice")
	}
	v.get(v.survey+"/why").expect(t, http.StatusOK, "This may be an emergency. Call 112")
	v.get(v.survey+"/answers").expect(t, http.StatusOK, "This may be an emergency. Call 112")
	v.get(v.survey+"/emergency").expect(t, http.StatusOK, "Call an ambulance now")
	result := v.completeSurvey(healthyPatient("nothing"), v.question(2), continueToEnd)
	result.expect(t, http.StatusOK, "Call an ambulance now", "Do not drive yourself", "What makes this serious", "Call 112")
	if hints := c.countHints(v, result); hints > 0 {
		t.Errorf("got self-care advice for %d conditions", hints)
	}
	for _, shown := range []pageResponse{alarm, question, next, result} {
		if strings.Contains(shown.text(), "116 123") {
			t.Errorf("%s contains a crisis line for a stroke", shown.path)
		}
	}
}

// TestEmergencyForChild checks that the page shows international emergency numbers if the
// tenant has none, and that parents read about their child.
func TestEmergencyForChild(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	c.theme.Store(&page.Branding{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"})
	child := testWoman
	child.Dependent, child.Age.Value = true, 12
	v := c.openAtSymptoms(child)
	v.post(v.question(0), v.strokeSymptoms()).expectRedirect(t, v.question(1))
	alarm := v.get(v.question(1))
	alarm.expect(t, http.StatusOK, "your child needs help right away", "999 in Britain, 112 in Europe, 911 in the United States")
	if strings.Contains(alarm.body, "tel:") {
		t.Error("page links to an unconfigured phone number")
	}
}

// TestHiddenResults checks that a tenant can hide conditions, but not the urgency.
func TestHiddenResults(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	shown, hidden := c.openAtSymptoms(testWoman), c.openAtSymptoms(testWoman)
	names := map[string]bool{}
	shownResult := shown.completeSurvey(healthyPatient("a headache"), shown.question(0), func(s pageResponse) bool {
		collectConditions(shown, s, names)
		return true
	})
	if c.countHints(shown, shownResult) == 0 {
		t.Error("want at least one condition with self-care advice")
	}
	article, found := findArticle(shownResult, shown.survey)
	if !found || len(names) == 0 {
		t.Fatalf("got no conditions to hide: %v\n%s", names, shownResult.text())
	}
	c.features.Store(&section.Features{})
	hiddenNames := map[string]bool{}
	result := hidden.completeSurvey(healthyPatient("a headache"), hidden.question(0), func(s pageResponse) bool {
		collectConditions(hidden, s, hiddenNames)
		return true
	})
	if len(hiddenNames) > 0 {
		t.Errorf("reasons reveal conditions %v", hiddenNames)
	}
	result.expect(t, http.StatusOK, "Your result", "Who can help", "Your answers", "Headache")
	for _, text := range []string{"What it could be", "What fits", "Read more", "%", "No condition closely matches"} {
		if strings.Contains(result.text(), text) {
			t.Errorf("result contains %q\n%s", text, result.text())
		}
	}
	hidden.get(strings.Replace(article, shown.survey, hidden.survey, 1)).expect(t, http.StatusNotFound)
	shown.get(article).expect(t, http.StatusNotFound)
	if shownResult.urgency() != result.urgency() || result.urgency() == "" {
		t.Errorf("got urgency %q with hidden conditions, and %q otherwise", result.urgency(), shownResult.urgency())
	}
}

// collectConditions adds the conditions mentioned in the reason for a question to names.
func collectConditions(v *visitor, question pageResponse, names map[string]bool) {
	if !strings.Contains(question.body, v.survey+"/why") {
		return
	}
	v.t.Helper()
	why := v.get(v.survey + "/why")
	why.expect(v.t, http.StatusOK, "Why we ask this", "Back to the question")
	if _, after, ok := strings.Cut(why.text(), "helps us check for: "); ok {
		names[after] = true
	}
}

// urgency returns the triage level of a result.
func (r pageResponse) urgency() string {
	_, after, _ := strings.Cut(r.body, `class="panel level-`)
	level, _, _ := strings.Cut(after, `"`)
	return level
}

// countHints returns the number of conditions in a result with self-care advice.
func (f *fixture) countHints(v *visitor, result pageResponse) (count int) {
	f.t.Helper()
	advice, err := f.surveys.PatientReport(f.t.Context(), portalActor, strings.TrimPrefix(v.survey, "/survey/"))
	f.must(err)
	for _, condition := range advice.Assessment.Conditions {
		if hint := condition.Details.Hint; hint != nil && strings.Contains(result.text(), *hint) {
			count++
		}
	}
	return count
}
