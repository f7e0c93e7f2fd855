// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"net/http"
	"testing"
)

// javascriptRepository is the JavaScript example,
// infermedica/js-symptom-checker-example, whose constructor takes the base URL
// (src/infermedica-api.js:6). It uses the /v2 format, so users see the error message,
// which must explain what to change.
const javascriptRepository = "infermedica/js-symptom-checker-example "

// javascriptHeader returns the headers of _req: src/infermedica-api.js:26.
func javascriptHeader() http.Header {
	return http.Header{
		"App-Id": {appID}, "App-Key": {appKey}, "Model": {"infermedica-en"}, "Content-Type": {"application/json"},
		"Interview-Id": {"5d7f3c0e-1f0b-4b44-9d28-7d9f0e3a52b1"},
	}
}

func TestJavaScript(t *testing.T) {
	t.Parallel()
	const evidence = `{"sex":"male","age":30,"evidence":[{"id":"s_21","choice_id":"present","initial":true},{"id":"p_28","choice_id":"absent"}]`
	runCalls(t, javascriptHeader(), []clientCall{
		{javascriptRepository + "src/infermedica-api.js:59", "getRiskFactors", "GET", "/v3/risk_factors", "", expectGoError(400, "age.value: missing")},
		{javascriptRepository + "src/infermedica-api.js:55", "getSymptoms", "GET", "/v3/symptoms", "", expectGoError(400, "age.value: missing")},
		{javascriptRepository + "src/infermedica-api.js:63", "parse", "POST", "/v3/parse", `{"text":"headache"}`, expectGoError(400, "age")},
		{javascriptRepository + "src/infermedica-api.js:71", "diagnosis", "POST", "/v3/diagnosis", evidence + "}", expectGoError(400, "age: expected an object")},
		{javascriptRepository + "src/infermedica-api.js:75", "explain", "POST", "/v3/explain", evidence + `,"target":"c_49"}`, expectGoError(400, "age: expected an object")},
		{javascriptRepository + "src/infermedica-api.js:67", "getSuggestedSymptoms", "POST", "/v3/suggest", `{"sex":"male","age":30,"selected":["s_21"]}`, expectGoError(400, "age: expected an object")},
	})
}

// TestJavaScriptIDs checks the IDs that the example asks every patient about.
// src/components/common-risks/view.js and geo-risks/view.js look up their names in a
// list by ID.
func TestJavaScriptIDs(t *testing.T) {
	t.Parallel()
	var rows []clientCall
	for id, word := range map[string]string{
		"p_7": "overweight", "p_28": "smok", "p_10": "cholesterol", "p_9": "hypertension", "p_264": "injury", "p_147": "injury", "p_8": "diabetes", "p_11": "menopause", "p_42": "pregnan",
		"p_15": "europe", "p_20": "russia", "p_21": "middle east", "p_16": "africa", "p_17": "africa", "p_18": "africa", "p_14": "america", "p_19": "oceania", "p_22": "asia", "p_13": "canada",
	} {
		rows = append(rows, clientCall{javascriptRepository + "src/components/common-risks/view.js:24", id, "GET", "/v3/concepts/" + id, "", expectPythonResult(requireIDAndName(id, word))})
	}
	runCalls(t, javascriptHeader(), rows)
}
