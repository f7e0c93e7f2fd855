// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// The Svelte example: infermedica/svelte-symptom-checker-example, through the
// proxy that comes with it.
const svelteRepository = "infermedica/svelte-symptom-checker-example "

// svelteHeader is what axios sends and the proxy adds: server.js:18.
func svelteHeader(posts bool) http.Header {
	header := http.Header{"accept": {"application/json, text/plain, */*"}, "App-Id": {appID}, "App-Key": {appKey}}
	if posts {
		header["content-type"] = []string{"application/json;charset=utf-8"}
	}
	return header
}

// What the example asks of everybody: src/constants/index.ts:5 and :14.
var (
	svelteRiskFactors = []string{"p_7", "p_28", "p_264", "p_8", "p_9", "p_10"}
	svelteRegions     = []string{"p_13", "p_14", "p_15", "p_16", "p_17", "p_18", "p_19", "p_20", "p_21", "p_236"}
)

// A svelteRecord is a piece of evidence: src/types/index.ts:8. One of the
// dynamic interview has no source.
type svelteRecord struct {
	ChoiceID string `json:"choice_id"`
	ID       string `json:"id"`
	Source   string `json:"source,omitempty"`
}

type sveltePatient struct{ evidence []svelteRecord }

// add is filterDuplicateEvidence over what is known and what is new: the first
// record of an id stays (src/utils/utils.ts:30).
func (p *sveltePatient) add(records ...svelteRecord) {
	for _, record := range records {
		if !slices.ContainsFunc(p.evidence, func(known svelteRecord) bool { return known.ID == record.ID }) {
			p.evidence = append(p.evidence, record)
		}
	}
}

func (p *sveltePatient) body(t *testing.T, more string) string {
	t.Helper()
	return `{"age":{"value":40,"unit":"year"},"sex":"female","evidence":` + encoded(t, p.evidence) + more + `}`
}

func svelteReads(t *testing.T, where, method, path, body string) value {
	t.Helper()
	a := send(t, svelteHeader(method == http.MethodPost), method, path, body)
	if a.status < 200 || a.status > 299 {
		t.Fatalf("%s%s: axios rejects %d: %s", svelteRepository, where, a.status, a.body)
	}
	return a.parsed(t)
}

// The pages in order, to the end of the interview.
func TestSvelteInterview(t *testing.T) {
	t.Parallel()
	p := &sveltePatient{}
	for i, id := range svelteRiskFactors {
		p.add(svelteRecord{[]string{"present", "absent", "unknown"}[i%3], id, "predefined"})
	}
	heard := svelteReads(t, "src/services/parse.ts:11", "POST", "/v3/parse", `{"text":"My stomach hurts","age":{"value":40,"unit":"year"},"sex":"female"}`)
	for i := range list(t, heard, "mentions") {
		text(t, heard, "mentions", i, "common_name")
		p.add(svelteRecord{text(t, heard, "mentions", i, "choice_id"), text(t, heard, "mentions", i, "id"), "initial"})
	}
	for _, id := range svelteRegions {
		p.add(svelteRecord{map[bool]string{true: "present", false: "absent"}[id == "p_236"], id, "predefined"})
	}
	p.addSuggested(t)
	for asked := 0; ; asked++ {
		got := svelteReads(t, "src/services/diagnosis.ts:8", "POST", "/v3/diagnosis", p.body(t, `,"extras":{"enable_adaptive_ranking":true}`))
		// src/views/Diagnosis.svelte:55 reads the type of the question of every
		// answer, also of the one that says to stop.
		kind, items := text(t, got, "question", "type"), list(t, got, "question", "items")
		if stop, _ := got.(map[string]value)["should_stop"].(bool); stop || len(p.evidence) >= 44 {
			p.readResult(t, got)
			return
		}
		text(t, got, "question", "text")
		p.answer(t, kind, items, asked)
	}
}

// addSuggested is the page of suggested symptoms: it asks each by its own
// question (src/views/SuggestedSymptoms.svelte:78).
func (p *sveltePatient) addSuggested(t *testing.T) {
	t.Helper()
	suggested := svelteReads(t, "src/services/suggest.ts:8", "POST", "/v3/suggest", p.body(t, ""))
	for i := range list(t, suggested) {
		path := fmt.Sprintf("/v3/symptoms/%s?age.value=40&age.unit=year", text(t, suggested, i, "id"))
		details := svelteReads(t, "src/services/symptoms.ts:9", "GET", path, "")
		text(t, details, "question")
		text(t, details, "name")
		p.add(svelteRecord{[]string{"absent", "unknown"}[i%2], text(t, details, "id"), "suggest"})
	}
}

// answer is handleNext: src/views/Diagnosis.svelte:207.
func (p *sveltePatient) answer(t *testing.T, kind string, items []value, asked int) {
	t.Helper()
	for i := range items {
		text(t, items[i], "name")
		choices := list(t, items[i], "choices")
		text(t, choices[0], "label")
		choice := text(t, choices[(asked+i)%len(choices)], "id")
		if kind == "group_single" {
			if i != asked%len(items) {
				continue
			}
			choice = "present"
		}
		p.add(svelteRecord{ChoiceID: choice, ID: text(t, items[i], "id")})
	}
}

// readResult is the page of results: src/views/Results.svelte.
func (p *sveltePatient) readResult(t *testing.T, got value) {
	t.Helper()
	conditions := list(t, got, "conditions")
	if len(conditions) == 0 {
		t.Fatal("no conditions were identified")
	}
	for i := range conditions {
		text(t, conditions[i], "common_name")
		text(t, conditions[i], "name")
		number(t, conditions[i], "probability")
	}
	if len(p.evidence) > 45 {
		return // more than /explain takes: the example says that it failed
	}
	target := fmt.Sprintf(`,"target":%q`, text(t, conditions[0], "id"))
	explained := svelteReads(t, "src/types/api.ts:52", "POST", "/v3/explain", p.body(t, target))
	for _, evidence := range []string{"supporting_evidence", "conflicting_evidence", "unconfirmed_evidence"} {
		for i := range list(t, explained, evidence) {
			text(t, explained, evidence, i, "common_name")
		}
	}
}

// What the example says in its own words beside an id is what the id means.
func TestSvelteIDs(t *testing.T) {
	t.Parallel()
	for id, word := range map[string]string{
		"p_7": "overweight", "p_28": "smok", "p_264": "injur", "p_8": "diabetes", "p_9": "hypertension", "p_10": "cholesterol",
		"p_13": "canada", "p_14": "south america", "p_15": "europe", "p_16": "africa", "p_17": "africa", "p_18": "africa", "p_19": "oceania", "p_20": "russia", "p_21": "middle east", "p_236": "asia",
	} {
		isNamed(id, word)(t, svelteReads(t, "src/constants/index.ts:5", "GET", "/v3/concepts/"+id, ""))
	}
}
