// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// svelteRepository is the Svelte example, infermedica/svelte-symptom-checker-example,
// used through its bundled proxy.
const svelteRepository = "infermedica/svelte-symptom-checker-example"

// svelteHeader returns the headers that axios sends and the proxy adds: server.js:18.
func svelteHeader(posts bool) http.Header {
	header := http.Header{"accept": {"application/json, text/plain, */*"}, "App-Id": {appID}, "App-Key": {appKey}}
	if posts {
		header["content-type"] = []string{"application/json;charset=utf-8"}
	}
	return header
}

// IDs that the example asks every patient about: src/constants/index.ts:5 and :14.
var (
	svelteRiskFactors = []string{"p_7", "p_28", "p_264", "p_8", "p_9", "p_10"}
	svelteRegions     = []string{"p_13", "p_14", "p_15", "p_16", "p_17", "p_18", "p_19", "p_20", "p_21", "p_236"}
)

// A svelteRecord is a piece of evidence: src/types/index.ts:8. Evidence from the dynamic
// interview has no source.
type svelteRecord struct {
	ChoiceID string `json:"choice_id"`
	ID       string `json:"id"`
	Source   string `json:"source,omitempty"`
}

type sveltePatient struct{ evidence []svelteRecord }

// add does what filterDuplicateEvidence does with known and new evidence: it keeps the
// first record of an ID (src/utils/utils.ts:30).
func (p *sveltePatient) add(records ...svelteRecord) {
	for _, record := range records {
		if !slices.ContainsFunc(p.evidence, func(known svelteRecord) bool { return known.ID == record.ID }) {
			p.evidence = append(p.evidence, record)
		}
	}
}

func (p *sveltePatient) body(t *testing.T, more string) string {
	t.Helper()
	return `{"age":{"value":40,"unit":"year"},"sex":"female","evidence":` + encodeJSON(t, p.evidence) + more + `}`
}

func svelteRequest(t *testing.T, where, method, path, body string) value {
	t.Helper()
	a := send(t, svelteHeader(method == http.MethodPost), method, path, body)
	if a.status < 200 || a.status > 299 {
		t.Fatalf("%s %s: axios rejects %d: %s", svelteRepository, where, a.status, a.body)
	}
	return a.decode(t)
}

// TestSvelteInterview visits the pages in order until the interview ends.
func TestSvelteInterview(t *testing.T) {
	t.Parallel()
	p := &sveltePatient{}
	for i, id := range svelteRiskFactors {
		p.add(svelteRecord{[]string{"present", "absent", "unknown"}[i%3], id, "predefined"})
	}
	heard := svelteRequest(t, "src/services/parse.ts:11", "POST", "/v3/parse", `{"text":"My stomach hurts","age":{"value":40,"unit":"year"},"sex":"female"}`)
	for i := range lookupList(t, heard, "mentions") {
		lookupString(t, heard, "mentions", i, "common_name")
		p.add(svelteRecord{lookupString(t, heard, "mentions", i, "choice_id"), lookupString(t, heard, "mentions", i, "id"), "initial"})
	}
	for _, id := range svelteRegions {
		p.add(svelteRecord{map[bool]string{true: "present", false: "absent"}[id == "p_236"], id, "predefined"})
	}
	p.addSuggested(t)
	for asked := 0; ; asked++ {
		got := svelteRequest(t, "src/services/diagnosis.ts:8", "POST", "/v3/diagnosis", p.body(t, `,"extras":{"enable_adaptive_ranking":true}`))
		// src/views/Diagnosis.svelte:55 reads the question type of every response, including the
		// last one with should_stop.
		kind, items := lookupString(t, got, "question", "type"), lookupList(t, got, "question", "items")
		if stop, _ := got.(map[string]value)["should_stop"].(bool); stop || len(p.evidence) >= 44 {
			p.checkResult(t, got)
			return
		}
		lookupString(t, got, "question", "text")
		p.answerQuestion(t, kind, items, asked)
	}
}

// addSuggested does what the page of suggested symptoms does: it asks about each symptom
// with the symptom's own question (src/views/SuggestedSymptoms.svelte:78).
func (p *sveltePatient) addSuggested(t *testing.T) {
	t.Helper()
	suggested := svelteRequest(t, "src/services/suggest.ts:8", "POST", "/v3/suggest", p.body(t, ""))
	for i := range lookupList(t, suggested) {
		path := fmt.Sprintf("/v3/symptoms/%s?age.value=40&age.unit=year", lookupString(t, suggested, i, "id"))
		details := svelteRequest(t, "src/services/symptoms.ts:9", "GET", path, "")
		lookupString(t, details, "question")
		lookupString(t, details, "name")
		p.add(svelteRecord{[]string{"absent", "unknown"}[i%2], lookupString(t, details, "id"), "suggest"})
	}
}

// answerQuestion does what handleNext does: src/views/Diagnosis.svelte:207.
func (p *sveltePatient) answerQuestion(t *testing.T, kind string, items []value, asked int) {
	t.Helper()
	for i := range items {
		lookupString(t, items[i], "name")
		choices := lookupList(t, items[i], "choices")
		lookupString(t, choices[0], "label")
		choice := lookupString(t, choices[(asked+i)%len(choices)], "id")
		if kind == "group_single" {
			if i != asked%len(items) {
				continue
			}
			choice = "present"
		}
		p.add(svelteRecord{ChoiceID: choice, ID: lookupString(t, items[i], "id")})
	}
}

// checkResult does what the results page does: src/views/Results.svelte.
func (p *sveltePatient) checkResult(t *testing.T, got value) {
	t.Helper()
	conditions := lookupList(t, got, "conditions")
	if len(conditions) == 0 {
		t.Fatal("got no conditions")
	}
	for i := range conditions {
		lookupString(t, conditions[i], "common_name")
		lookupString(t, conditions[i], "name")
		lookupNumber(t, conditions[i], "probability")
	}
	if len(p.evidence) > 45 {
		return // exceeds the limit of /explain; the example shows an error
	}
	target := fmt.Sprintf(`,"target":%q`, lookupString(t, conditions[0], "id"))
	explained := svelteRequest(t, "src/types/api.ts:52", "POST", "/v3/explain", p.body(t, target))
	for _, evidence := range []string{"supporting_evidence", "conflicting_evidence", "unconfirmed_evidence"} {
		for i := range lookupList(t, explained, evidence) {
			lookupString(t, explained, evidence, i, "common_name")
		}
	}
}

// TestSvelteIDs checks that the texts that the example hardcodes next to IDs match the
// meaning of the IDs.
func TestSvelteIDs(t *testing.T) {
	t.Parallel()
	for id, word := range map[string]string{
		"p_7": "overweight", "p_28": "smok", "p_264": "injur", "p_8": "diabetes", "p_9": "hypertension", "p_10": "cholesterol",
		"p_13": "canada", "p_14": "south america", "p_15": "europe", "p_16": "africa", "p_17": "africa", "p_18": "africa", "p_19": "oceania", "p_20": "russia", "p_21": "middle east", "p_236": "asia",
	} {
		requireIDAndName(id, word)(t, svelteRequest(t, "src/constants/index.ts:5", "GET", "/v3/concepts/"+id, ""))
	}
}
