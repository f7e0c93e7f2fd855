// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"strings"
	"testing"
)

// TestSearch checks search results, formatted as "id label", by query.
func TestSearch(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const fever = "s_11 Fever, s_13 Fever over 39 °C, s_12 Fever from 38 to 39 °C"
	for query, want := range map[string]string{
		"phrase=headache&age.value=30&max_results=1":                    "s_1 Headache",
		"phrase=HEADACHE+severe&age.value=30&max_results=1":             "s_2 Severe headache",
		"phrase=throw&age.value=30":                                     "s_5 about to throw up",
		"phrase=migraine&age.value=30":                                  "",
		"phrase=migraine&age.value=30&types=condition":                  "c_1 Migraine",
		"phrase=white+blood&age.value=30":                               "",
		"phrase=high+white+blood&age.value=30&types=lab_test_result":    "lt_1 High white blood cells, lt_2 Normal white blood cells",
		"phrase=high+white+blood&age.value=30&types=symptom,lab_test":   "lt_1 High white blood cells, lt_2 Normal white blood cells",
		"phrase=mass+index&age.value=30":                                "p_7 High body mass index",
		"phrase=mass+index&age.value=30&types=symptom":                  "",
		"phrase=mass+index&age.value=30&types=symptom,+risk_factor":     "p_7 High body mass index",
		"phrase=mass+index&age.value=30&types=&sex=&age.unit=":          "p_7 High body mass index",
		"phrase=pregnancy&age.value=30":                                 "p_30 Pregnancy",
		"phrase=pregnancy&age.value=30&sex=female":                      "p_30 Pregnancy",
		"phrase=pregnancy&age.value=30&sex=male":                        "",
		"phrase=pregnancy&age.value=30&age.unit=month":                  "",
		"phrase=barking&age.value=30":                                   "",
		"phrase=barking&age.value=30&age.unit=month":                    "s_7 Barking cough",
		"phrase=fever&age.value=30":                                     fever,
		"phrase=fever&age.value=30&max_results=100":                     fever,
		"phrase=fever&age.value=30&max_results=2":                       fever[:strings.LastIndex(fever, ",")],
		"phrase=%F0%9F%A4%92%ff&age.value=30":                           "",
		"phrase=" + strings.Repeat("x", 5000) + "&age.value=30":         "",
		"phrase=fever&age.value=30&max_results=1&types=symptom&x=1&y[]": "s_11 Fever",
	} {
		t.Run(query[:min(len(query), 60)], func(t *testing.T) {
			t.Parallel()
			var found []string
			for _, hit := range decode[[]struct{ ID, Label string }](t, r.do(t, get("/v3/search?"+query))) {
				found = append(found, hit.ID+" "+hit.Label)
			}
			if got := strings.Join(found, ", "); got != want {
				t.Errorf("found %q, expected %q", got, want)
			}
		})
	}
}

func TestSearchModel(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	c := get("/v3/search?phrase=headache&age.value=30")
	if english, german := r.do(t, c), r.do(t, c.withHeader(map[string]string{"Model": "infermedica-de"})); german.status != 200 || german.body != english.body {
		t.Errorf("the German model, which has the same words here, finds %s", german.body)
	}
}
