// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A call is a request that tests vary.
type call struct {
	method, path, body string
	header             map[string]string // beside those that every call has; "" takes one away
}

// with is the call with more headers.
func (c call) with(header map[string]string) call {
	c.header = header
	return c
}

// carrying is the call with another body.
func (c call) carrying(body string) call {
	c.body = body
	return c
}

func get(path string) call { return call{method: http.MethodGet, path: path} }

func post(path, body string) call { return call{method: http.MethodPost, path: path, body: body} }

// read asks for the article about a condition.
func read(condition, query string) call { return get("/v3/patient_education/" + condition + query) }

// told sends what a patient meant to do.
func told(body string) call { return post("/v3/interviews/feedback", body) }

// intents are what a patient meant to do.
const intents = `{
	"patient_intent_before": {"type": "emergency_care", "sub_type": {"category": "with_ambulance"}},
	"patient_intent_after": {"type": "consultation", "channel": {"category": "custom", "custom_label": "letter"}}}`

// evidence writes the list of evidence, each item as "id choice source".
func evidence(items ...string) string {
	list := make([]string, len(items))
	for i, item := range items {
		fields := append(strings.Fields(item), "", "")
		list[i] = fmt.Sprintf(`{"id": %q, "choice_id": %q, "source": %q}`, fields[0], fields[1], fields[2])
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// interview writes the body of an adult woman with this evidence.
func interview(items ...string) string {
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s}`, evidence(items...))
}

// and adds fields to the body of an interview.
func and(body, fields string) string { return strings.TrimSuffix(body, "}") + ", " + fields + "}" }

func withExtras(extras string, items ...string) string {
	return and(interview(items...), `"extras": `+extras)
}

func detailed(items ...string) string {
	return withExtras(`{"include_condition_details": true}`, items...)
}

// timed is the body of a woman with a runny nose that comes with more fields,
// and of a client that knows durations.
func timed(fields string) string {
	return `{"sex": "female", "age": {"value": 30}, "extras": {"enable_symptom_duration": true},
		"evidence": [{"id": "s_8", "choice_id": "present", ` + fields + `}]}`
}

func mapped(mapping string) string {
	return withExtras(`{"specialist_mapping": `+mapping+`}`, "s_1 present initial")
}

func targeted(target string, items ...string) string {
	return and(interview(items...), fmt.Sprintf(`"target": %q`, target))
}

func suggesting(method string, items ...string) string {
	return and(interview(items...), fmt.Sprintf(`"suggest_method": %q`, method))
}

// typed is the body of an adult woman who typed something.
func typed(text string) string {
	return fmt.Sprintf(`{"text": %s, "sex": "female", "age": {"value": 30}}`, quoted(text))
}

// quoted is a text in JSON.
func quoted(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text always has one
	}
	return string(content)
}

func repeated(count int, item string) []string { return slices.Repeat([]string{item}, count) }
