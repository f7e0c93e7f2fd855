// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A testCall is a request that tests vary.
type testCall struct {
	method, path, body string
	header             map[string]string // in addition to the common headers; "" removes one
}

// withHeader returns the call with more headers.
func (c testCall) withHeader(header map[string]string) testCall {
	c.header = header
	return c
}

// withBody returns the call with another body.
func (c testCall) withBody(body string) testCall {
	c.body = body
	return c
}

func get(path string) testCall { return testCall{method: http.MethodGet, path: path} }

func post(path, body string) testCall {
	return testCall{method: http.MethodPost, path: path, body: body}
}

// getArticle returns a request for the article on a condition.
func getArticle(condition, query string) testCall {
	return get("/v3/patient_education/" + condition + query)
}

// postFeedback returns a request with the intents of a patient.
func postFeedback(body string) testCall { return post("/v3/interviews/feedback", body) }

// feedbackBody contains the intents of a patient.
const feedbackBody = `{
	"patient_intent_before": {"type": "emergency_care", "sub_type": {"category": "with_ambulance"}},
	"patient_intent_after": {"type": "consultation", "channel": {"category": "custom", "custom_label": "letter"}}}`

// evidenceJSON returns a list of evidence, each item written as "id choice source".
func evidenceJSON(items ...string) string {
	list := make([]string, len(items))
	for i, item := range items {
		fields := append(strings.Fields(item), "", "")
		list[i] = fmt.Sprintf(`{"id": %q, "choice_id": %q, "source": %q}`, fields[0], fields[1], fields[2])
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// interviewBody returns a body for an adult woman with the given evidence.
func interviewBody(items ...string) string {
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s}`, evidenceJSON(items...))
}

// addFields adds fields to the body of an interview.
func addFields(body, fields string) string {
	return strings.TrimSuffix(body, "}") + ", " + fields + "}"
}

func interviewWithExtras(extras string, items ...string) string {
	return addFields(interviewBody(items...), `"extras": `+extras)
}

func interviewWithDetails(items ...string) string {
	return interviewWithExtras(`{"include_condition_details": true}`, items...)
}

// interviewWithDuration returns a body for a woman with a runny nose, with additional
// evidence fields, from a client that supports durations.
func interviewWithDuration(fields string) string {
	return `{"sex": "female", "age": {"value": 30}, "extras": {"enable_symptom_duration": true},
		"evidence": [{"id": "s_8", "choice_id": "present", ` + fields + `}]}`
}

func specialistBody(mapping string) string {
	return interviewWithExtras(`{"specialist_mapping": `+mapping+`}`, "s_1 present initial")
}

func explainBody(target string, items ...string) string {
	return addFields(interviewBody(items...), fmt.Sprintf(`"target": %q`, target))
}

func suggestBody(method string, items ...string) string {
	return addFields(interviewBody(items...), fmt.Sprintf(`"suggest_method": %q`, method))
}

// parseRequestBody returns a body with a text by an adult woman.
func parseRequestBody(text string) string {
	return fmt.Sprintf(`{"text": %s, "sex": "female", "age": {"value": 30}}`, jsonString(text))
}

// jsonString encodes a text as JSON.
func jsonString(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot happen for a string
	}
	return string(content)
}

func repeat(count int, item string) []string { return slices.Repeat([]string{item}, count) }
