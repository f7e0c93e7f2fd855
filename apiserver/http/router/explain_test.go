// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	items := []string{"s_1 present initial", "s_5 present", "s_2 absent", "s_4 unknown", "s_10 present", "s_7 present", "p_7 present predefined"}
	named := func(id, name, common string) jsonObject {
		return jsonObject{"id": id, "name": name, "common_name": common}
	}
	got := decode[jsonObject](t, r.do(t, post("/v3/explain", explainBody("c_1", items...))))
	want := jsonObject{
		"supporting_evidence": []any{
			named("s_5", "nausea", "Feeling sick"), named("s_1", "Headache", "Headache"), named("p_7", "BMI over 30", "High body mass index"),
		},
		"conflicting_evidence": []any{named("s_2", "Headache, severe", "Severe headache")},
		"unconfirmed_evidence": []any{named("s_4", "Headache, occipital", "Pain in the back of the head")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestExplainCoversRanking checks that exactly the ranked conditions can be explained.
func TestExplainCoversRanking(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	items := []string{"s_1 present initial", "s_5 present initial", "s_10 present"}
	ranking := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", interviewBody(items...)))).Conditions
	if len(ranking) < 2 {
		t.Fatalf("got ranking %v", ranking)
	}
	for i := range 6 {
		id := fmt.Sprintf("c_%d", i)
		want := 400
		if slices.ContainsFunc(ranking, func(c enginev3.RankedCondition) bool { return c.ID == id }) {
			want = 200
		}
		if got := r.do(t, post("/v3/explain", explainBody(id, items...))); got.status != want {
			t.Errorf("%s: got status %d %s, expected %d", id, got.status, got.body, want)
		}
	}
}

func TestTargetErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for target, problem := range map[string]string{
		`null`: "target: missing", `""`: "target: missing", `5`: "target: expected a string, got a number",
		`["c_1"]`: "target: expected a string, got a list", `"s_1"`: `got "s_1"`, `"c_01"`: `got "c_01"`, `"migraine"`: `got "migraine"`,
	} {
		body := addFields(interviewBody("s_1 present initial"), `"target": `+target)
		expectError(t, r.do(t, post("/v3/explain", body)), 400, problem)
	}
	expectError(t, r.do(t, post("/v3/explain", explainBody("c_4"))), 400, "target: c_4 is not in the ranking")
}

// TestRationale checks that the rationale refers to the next question or to conditions.
func TestRationale(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, items := range [][]string{
		{"s_1 present initial"}, {"s_8 present initial"}, {"s_10 present initial"},
		{"s_1 present initial", "s_6 absent", "s_5 present"}, {"s_11 present initial"},
	} {
		rationale := decode[enginev3.Rationale](t, r.do(t, post("/v3/rationale", interviewBody(items...))))
		if len(rationale.ObservationParams)+len(rationale.ConditionParams) == 0 {
			t.Errorf("%v: the rationale is %+v", items, rationale)
		}
	}
	for _, body := range []string{interviewBody(), interviewBody("s_1 absent initial"), interviewBody("p_7 present predefined"), interviewBody("s_1 present suggest")} {
		expectError(t, r.do(t, post("/v3/rationale", body)), 400, "evidence: /diagnosis asks no question")
	}
}

// joinIDs joins the IDs of a list of concepts.
func joinIDs(list []enginev3.ObservationName) string {
	var ids []string
	for _, item := range list {
		ids = append(ids, item.ID)
	}
	return strings.Join(ids, " ")
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	suggested := func(query, body string) []enginev3.ObservationName {
		return decode[[]enginev3.ObservationName](t, r.do(t, post("/v3/suggest"+query, body)))
	}
	complaint := "s_1 present initial"
	standard := suggested("", interviewBody(complaint))
	for name, body := range map[string]string{
		"symptoms": suggestBody("symptoms", complaint), "empty": suggestBody("", complaint),
		"null": addFields(interviewBody(complaint), `"suggest_method": null`),
	} {
		if diff := cmp.Diff(standard, suggested("", body)); diff != "" {
			t.Errorf("%s: (-standard +got)\n%s", name, diff)
		}
	}
	all := suggested("?max_results=100", interviewBody(complaint))
	for most := 1; most <= len(all); most++ {
		if diff := cmp.Diff(all[:most], suggested(fmt.Sprintf("?max_results=%d", most), interviewBody(complaint))); diff != "" {
			t.Errorf("at most %d: (-want +got)\n%s", most, diff)
		}
	}
	if len(all) > 8 && len(standard) != 8 || len(all) <= 8 && len(standard) != len(all) {
		t.Errorf("%d of %d are suggested without max_results, expected at most 8", len(standard), len(all))
	}
	if list := joinIDs(suggested("", suggestBody("risk_factors"))); !strings.Contains(list, "p_30") || strings.Contains(list, "s_") {
		t.Errorf("without evidence the risk factors are %s", list)
	}
	withoutProfile := joinIDs(suggested("", suggestBody("risk_factors")))
	for _, body := range []string{suggestBody("demographic_risk_factors"), suggestBody("demographic_risk_factors", complaint)} {
		if list := joinIDs(suggested("", body)); list != withoutProfile {
			t.Errorf("by sex and age the risk factors are %s, expected those without evidence, %s", list, withoutProfile)
		}
	}
	for _, test := range []struct {
		evidence []string
		want     string
	}{{nil, ""}, {[]string{complaint}, ""}, {[]string{"s_10 present initial"}, "p_30"}} {
		if list := joinIDs(suggested("", suggestBody("evidence_based_risk_factors", test.evidence...))); list != test.want {
			t.Errorf("by the evidence %q the risk factors are %q, expected %q", test.evidence, list, test.want)
		}
	}
	for _, method := range []string{"symptoms", "risk_factors", "demographic_risk_factors", "evidence_based_risk_factors", "red_flags"} {
		first := suggested("", suggestBody(method, complaint))
		if len(first) == 0 {
			continue
		}
		answered := suggested("", suggestBody(method, complaint, first[0].ID+" absent suggest"))
		if strings.Contains(joinIDs(answered)+" ", first[0].ID+" ") {
			t.Errorf("%s: %s was suggested again: %s", method, first[0].ID, joinIDs(answered))
		}
	}
}

// TestRedFlags checks that /red_flags responds like /suggest with the method red_flags, and
// accepts no other method.
func TestRedFlags(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, items := range [][]string{{}, {"s_1 present initial"}, {"s_8 present initial"}, {"s_1 present initial", "s_6 absent red_flags"}} {
		for _, query := range []string{"", "?max_results=1"} {
			want := r.do(t, post("/v3/suggest"+query, suggestBody("red_flags", items...)))
			for _, body := range []string{interviewBody(items...), suggestBody("symptoms", items...), addFields(interviewBody(items...), `"suggest_method": 5`)} {
				if got := r.do(t, post("/v3/red_flags"+query, body)); got.status != 200 || got.body != want.body {
					t.Errorf("%s: got status %d %s, /suggest %s", body, got.status, got.body, want.body)
				}
			}
		}
	}
}

func TestSuggestErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for method, problem := range map[string]string{
		`"Symptoms"`: `suggest_method: expected symptoms, risk_factors, demographic_risk_factors, evidence_based_risk_factors or red_flags, got "Symptoms"`,
		`5`:          "suggest_method: expected a string, got a number",
		`["a"]`:      "suggest_method: expected a string, got a list",
	} {
		expectError(t, r.do(t, post("/v3/suggest", addFields(interviewBody(), `"suggest_method": `+method))), 400, problem)
	}
	for _, path := range []string{"/v3/suggest", "/v3/red_flags"} {
		for query, problem := range map[string]string{
			"0": "got 0", "101": "got 101", "-1": "got -1", "8.5": "one whole number", "many": "one whole number", "": "one whole number",
			"8&max_results=8": "one whole number", "99999999999999999999": "one whole number",
		} {
			got := r.do(t, post(path+"?max_results="+query, interviewBody()))
			expectError(t, got, 400, "max_results: expected ")
			expectError(t, got, 400, problem)
		}
	}
}

func TestRecommendedSpecialist(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	recommended := func(body string) string {
		got := decode[enginev3.Recommendation](t, r.do(t, post("/v3/recommend_specialist", body)))
		if got.RecommendedSpecialist == nil || got.RecommendedChannel == nil {
			return "none"
		}
		return got.RecommendedSpecialist.ID + " " + got.RecommendedSpecialist.Name + ", " + string(*got.RecommendedChannel)
	}
	migraine := []string{"s_1 present initial", "s_5 present", "s_3 present", "s_6 absent", "s_8 absent", "s_2 absent"}
	emergency := []string{"s_1 present initial", "s_6 present"}
	with := func(extras string, items []string) string { return interviewWithExtras(extras, items...) }
	for name, test := range map[string]struct{ body, want string }{
		"migraine":                 {interviewBody(migraine...), "sp_17 Neurologist, audio_teleconsultation"},
		"no neurologist":           {with(`{"specialist_mapping": {"sp_17": "sp_1"}}`, migraine), "sp_1 General practitioner, audio_teleconsultation"},
		"mapped to itself":         {with(`{"specialist_mapping": {"sp_17": "sp_17"}}`, migraine), "sp_17 Neurologist, audio_teleconsultation"},
		"all mapped to one":        {with(`{"specialist_mapping": {"sp_1": "sp_17", "sp_17": "sp_17"}}`, migraine), "sp_17 Neurologist, audio_teleconsultation"},
		"no mapping":               {with(`{"specialist_mapping": {}}`, migraine), "sp_17 Neurologist, audio_teleconsultation"},
		"null":                     {with(`{"specialist_mapping": null}`, migraine), "sp_17 Neurologist, audio_teleconsultation"},
		"emergency":                {interviewBody(emergency...), "none"},
		"emergency, three levels":  {with(`{"enable_triage_3": true}`, emergency), "none"},
		"emergency with a mapping": {with(`{"specialist_mapping": {"sp_17": "sp_1"}}`, emergency), "none"},
	} {
		if got := recommended(test.body); got != test.want {
			t.Errorf("%s: got specialist %s, expected %s", name, got, test.want)
		}
	}
}

func TestMappingErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const expected = "expected the id of a specialist, such as sp_1"
	for mapping, problem := range map[string]string{
		`{"sp_99": "sp_1"}`:                            `extras.specialist_mapping: ` + expected + `, got "sp_99"`,
		`{"sp_1": "sp_99"}`:                            `extras.specialist_mapping.sp_1: ` + expected + `, got "sp_99"`,
		`{"c_1": "sp_1"}`:                              `extras.specialist_mapping: ` + expected + `, got "c_1"`,
		`{"": "sp_1"}`:                                 `extras.specialist_mapping: missing`,
		`{"sp_1": ""}`:                                 `extras.specialist_mapping.sp_1: missing`,
		`{"sp_1": null}`:                               `extras.specialist_mapping.sp_1: missing`,
		`{"sp_1": "sp_1", "sp_1": "sp_1"}`:             `duplicate object name "sp_1"`,
		`{"z": "sp_1", "a": "sp_1"}`:                   `got "a"`, // sorted, so that the same one is always reported
		`{"` + strings.Repeat("ä", 100) + `": "sp_1"}`: strings.Repeat("ä", 64) + "…",
	} {
		expectError(t, r.do(t, post("/v3/recommend_specialist", specialistBody(mapping))), 400, problem)
	}
	// Other endpoints ignore the mapping, whatever it contains.
	if got := r.do(t, post("/v3/diagnosis", specialistBody(`{"sp_99": "x"}`))); got.status != 200 {
		t.Errorf("/diagnosis answered %d %s", got.status, got.body)
	}
}
