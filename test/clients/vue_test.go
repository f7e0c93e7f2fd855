// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The Vue example: infermedica/vue-symptom-checker-example. It goes through all
// steps with what it has kept, and bodies are as JSON.stringify writes them,
// without what is undefined.
const vueRepository = "infermedica/vue-symptom-checker-example "

// vueHeader is what axios sends: src/api/InfermedicaApi.js:6.
func vueHeader() http.Header {
	return http.Header{
		"Accept": {"application/json, text/plain, */*"}, "content-type": {"application/json"},
		"App-Id": {appID}, "App-Key": {appKey},
	}
}

// What the example asks of everybody: src/api/constants.js:2 and :14.
var (
	vueCountries   = []string{"p_19", "p_16", "p_17", "p_18", "p_15", "p_20", "p_22", "p_13", "p_14", "p_21"}
	vueRiskFactors = []string{"p_7", "p_8", "p_9", "p_42", "p_147", "p_28"}
)

// vueEvidence is evidence as the store keeps it, of which diagnosisData sends
// three members: src/store/modules/api.js:44.
type vueEvidence struct {
	ID       string `json:"id"`
	ChoiceID string `json:"choice_id"`
	Source   string `json:"source,omitempty"`
}

type vuePatient struct {
	evidence []vueEvidence
}

func (p *vuePatient) add(id, choice string) {
	p.evidence = append(p.evidence, vueEvidence{ID: id, ChoiceID: choice})
}

func (p *vuePatient) body(t *testing.T, more string) string {
	t.Helper()
	return `{"sex":"male","age":{"value":30},"evidence":` + encoded(t, p.evidence) + more + `}`
}

// vueReads sends what axios would and takes data, which is only there when the
// status is one of success.
func vueReads(t *testing.T, where, method, path, body string) value {
	t.Helper()
	a := send(t, vueHeader(), method, path, body)
	if a.status < 200 || a.status > 299 {
		t.Fatalf("%s%s: axios rejects %d: %s", vueRepository, where, a.status, a.body)
	}
	return a.parsed(t)
}

func TestVueRiskFactors(t *testing.T) {
	t.Parallel()
	known := vueReads(t, "src/store/actions.js:40", "GET", "/v3/risk_factors?age.value=30", "")
	labels := map[string]string{}
	for i := range list(t, known) {
		labels[text(t, known, i, "id")] = text(t, known, i, "common_name")
		text(t, known, i, "category")
	}
	words := map[string]string{
		"p_7": "overweight", "p_8": "diabetes", "p_9": "blood pressure", "p_42": "pregnan", "p_147": "injury", "p_28": "smoking",
		"p_19": "oceania", "p_16": "north", "p_17": "central africa", "p_18": "south", "p_15": "europe", "p_20": "russia", "p_13": "canada", "p_14": "america", "p_21": "middle east",
	}
	for _, id := range slices.Concat(vueRiskFactors, vueCountries) {
		label, ok := labels[id]
		switch {
		case id == "p_22":
			// src/utils.js:18 reads the id of what it did not find: the step of
			// the places fails where p_22 is no part of the list.
			if ok {
				t.Error("p_22 is in the list, of which p_236 is the id")
			}
		case !ok || !strings.Contains(strings.ToLower(label), words[id]):
			t.Errorf("%s is %q, expected what has %q in it", id, label, words[id])
		}
	}
	isNamed("p_22", "asia")(t, vueReads(t, "src/api/constants.js:9", "GET", "/v3/risk_factors/p_22?age.value=30", ""))
}

// The steps in order, to the end of the interview.
func TestVueInterview(t *testing.T) {
	t.Parallel()
	p := &vuePatient{}
	heard := vueReads(t, "src/store/actions.js:12", "POST", "/v3/parse", `{"text":"I've got headache","age":{"value":30},"sex":"male"}`)
	for i := range list(t, heard, "mentions") {
		text(t, heard, "mentions", i, "common_name")
		p.evidence = append(p.evidence, vueEvidence{text(t, heard, "mentions", i, "id"), text(t, heard, "mentions", i, "choice_id"), "initial"})
	}
	for _, id := range vueRiskFactors {
		p.add(id, map[bool]string{true: "present", false: "absent"}[id == "p_28"])
	}
	for _, id := range vueCountries {
		p.add(id, map[bool]string{true: "present", false: "absent"}[id == "p_15"])
	}
	suggested := vueReads(t, "src/store/actions.js:61", "POST", "/v3/suggest", `{"sex":"male","age":{"value":30}}`)
	text(t, suggested, 0, "common_name")
	p.add(text(t, suggested, 0, "id"), "present")
	for asked := 0; ; asked++ {
		if asked == 60 {
			t.Fatal("60 questions and no end")
		}
		got := vueReads(t, "src/store/actions.js:78", "POST", "/v3/diagnosis", p.body(t, ""))
		if at(t, got, "should_stop") == true {
			p.readResult(t, got)
			return
		}
		p.answer(t, got, asked)
	}
}

// answer is answerSingle and answerGroup: src/store/modules/api.js:129.
func (p *vuePatient) answer(t *testing.T, got value, asked int) {
	t.Helper()
	text(t, got, "question", "text")
	items := list(t, got, "question", "items")
	switch kind := text(t, got, "question", "type"); kind {
	case "single":
		choices := list(t, items[0], "choices")
		text(t, choices[asked%len(choices)], "label")
		p.add(text(t, items[0], "id"), text(t, choices[asked%len(choices)], "id"))
	case "group_single":
		p.add(text(t, items[asked%len(items)], "id"), "present")
	case "group_multiple":
		for i := range items {
			text(t, items[i], "name")
			p.add(text(t, items[i], "id"), map[bool]string{true: "present", false: "absent"}[i == asked%len(items)])
		}
	default:
		t.Fatalf("StepDiagnosis.vue:6 shows nothing for a question of type %s", kind)
	}
}

// readResult is the last page: Triage.vue, ConditionList.vue.
func (p *vuePatient) readResult(t *testing.T, got value) {
	t.Helper()
	triage := vueReads(t, "src/store/actions.js:137", "POST", "/v3/triage", p.body(t, ""))
	for i := range list(t, triage, "serious") {
		text(t, triage, "serious", i, "id")
		text(t, triage, "serious", i, "common_name")
	}
	_ = strings.Replace(text(t, triage, "triage_level"), "_", " ", 1)
	for i := range list(t, got, "conditions") {
		text(t, got, "conditions", i, "common_name")
		if number(t, got, "conditions", i, "probability") <= 0.2 {
			continue
		}
		target := fmt.Sprintf(`,"target":%q`, text(t, got, "conditions", i, "id"))
		explained := vueReads(t, "src/store/actions.js:120", "POST", "/v3/explain", p.body(t, target))
		for _, evidence := range []string{"supporting_evidence", "conflicting_evidence", "unconfirmed_evidence"} {
			for j := range list(t, explained, evidence) {
				text(t, explained, evidence, j, "common_name")
			}
		}
	}
}
