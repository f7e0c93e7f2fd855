// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

const talk = "Talk to somebody now. Call 116 123"

// Who says that they are in a crisis reads of somebody to talk to on every page from then
// on and on the result, be it an emergency or not; nobody else does.
func TestCrisis(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	for _, test := range []struct {
		words                 string
		isEmergency, inCrisis bool
	}{
		{"I think about ending my life.", true, true},
		{"My partner hits me and I am afraid to go home.", false, true},
		{"I have a headache and I feel sad.", false, false},
	} {
		v := c.opened(c.survey(wish{Patient: woman, Sections: []string{"symptoms", "specialists", "notes"}}))
		understood := v.post(v.question(0), url.Values{"words": {test.words}, "do": {"understand"}})
		v.post(v.question(0), url.Values{"answer": ticked(understood), "do": {"go-on"}}).leadsTo(t, v.question(1))
		shown := []shownPage{v.get(v.question(1)), v.get(v.question(1) + "?seen"), v.get(v.survey + "/answers"), v.get(v.survey + "/why")}
		if alarmed := strings.Contains(shown[0].body, `class="page-alarm"`); alarmed != test.isEmergency {
			t.Errorf("%s: it is an emergency: %t", test.words, alarmed)
		}
		shown = append(shown, v.walk(healthy("nothing"), v.question(1)+"?seen", all))
		for _, page := range shown {
			page.is(t, http.StatusOK)
			if said := strings.Count(page.text(), talk); said > 1 || said == 1 != test.inCrisis {
				t.Errorf("%s: %s names the crisis line %d times\n%.1500s", test.words, page.path, said, page.text())
			}
		}
	}
}

// What is written where nobody asks for symptoms counts, and so does a tenant without a
// crisis line.
func TestCrisisInOwnWords(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	c.look.Store(&config.Page{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c"})
	for language, says := range map[string][2]string{
		"en": {"I want to kill myself.", "Call a crisis line"}, "de": {"Ich will mich umbringen.", "Rufen Sie eine Krisenhilfe"},
	} {
		v := c.opened(c.survey(wish{
			Type: "intake", Language: language, Patient: guidance.Patient{Sex: "male"}, Sections: []string{"visit_reason", "notes"},
		}))
		v.answers(one(says[0]))
		v.get(v.question(1)).is(t, http.StatusOK, says[1])
		v.post(v.question(1), skips).leadsTo(t, v.survey+"/result")
		v.get(v.survey+"/result").is(t, http.StatusOK, says[1])
	}
}
