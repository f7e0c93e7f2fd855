// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// headacheBody returns a body for a woman with headache and nausea, with additional fields in
// the first item, and extras.
func headacheBody(fields, extras string) string {
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "extras": %s, "evidence": [
		{"id": "s_1", "choice_id": "present", "source": "initial"%s},
		{"id": "s_5", "choice_id": "present"}, {"id": "s_6", "choice_id": "absent"}]}`, extras, fields)
}

const durationExtras = `{"enable_symptom_duration": true}`

// TestDurationAffectsRanking checks that the duration of a headache distinguishes a migraine
// from a cold: weeks are too long for a migraine, and hours too short for a cold.
func TestDurationAffectsRanking(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	odds := func(fields, extras string) float64 {
		probability := map[string]float64{}
		for _, c := range decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", headacheBody(fields, extras)))).Conditions {
			probability[c.ID] = c.Probability
		}
		return probability["c_1"] / probability["c_4"]
	}
	hours := odds(`, "duration": {"value": 5, "unit": "hour"}`, durationExtras)
	unsaid := odds("", durationExtras)
	weeks := odds(`, "duration": {"value": 1.5, "unit": "week"}`, durationExtras)
	if !(hours > unsaid && unsaid > weeks) {
		t.Errorf("the odds of migraine against a cold are %v after hours, %v unsaid, %v after weeks", hours, unsaid, weeks)
	}
	for name, same := range map[string]string{
		"minutes": `, "duration": {"value": 300, "unit": "minute"}`,
		"days":    `, "duration": {"value": 0.20833333333333334, "unit": "day", "x": 1}`,
	} {
		if got := odds(same, durationExtras); got != hours {
			t.Errorf("in %s the odds are %v, in hours %v", name, got, hours)
		}
	}
	if got := odds(`, "duration": null`, durationExtras); got != unsaid {
		t.Errorf("the odds are %v when the patient does not know, and %v unsaid", got, unsaid)
	}
}

// TestDurationIgnoredWithoutOption checks that durations are ignored unless the option is
// enabled.
func TestDurationIgnoredWithoutOption(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, path := range interviewPaths {
		body := func(fields, extras string) string { return addFields(headacheBody(fields, extras), `"target": "c_1"`) }
		for _, extras := range []string{`null`, `{}`, `{"enable_symptom_duration": false}`, `{"enable_symptom_duration": null}`} {
			want := r.do(t, post(path, body("", extras)))
			for _, duration := range []string{`null`, `{"value": 5, "unit": "hour"}`, `{"value": -1}`, `"long"`, `[{}]`} {
				got := r.do(t, post(path, body(`, "duration": `+duration, extras)))
				if got.status != 200 || got.body != want.body {
					t.Errorf("%s with duration %s and extras %s: got status %d %s, without %s", path, duration, extras, got.status, got.body, want.body)
				}
			}
		}
	}
}

func TestDurationErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for duration, problem := range map[string]string{
		`5`:                               "duration: expected an object, got a number",
		`"5 days"`:                        "duration: expected an object, got a string",
		`[]`:                              "duration: expected an object, got a list",
		`{}`:                              "duration.unit: missing, expected week, day, hour or minute",
		`{"value": 5}`:                    "duration.unit: missing",
		`{"value": 5, "unit": null}`:      "duration.unit: missing",
		`{"value": 5, "unit": ""}`:        "duration.unit: missing",
		`{"value": 5, "unit": "month"}`:   `duration.unit: expected week, day, hour or minute, got "month"`,
		`{"value": 5, "unit": "Day"}`:     `duration.unit: expected week, day, hour or minute, got "Day"`,
		`{"value": 5, "unit": 1}`:         "duration.unit: expected a string, got a number",
		`{"unit": "day"}`:                 "duration.value: missing, expected a number above 0",
		`{"unit": "day", "Value": 5}`:     "duration.value: missing, expected a number above 0",
		`{"value": null, "unit": "day"}`:  "duration.value: missing, expected a number above 0",
		`{"value": "5", "unit": "day"}`:   "duration.value: expected a number, got a string",
		`{"value": [5], "unit": "day"}`:   "duration.value: expected a number, got a list",
		`{"value": 0, "unit": "day"}`:     "duration.value: expected a number above 0, and at most 130 years, got 0",
		`{"value": -3, "unit": "day"}`:    "duration.value: expected a number above 0, and at most 130 years, got -3",
		`{"value": 1e6, "unit": "week"}`:  "duration.value: expected a number above 0, and at most 130 years, got 1e+06",
		`{"value": 1e400, "unit": "day"}`: "duration.value: expected a number, got 1e400",
	} {
		for _, path := range interviewPaths {
			got := r.do(t, post(path, headacheBody(`, "duration": `+duration, durationExtras)))
			expectError(t, got, 400, "evidence[0]."+problem)
		}
	}
	second := strings.Replace(headacheBody("", durationExtras), `"choice_id": "absent"`, `"choice_id": "absent", "duration": 5`, 1)
	expectError(t, r.do(t, post("/v3/diagnosis", second)), 400, "evidence[2].duration: expected an object")
}

func TestDurationLimits(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, duration := range []string{
		`{"value": 1e-300, "unit": "minute"}`, `{"value": 0.5, "unit": "minute"}`, `{"value": 6782, "unit": "week"}`, `{"value": 5.0e0, "unit": "day"}`,
	} {
		for _, path := range interviewPaths {
			if got := r.do(t, post(path, addFields(headacheBody(`, "duration": `+duration, durationExtras), `"target": "c_1"`))); got.status != 200 {
				t.Errorf("%s with %s: got status %d: %s", path, duration, got.status, got.body)
			}
		}
	}
}

// TestDurationQuestion checks that a duration is asked for once, for the evidence concerned.
func TestDurationQuestion(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	asked := func(body string) *enginev3.Question {
		return decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", body))).Question
	}
	question := decode[jsonObject](t, r.do(t, post("/v3/diagnosis", interviewWithDuration(`"source": "initial"`))))["question"]
	want := jsonObject{
		"type": "duration", "text": "How long have you had this: Runny nose?", "evidence_id": "s_8", "items": []any{}, "extras": jsonObject{},
	}
	if diff := cmp.Diff(want, question); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, other := range map[string]*enginev3.Question{
		"answered":           asked(interviewWithDuration(`"source": "initial", "duration": {"value": 5, "unit": "hour"}`)),
		"unknown":            asked(interviewWithDuration(`"source": "initial", "duration": null`)),
		"without the option": asked(interviewBody("s_8 present initial")),
	} {
		if other.Type == "duration" || other.EvidenceID != nil || len(other.Items) == 0 {
			t.Errorf("%s: the question is %+v", name, other)
		}
	}
}
