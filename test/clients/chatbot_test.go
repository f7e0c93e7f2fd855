// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"net/http"
	"testing"
)

// chatbotRepository is the chatbot, infermedica/symptom-checker-chatbot-example. It is
// tested with a changed base URL (apiaccess.py:4) and with the age in the format of /v3.
const chatbotRepository = "infermedica/symptom-checker-chatbot-example "

// chatbotHeader returns the headers of _remote_headers and the model header that
// call_endpoint adds: apiaccess.py:7.
func chatbotHeader() http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "Dev-Mode": {"true"}, "Interview-Id": {"0f5c7d8e9b1a4c3e8d7f6a5b4c3d2e1f"},
		"App-Id": {appID}, "App-Key": {appKey}, "Model": {"infermedica-en"}, "Language": {"en"}, "Accept": {"*/*"},
	}
}

func TestChatbot(t *testing.T) {
	t.Parallel()
	reads := func(read func(*testing.T, value)) func(*testing.T, clientResponse) {
		return func(t *testing.T, a clientResponse) {
			t.Helper()
			a.requireStatus(t, 200) // raise_for_status
			read(t, a.decode(t))
		}
	}
	const patient = `{"age": {"value": 40}, "sex": "male", "evidence": [{"id": "s_13", "choice_id": "present", "initial": true, "name": "Abdominal pain"}, {"id": "s_98", "choice_id": "absent", "initial": false}]`
	names := reads(func(t *testing.T, v value) {
		for i := range lookupList(t, v) {
			lookupString(t, v, i, "id")
			lookupString(t, v, i, "name")
		}
	})
	runCalls(t, chatbotHeader(), []clientCall{
		{chatbotRepository + "apiaccess.py:125", "get_observation_names of risk factors", "GET", "/v3/risk_factors?age.value=40", "", names},
		{chatbotRepository + "apiaccess.py:125", "get_observation_names of symptoms", "GET", "/v3/symptoms?age.value=40", "", names},
		{chatbotRepository + "apiaccess.py:107", "call_parse", "POST", "/v3/parse",
			`{"text": "it hurts when I pee, also, stomach ache", "context": [], "include_tokens": true, "concept_types": ["symptom", "risk_factor"], "age": {"value": 40}}`,
			reads(func(t *testing.T, v value) {
				symbols := map[string]string{"present": "+", "absent": "-", "unknown": "?"}
				for i := range lookupList(t, v, "mentions") {
					lookupString(t, v, "mentions", i, "name")
					if symbols[lookupString(t, v, "mentions", i, "choice_id")] == "" {
						t.Errorf("got mention %v", lookup(t, v, "mentions", i))
					}
				}
				if len(lookupList(t, v, "mentions")) != 2 {
					t.Errorf("got mentions %v", lookup(t, v, "mentions"))
				}
			})},
		{chatbotRepository + "apiaccess.py:48", "call_diagnosis", "POST", "/v3/diagnosis",
			patient + `, "extras": {"enable_adaptive_ranking": true, "disable_groups": true}}`,
			reads(func(t *testing.T, v value) {
				if lookupString(t, v, "question", "type") != "single" || len(lookupList(t, v, "question", "items")) != 1 {
					t.Errorf("got question %v", lookup(t, v, "question"))
				}
				lookupString(t, v, "question", "text")
				lookupNumber(t, v, "conditions", 0, "probability")
				lookupString(t, v, "conditions", 0, "name")
				// conversation.py:161 reads should_stop, which the response lacks.
				if _, ok := v.(map[string]value)["should_stop"]; ok {
					t.Error("got should_stop, want none")
				}
			})},
		{chatbotRepository + "apiaccess.py:80", "call_triage", "POST", "/v3/triage", patient + `, "extras": {"enable_triage_5": true}}`,
			reads(func(t *testing.T, v value) { lookupString(t, v, "triage_level") })},
	})
}
