// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
)

func TestFeedbackIsStored(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, id := range []string{"first", "second"} {
		if got := r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"Interview-Id": id})); got.status != 200 || got.body != "{}\n" {
			t.Errorf("got status %d %q", got.status, got.body)
		}
	}
	r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"Dev-Mode": "true"}))
	r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"App-Id": "survey", "App-Key": "survey-key"}))
	r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"Interview-Id": ""}))
	r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"App-Key": "wrong"}))
	r.do(t, postFeedback(`{}`))
	want := []feedback.InterviewFeedback{{Application: "portal", ID: "first"}, {Application: "portal", ID: "second"}}
	for i := range want {
		want[i].Before = feedback.Intent{Type: "emergency_care", SubType: &feedback.SubType{Category: "with_ambulance"}}
		want[i].After = feedback.Intent{Type: "consultation", Channel: &feedback.Channel{Category: "custom", CustomLabel: "letter"}}
		want[i].ReceivedAt = today
	}
	if diff := cmp.Diff(want, r.feedback.all()); diff != "" {
		t.Errorf("kept (-want +got)\n%s", diff)
	}
}

// Valid and invalid intents according to the specification; package feedback tests the whole
// matrix.
func TestFeedbackErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	long := strings.Repeat("ä", 161)
	for intent, problem := range map[string]string{
		`{"type": "unknown"}`: "",
		`{"type": "not_sure", "channel": null, "sub_type": null, "custom_label": null}`: "",
		`{"type": "self_treatment_at_home", "custom_label": "` + long + `"}`:            "", // ignored
		`{"type": "custom", "custom_label": "` + long[2:] + `"}`:                        "",
		`{"type": "consultation", "more": {"a": 1}}`:                                    "",
		`null`:                                  "patient_intent_before: missing",
		`[]`:                                    "patient_intent_before: expected an object, got a list",
		`{}`:                                    "patient_intent_before.type: expected one of",
		`{"type": null}`:                        "patient_intent_before.type: expected one of",
		`{"type": 1}`:                           "patient_intent_before.type: expected a string, got a number",
		`{"type": "Consultation"}`:              "patient_intent_before.type: expected one of",
		`{"type": "custom"}`:                    "patient_intent_before.custom_label: missing",
		`{"type": "custom", "custom_label": 5}`: "patient_intent_before.custom_label: expected a string, got a number",
		`{"type": "custom", "custom_label": "` + long + `"}`:                      "patient_intent_before.custom_label: expected at most 160 characters, got 161",
		`{"type": "consultation", "channel": "chat"}`:                             "patient_intent_before.channel: expected an object, got a string",
		`{"type": "consultation", "channel": {}}`:                                 "patient_intent_before.channel.category: expected one of",
		`{"type": "consultation", "channel": {"category": "custom"}}`:             "patient_intent_before.channel.custom_label: missing",
		`{"type": "consultation", "sub_type": {"category": "with_ambulance"}}`:    "patient_intent_before.sub_type.category: expected one of",
		`{"type": "emergency_care", "channel": {"category": "chat"}}`:             "patient_intent_before.channel: expected none",
		`{"type": "urgent_care_center", "sub_type": {"category": "not_sure"}}`:    "patient_intent_before.sub_type: expected none",
		`{"type": "emergency_care", "sub_type": {"category": "nurse"}}`:           "patient_intent_before.sub_type.category: expected one of",
		`{"type": "emergency_care", "sub_type": {"category": ["not", "a word"]}}`: "patient_intent_before.sub_type.category: expected a string, got a list",
	} {
		t.Run(intent, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, postFeedback(fmt.Sprintf(`{"patient_intent_before": %s, "patient_intent_after": {"type": "unknown"}}`, intent)))
			if problem != "" {
				expectError(t, got, http.StatusUnprocessableEntity, problem)
			} else if got.status != http.StatusOK {
				t.Errorf("got status %d %s", got.status, got.body)
			}
		})
	}
	for body, problem := range map[string]string{
		`{}`: "patient_intent_before: missing", `[]`: "the body: expected an object, got a list", `null`: "patient_intent_before: missing",
		`{"Patient_Intent_Before": {"type": "unknown"}, "patient_intent_after": {"type": "unknown"}}`: "patient_intent_before: missing",
	} {
		expectError(t, r.do(t, postFeedback(body)), http.StatusUnprocessableEntity, problem)
	}
}

// While storage is down, the response carries Retry-After and the log has the cause; neither
// repeats the patient's intent.
func TestFeedbackWhileStorageIsDown(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	r.feedback.down.Store(true)
	got := r.do(t, postFeedback(feedbackBody).withHeader(map[string]string{"X-Request-Id": "mine"}))
	expectError(t, got, http.StatusServiceUnavailable, "retry later")
	if got.header.Get("Retry-After") != "5" {
		t.Errorf("got Retry-After %q", got.header.Get("Retry-After"))
	}
	log := r.log.String()
	if !strings.Contains(log, `"requestId":"mine","error":"connection refused"`) || strings.Contains(log+got.body, "letter") {
		t.Errorf("got log %s", log)
	}
	if counted := r.usage.all(); len(counted) != 0 {
		t.Errorf("server fault was counted as usage: %v", counted)
	}
	r.feedback.down.Store(false)
	if got := r.do(t, postFeedback(feedbackBody)); got.status != http.StatusOK || len(r.feedback.all()) != 1 {
		t.Errorf("afterwards it is answered %d %s, and kept %d times", got.status, got.body, len(r.feedback.all()))
	}
}
