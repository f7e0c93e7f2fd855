// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"net/http"
	"testing"
)

// The JavaScript example: infermedica/js-symptom-checker-example, whose
// constructor takes the address (src/infermedica-api.js:6). It speaks /v2: what
// its users see here is the message, which has to say what to change.
const javascriptRepository = "infermedica/js-symptom-checker-example "

// javascriptHeader is _req: src/infermedica-api.js:26.
func javascriptHeader() http.Header {
	return http.Header{
		"App-Id": {appID}, "App-Key": {appKey}, "Model": {"infermedica-en"}, "Content-Type": {"application/json"},
		"Interview-Id": {"5d7f3c0e-1f0b-4b44-9d28-7d9f0e3a52b1"},
	}
}

func TestJavaScript(t *testing.T) {
	t.Parallel()
	const evidence = `{"sex":"male","age":30,"evidence":[{"id":"s_21","choice_id":"present","initial":true},{"id":"p_28","choice_id":"absent"}]`
	play(t, javascriptHeader(), []row{
		{javascriptRepository + "src/infermedica-api.js:59", "getRiskFactors", "GET", "/v3/risk_factors", "", goFails(400, "age.value: missing")},
		{javascriptRepository + "src/infermedica-api.js:55", "getSymptoms", "GET", "/v3/symptoms", "", goFails(400, "age.value: missing")},
		{javascriptRepository + "src/infermedica-api.js:63", "parse", "POST", "/v3/parse", `{"text":"headache"}`, goFails(400, "age")},
		{javascriptRepository + "src/infermedica-api.js:71", "diagnosis", "POST", "/v3/diagnosis", evidence + "}", goFails(400, "age: expected an object")},
		{javascriptRepository + "src/infermedica-api.js:75", "explain", "POST", "/v3/explain", evidence + `,"target":"c_49"}`, goFails(400, "age: expected an object")},
		{javascriptRepository + "src/infermedica-api.js:67", "getSuggestedSymptoms", "POST", "/v3/suggest", `{"sex":"male","age":30,"selected":["s_21"]}`, goFails(400, "age: expected an object")},
	})
}

// The ids that the example asks everybody for: src/components/common-risks/view.js
// and geo-risks/view.js, which take names out of a list by them.
func TestJavaScriptIDs(t *testing.T) {
	t.Parallel()
	var rows []row
	for id, word := range map[string]string{
		"p_7": "overweight", "p_28": "smok", "p_10": "cholesterol", "p_9": "hypertension", "p_264": "injury", "p_147": "injury", "p_8": "diabetes", "p_11": "menopause", "p_42": "pregnan",
		"p_15": "europe", "p_20": "russia", "p_21": "middle east", "p_16": "africa", "p_17": "africa", "p_18": "africa", "p_14": "america", "p_19": "oceania", "p_22": "asia", "p_13": "canada",
	} {
		rows = append(rows, row{javascriptRepository + "src/components/common-risks/view.js:24", id, "GET", "/v3/concepts/" + id, "", pythonReturns(isNamed(id, word))})
	}
	play(t, javascriptHeader(), rows)
}
