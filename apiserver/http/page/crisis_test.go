// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

const crisisText = "Talk to someone now. Call 116 123"

// TestCrisisLineIsShown checks that a patient who reports a crisis sees the crisis line on
// all following pages and on the result, whether or not it is an emergency, and that other
// patients do not.
func TestCrisisLineIsShown(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, test := range []struct {
		words                 string
		isEmergency, inCrisis bool
	}{
		{"I think about ending my life.", true, true},
		{"My partner hits me and I am afraid to go home.", false, true},
		{"I have a headache and I feel sad.", false, false},
	} {
		v := c.openMagicLink(c.createSurvey(surveySpec{Patient: testWoman, Sections: []string{"symptoms", "specialists", "notes"}}))
		understood := v.post(v.question(0), url.Values{"words": {test.words}, "do": {"understand"}})
		v.post(v.question(0), url.Values{"answer": checkedValues(understood), "do": {"go-on"}}).expectRedirect(t, v.question(1))
		shown := []pageResponse{v.get(v.question(1)), v.get(v.question(1) + "?seen"), v.get(v.survey + "/answers"), v.get(v.survey + "/why")}
		if alarmed := strings.Contains(shown[0].body, `class="page-alarm"`); alarmed != test.isEmergency {
			t.Errorf("%s: got emergency: %t", test.words, alarmed)
		}
		shown = append(shown, v.completeSurvey(healthyPatient("nothing"), v.question(1)+"?seen", continueToEnd))
		for _, page := range shown {
			page.expect(t, http.StatusOK)
			if said := strings.Count(page.text(), crisisText); said > 1 || said == 1 != test.inCrisis {
				t.Errorf("%s: %s contains the crisis line %d times\n%.1500s", test.words, page.path, said, page.text())
			}
		}
	}
}

// TestCrisisInFreeText checks that free text outside symptom questions counts, and that a
// crisis line is optional.
func TestCrisisInFreeText(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	c.theme.Store(&page.Branding{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"})
	for language, says := range map[string][2]string{
		"en": {"I want to kill myself.", "Call a crisis line"}, "de": {"Ich will mich umbringen.", "Rufen Sie eine Krisenhilfe"},
	} {
		v := c.openMagicLink(c.createSurvey(surveySpec{
			Type: "intake", Language: language, Patient: record.Patient{Sex: "male"}, Sections: []string{"visit_reason", "notes"},
		}))
		v.answerAll(singleAnswer(says[0]))
		v.get(v.question(1)).expect(t, http.StatusOK, says[1])
		v.post(v.question(1), skipForm).expectRedirect(t, v.survey+"/result")
		v.get(v.survey+"/result").expect(t, http.StatusOK, says[1])
	}
}
