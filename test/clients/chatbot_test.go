// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"net/http"
	"testing"
)

// The chat bot: infermedica/symptom-checker-chatbot-example, with another
// address in its code (apiaccess.py:4) and the age as /v3 has it.
const chatbotRepository = "infermedica/symptom-checker-chatbot-example "

// chatbotHeader is _remote_headers and what call_endpoint adds of a model:
// apiaccess.py:7.
func chatbotHeader() http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "Dev-Mode": {"true"}, "Interview-Id": {"0f5c7d8e9b1a4c3e8d7f6a5b4c3d2e1f"},
		"App-Id": {appID}, "App-Key": {appKey}, "Model": {"infermedica-en"}, "Language": {"en"}, "Accept": {"*/*"},
	}
}

func TestChatbot(t *testing.T) {
	t.Parallel()
	reads := func(read func(*testing.T, value)) func(*testing.T, answer) {
		return func(t *testing.T, a answer) {
			t.Helper()
			a.mustBe(t, 200) // raise_for_status
			read(t, a.parsed(t))
		}
	}
	const patient = `{"age": {"value": 40}, "sex": "male", "evidence": [{"id": "s_13", "choice_id": "present", "initial": true, "name": "Abdominal pain"}, {"id": "s_98", "choice_id": "absent", "initial": false}]`
	names := reads(func(t *testing.T, v value) {
		for i := range list(t, v) {
			text(t, v, i, "id")
			text(t, v, i, "name")
		}
	})
	play(t, chatbotHeader(), []row{
		{chatbotRepository + "apiaccess.py:125", "get_observation_names of risk factors", "GET", "/v3/risk_factors?age.value=40", "", names},
		{chatbotRepository + "apiaccess.py:125", "get_observation_names of symptoms", "GET", "/v3/symptoms?age.value=40", "", names},
		{chatbotRepository + "apiaccess.py:107", "call_parse", "POST", "/v3/parse",
			`{"text": "it hurts when I pee, also, stomach ache", "context": [], "include_tokens": true, "concept_types": ["symptom", "risk_factor"], "age": {"value": 40}}`,
			reads(func(t *testing.T, v value) {
				symbols := map[string]string{"present": "+", "absent": "-", "unknown": "?"}
				for i := range list(t, v, "mentions") {
					text(t, v, "mentions", i, "name")
					if symbols[text(t, v, "mentions", i, "choice_id")] == "" {
						t.Errorf("a mention is %v", at(t, v, "mentions", i))
					}
				}
				if len(list(t, v, "mentions")) != 2 {
					t.Errorf("heard are %v", at(t, v, "mentions"))
				}
			})},
		{chatbotRepository + "apiaccess.py:48", "call_diagnosis", "POST", "/v3/diagnosis",
			patient + `, "extras": {"enable_adaptive_ranking": true, "disable_groups": true}}`,
			reads(func(t *testing.T, v value) {
				if text(t, v, "question", "type") != "single" || len(list(t, v, "question", "items")) != 1 {
					t.Errorf("the question is %v", at(t, v, "question"))
				}
				text(t, v, "question", "text")
				number(t, v, "conditions", 0, "probability")
				text(t, v, "conditions", 0, "name")
				// conversation.py:161 reads should_stop, which is not there.
				if _, ok := v.(map[string]value)["should_stop"]; ok {
					t.Error("there is a should_stop: the rows of the chat bot can go on")
				}
			})},
		{chatbotRepository + "apiaccess.py:80", "call_triage", "POST", "/v3/triage", patient + `, "extras": {"enable_triage_5": true}}`,
			reads(func(t *testing.T, v value) { text(t, v, "triage_level") })},
	})
}
