// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

func TestDiagnosis(t *testing.T) {
	t.Parallel()
	got := decode[jsonObject](t, startServer(t).do(t, post("/v3/diagnosis", interviewBody("s_1 present initial"))))
	conditions := got["conditions"].([]any)
	if len(conditions) != 1 {
		t.Errorf("%d conditions for one observation, expected 1", len(conditions))
	}
	if got["has_emergency_evidence"] != false || got["should_stop"] != false {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff(jsonObject{}, got["extras"]); diff != "" {
		t.Errorf("extras (-want +got)\n%s", diff)
	}
	question := got["question"].(jsonObject)
	if question["text"] == "" || len(question["items"].([]any)) == 0 {
		t.Errorf("got question %v", question)
	}
	choices := []any{
		jsonObject{"id": "present", "label": "Yes"},
		jsonObject{"id": "absent", "label": "No"},
		jsonObject{"id": "unknown", "label": "Don't know"},
	}
	for _, item := range question["items"].([]any) {
		if diff := cmp.Diff(choices, item.(jsonObject)["choices"]); diff != "" {
			t.Errorf("choices (-want +got)\n%s", diff)
		}
	}
}

func TestDiagnosisRanking(t *testing.T) {
	t.Parallel()
	got := decode[enginev3.Diagnosis](t, startServer(t).do(t, post("/v3/diagnosis",
		interviewBody("s_1 present initial", "s_5 present initial", "s_3 present", "s_8 absent"))))
	if len(got.Conditions) < 2 || got.Conditions[0].ID != "c_1" || got.Conditions[0].Name != "Migraine" {
		t.Errorf("got ranking %v, expected migraine first", got.Conditions)
	}
	if !slices.IsSortedFunc(got.Conditions, func(a, b enginev3.RankedCondition) int {
		if a.Probability != b.Probability {
			return int(1e6 * (b.Probability - a.Probability))
		}
		return strings.Compare(a.ID, b.ID)
	}) {
		t.Errorf("ranking is not sorted: %v", got.Conditions)
	}
}

// TestDiagnosisQuestion checks the parts of a diagnosis other than the ranking, by request.
func TestDiagnosisQuestion(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const unsaid = "unsaid"
	for name, test := range map[string]struct {
		body       string
		question   bool
		shouldStop any
	}{
		"no evidence":              {`{"sex": "female", "age": {"value": 30}}`, false, unsaid},
		"empty evidence":           {interviewBody(), false, unsaid},
		"null evidence":            {`{"sex": "female", "age": {"value": 30}, "evidence": null}`, false, unsaid},
		"only absent":              {interviewBody("s_1 absent initial"), false, unsaid},
		"only a risk factor":       {interviewBody("p_7 present predefined"), false, unsaid},
		"initial":                  {interviewBody("s_1 present initial"), true, false},
		"no source at all":         {interviewBody("s_1 present"), true, unsaid},
		"source, but not initial":  {interviewBody("s_1 present suggest"), false, unsaid},
		"does not apply to her":    {interviewBody("s_7 present initial"), false, unsaid},
		"initial after risk":       {interviewBody("p_7 present predefined", "s_1 present initial"), true, false},
		"child stands for parent":  {interviewBody("s_2 present initial"), true, false},
		"the same twice":           {interviewBody("s_1 present initial", "s_1 present initial"), true, false},
		"with a laboratory result": {interviewBody("lt_1 present suggest", "s_10 present initial"), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode[jsonObject](t, r.do(t, post("/v3/diagnosis", test.body)))
			if (got["question"] != nil) != test.question {
				t.Errorf("got question %v", got["question"])
			}
			stop, present := got["should_stop"]
			if !present {
				stop = unsaid
			}
			if _, known := test.shouldStop.(bool); known != present || !known && stop != unsaid {
				t.Errorf("should_stop is %v, expected %v", stop, test.shouldStop)
			}
		})
	}
}

// collectQuestionTypes answers all questions and returns their types.
func collectQuestionTypes(t *testing.T, r *testServer, extras string) []string {
	t.Helper()
	var types []string
	items := []string{"s_1 present initial"}
	for range 12 {
		body := fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s, "extras": %s}`, evidenceJSON(items...), extras)
		got := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", body)))
		if got.Question == nil {
			return types
		}
		types = append(types, string(got.Question.Type))
		for _, item := range got.Question.Items {
			items = append(items, item.ID+" unknown")
		}
	}
	t.Error("interview does not end")
	return types
}

func TestDisableGroups(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	if got := collectQuestionTypes(t, r, `{}`); !slices.Contains(got, "group_multiple") {
		t.Errorf("the questions are %v, expected one of a group", got)
	}
	if got := collectQuestionTypes(t, r, `{"disable_groups": true}`); slices.ContainsFunc(got, func(s string) bool { return s != "single" }) {
		t.Errorf("the questions are %v, expected single ones", got)
	}
}

func TestTriage(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const three = `, "extras": {"enable_triage_3": true}}`
	stiff := []any{jsonObject{
		"id": "s_6", "name": "Neck stiffness", "common_name": "Stiff neck",
		"seriousness": "emergency_ambulance", "is_emergency": true,
	}}
	barking := []any{jsonObject{
		"id": "s_7", "name": "Cough, barking", "common_name": "Barking cough", "seriousness": "serious", "is_emergency": false,
	}}
	together := []any{
		jsonObject{"id": "s_2", "name": "Headache, severe", "common_name": "Severe headache", "seriousness": "emergency", "is_emergency": true},
		jsonObject{"id": "s_5", "name": "nausea", "common_name": "Feeling sick", "seriousness": "emergency", "is_emergency": true},
	}
	toddler := `{"sex": "male", "age": {"value": 20, "unit": "month"}, "evidence": ` + evidenceJSON("s_7 present initial") + "}"
	for name, test := range map[string]struct {
		body string
		want jsonObject
	}{
		"nothing": {interviewBody(), jsonObject{
			"triage_level": "consultation", "root_cause": "diagnosis_unknown", "serious": []any{}, "teleconsultation_applicable": true,
		}},
		"a red flag": {interviewBody("s_1 present initial", "s_6 present"), jsonObject{
			"triage_level": "emergency_ambulance", "root_cause": "emergency_evidence_present", "serious": stiff, "teleconsultation_applicable": false,
		}},
		"a red flag in three levels": {strings.TrimSuffix(interviewBody("s_1 present initial", "s_6 present"), "}") + three, jsonObject{
			"triage_level": "emergency", "root_cause": "emergency_evidence_present", "serious": stiff,
		}},
		"serious": {toddler, jsonObject{
			"triage_level": "consultation_24", "root_cause": "serious_evidence_present", "serious": barking, "teleconsultation_applicable": true,
		}},
		"serious in three levels": {strings.TrimSuffix(toddler, "}") + three, jsonObject{
			"triage_level": "consultation", "root_cause": "serious_evidence_present", "serious": barking,
		}},
		"worse together": {interviewBody("s_2 present initial", "s_5 present"), jsonObject{
			"triage_level": "emergency", "root_cause": "emergency_evidence_present", "serious": together, "teleconsultation_applicable": false,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, decode[jsonObject](t, r.do(t, post("/v3/triage", test.body)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestNullAndUnknownFieldsAreIgnored checks that values that clients send for "unset" and
// fields unknown to the contract do not change the response.
func TestNullAndUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const plain = `{"sex": "female", "age": {"value": 30, "unit": "year"}, "evidence": [{"id": "s_1", "choice_id": "present"}], "target": "c_4"}`
	for _, path := range interviewPaths {
		want := r.do(t, post(path, plain))
		for _, body := range []string{
			`{"sex":"female","age":{"value":30},"evidence":[{"id":"s_1","choice_id":"present"}],"target":"c_4"}`,
			` {"target": "c_4", "age": {"value": 30.0}, "evidence": [{"choice_id": "present", "id": "s_1"}], "sex": "female"}` + "\r\n",
			`{"sex": "female", "age": {"value": 3e1, "unit": null}, "target": "c_4",
			  "evidence": [{"id": "s_1", "choice_id": "present", "source": null, "duration": null}], "extras": null}`,
			`{"sex": "female", "age": {"value": 30, "unit": ""}, "target": "c_4",
			  "evidence": [{"id": "s_1", "choice_id": "present", "source": ""}], "extras": {}, "suggest_method": null, "include_condition_details": null}`,
			`{"sex": "female", "age": {"value": 360, "unit": "month"}, "target": "c_4", "evidence": [{"id": "s_1", "choice_id": "present"}],
			  "extras": {"disable_groups": null, "enable_triage_3": null, "interview_mode": "", "enable_symptom_duration": null,
			  "include_condition_details": null, "specialist_mapping": null}}`,
			`{"sex": "female", "age": {"value": 30, "more": 1}, "target": "c_4", "evidence": [{"id": "s_1", "choice_id": "present", "weight": [1]}],
			  "extras": {"interview_mode": "default", "enable_triage_3": false, "new": {"a": 1}}, "suggest_method": "", "context": null}`,
			`{"sex":"female","age":{"value":30},"evidence":[{"id":"s_1","choice_id":"present"}],"target":"c_4","note":"\ud83d"}`,
			`{"sex": "female", "Sex": "male", "age": {"value": 30, "Value": 3}, "AGE": {}, "target": "c_4", "Target": 5,
			  "evidence": [{"id": "s_1", "choice_id": "present", "Source": "me", "ID": "s_2"}], "Evidence": [{"source": "initial"}],
			  "extras": {"Interview_Mode": 1}, "EXTRAS": {"enable_triage_3": true}}`,
		} {
			got := r.do(t, post(path, body))
			if got.status != 200 || got.body != want.body {
				t.Errorf("%s %s\nanswered %d: %s\nexpected %s", path, body, got.status, got.body, want.body)
			}
		}
	}
}

// interviewPaths are the paths that accept an interview body.
var interviewPaths = []string{
	"/v3/diagnosis", "/v3/triage", "/v3/recommend_specialist", "/v3/explain", "/v3/rationale", "/v3/suggest", "/v3/red_flags",
}

// TestInterviewErrors checks every kind of invalid body on each endpoint that accepts it.
func TestInterviewErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	sick := func(item string) string {
		return `{"sex": "female", "age": {"value": 30}, "evidence": [{"id": "s_1", "choice_id": "present"}, ` + item + `]}`
	}
	aged := func(age string) string { return `{"sex": "female", "age": ` + age + `}` }
	extra := func(extras string) string { return `{"sex": "female", "age": {"value": 30}, "extras": ` + extras + `}` }
	for name, test := range map[string]struct{ body, message string }{
		"empty":                      {``, "the body: invalid JSON at byte 0: unexpected end"},
		"blank":                      {`   `, "the body: invalid JSON at byte 3: unexpected end"},
		"not JSON":                   {`sex=female`, "the body: invalid JSON at byte 0: invalid character 's'"},
		"broken off":                 {`{"sex": "female", `, "the body: invalid JSON at byte 18: unexpected end"},
		"a comma too many":           {`{"sex": "female",}`, "the body: invalid JSON at byte 17: invalid character '}'"},
		"more after it":              {aged(`{"value": 30}`) + "x", "the body: invalid JSON at byte 39: unexpected data after the first value"},
		"two values":                 {aged(`{"value": 30}`) + aged(`{"value": 30}`), "the body: invalid JSON at byte 39: unexpected data after the first value"},
		"nested without end":         {strings.Repeat("[", 100_000), "the body: invalid JSON at byte"},
		"a list":                     {`[]`, "the body: expected an object, got a list"},
		"a string":                   {`"female"`, "the body: expected an object, got a string"},
		"null":                       {`null`, "sex: missing, expected female or male"},
		"no sex":                     {`{"age": {"value": 30}}`, "sex: missing, expected female or male"},
		"sex null":                   {`{"sex": null, "age": {"value": 30}}`, "sex: missing"},
		"sex empty":                  {`{"sex": "", "age": {"value": 30}}`, "sex: missing"},
		"sex unknown":                {`{"sex": "other", "age": {"value": 30}}`, `sex: expected female or male, got "other"`},
		"sex in capitals":            {`{"sex": "FEMALE", "age": {"value": 30}}`, `sex: expected female or male, got "FEMALE"`},
		"sex a number":               {`{"sex": 1, "age": {"value": 30}}`, "sex: expected a string, got a number"},
		"no age":                     {`{"sex": "female"}`, "age.value: missing, expected a whole number from 1 to 130 with the unit year"},
		"age null":                   {aged(`null`), "age.value: missing"},
		"age a number":               {aged(`30`), "age: expected an object, got a number"},
		"age without value":          {aged(`{"unit": "month"}`), "age.value: missing, expected a whole number from 0 to 1560 with the unit month"},
		"age value null":             {aged(`{"value": null}`), "age.value: missing"},
		"age value a string":         {aged(`{"value": "30"}`), "age.value: expected a number, got a string"},
		"age zero years":             {aged(`{"value": 0}`), "age.value: expected a whole number from 1 to 130 with the unit year, got 0"},
		"age over":                   {aged(`{"value": 131}`), "got 131"},
		"age negative":               {aged(`{"value": -1, "unit": "month"}`), "from 0 to 1560 with the unit month, got -1"},
		"age over in months":         {aged(`{"value": 1561, "unit": "month"}`), "got 1561"},
		"age a fraction":             {aged(`{"value": 30.5}`), "a whole number from 1 to 130 with the unit year, got 30.5"},
		"age vast":                   {aged(`{"value": 1e300}`), "got 1e+300"},
		"age too vast":               {aged(`{"value": 1e400}`), "age.value: expected a number, got 1e400"},
		"age of many digits":         {aged(`{"value": 1` + strings.Repeat("0", 10000) + `}`), "age.value: expected a number, got 1" + strings.Repeat("0", 63) + "…"},
		"age unit unknown":           {aged(`{"value": 3, "unit": "week"}`), `age.unit: expected year or month, got "week"`},
		"age unit a number":          {aged(`{"value": 3, "unit": 1}`), "age.unit: expected a string, got a number"},
		"evidence an object":         {`{"sex": "female", "age": {"value": 30}, "evidence": {}}`, "evidence: expected a list, got an object"},
		"evidence of strings":        {`{"sex": "female", "age": {"value": 30}, "evidence": ["s_1"]}`, "evidence[0]: expected an object, got a string"},
		"evidence null inside":       {sick(`null`), "evidence[1].id: missing, expected the id of an observation"},
		"no id":                      {sick(`{"choice_id": "present"}`), "evidence[1].id: missing"},
		"id null":                    {sick(`{"id": null, "choice_id": "present"}`), "evidence[1].id: missing"},
		"id a number":                {sick(`{"id": 21, "choice_id": "present"}`), "evidence[1].id: expected a string, got a number"},
		"id unknown":                 {sick(`{"id": "s_99", "choice_id": "present"}`), `evidence[1] ("s_99")`},
		"id of a condition":          {sick(`{"id": "c_1", "choice_id": "present"}`), `evidence[1] ("c_1")`},
		"id of another kind":         {sick(`{"id": "x_1", "choice_id": "present"}`), `evidence[1] ("x_1")`},
		"id long":                    {sick(`{"id": "` + strings.Repeat("ä", 1000) + `", "choice_id": "present"}`), `ää…")`},
		"no choice":                  {sick(`{"id": "s_5"}`), "evidence[1].choice_id: missing, expected present, absent or unknown"},
		"choice empty":               {sick(`{"id": "s_5", "choice_id": ""}`), "evidence[1].choice_id: missing"},
		"choice unknown":             {sick(`{"id": "s_5", "choice_id": "yes"}`), `evidence[1].choice_id: expected present, absent or unknown, got "yes"`},
		"choice a boolean":           {sick(`{"id": "s_5", "choice_id": true}`), "evidence[1].choice_id: expected a string, got true or false"},
		"source unknown":             {sick(`{"id": "s_5", "choice_id": "present", "source": "me"}`), `evidence[1].source: expected initial, suggest, predefined or red_flags, or no source, got "me"`},
		"contradicting choices":      {sick(`{"id": "s_1", "choice_id": "absent"}`), `evidence[1] ("s_1")`},
		"extras a list":              {extra(`[]`), "extras: expected an object, got a list"},
		"disable_groups a string":    {extra(`{"disable_groups": "true"}`), "extras.disable_groups: expected true or false, got a string"},
		"enable_triage_3 a number":   {extra(`{"enable_triage_3": 1}`), "extras.enable_triage_3: expected true or false, got a number"},
		"interview_mode unknown":     {extra(`{"interview_mode": "long"}`), `extras.interview_mode: expected default, triage or short_triage, got "long"`},
		"interview_mode an object":   {extra(`{"interview_mode": {}}`), "extras.interview_mode: expected a string, got an object"},
		"enable_symptom_duration":    {extra(`{"enable_symptom_duration": "yes"}`), "extras.enable_symptom_duration: expected true or false, got a string"},
		"details a number":           {extra(`{"include_condition_details": 1}`), "extras.include_condition_details: expected true or false, got a number"},
		"details at the top":         {addFields(aged(`{"value": 30}`), `"include_condition_details": []`), "include_condition_details: expected true or false, got a list"},
		"specialist_mapping a list":  {extra(`{"specialist_mapping": []}`), "extras.specialist_mapping: expected an object, got a list"},
		"specialist_mapping inside":  {extra(`{"specialist_mapping": {"sp_1": 2}}`), "extras.specialist_mapping.sp_1: expected a string, got a number"},
		"first of several errors":    {`{"sex": 1, "age": 2}`, "sex: expected a string"},
		"invalid UTF-8 in an unused": {"{\"x\": \"\xff\"}", "the body: invalid JSON at byte 7: invalid UTF-8"},
		"half a pair, not escaped":   {"{\"x\": \"\xed\xa0\x80\"}", "the body: invalid JSON at byte 7: invalid UTF-8"},
		"half a pair in a name":      {`{"s\ud800": 1, "s\udfff": 2}`, "duplicate object name"},
		"a field twice":              {addFields(aged(`{"value": 30}`), `"age": {"value": 3}`), `the body: at byte 40: duplicate object name "age"`},
		"a list twice":               {addFields(sick(`{"id": "s_5", "choice_id": "present"}`), `"evidence": []`), `duplicate object name "evidence"`},
		"an unused field twice":      {extra(`{"x": {"y": 1, "y": 1}}`), `the body: at byte 65: duplicate object name "y"`},
		"a field twice, escaped":     {`{"sex": "male", "s\u0065x": "female"}`, `the body: at byte 16: duplicate object name "sex"`},
	} {
		for _, path := range interviewPaths {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				expectError(t, r.do(t, post(path, test.body)), 400, test.message)
			})
		}
	}
}

func TestInterviewModes(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, mode := range []string{"default", "triage", "short_triage"} {
		body := strings.TrimSuffix(interviewBody("s_1 present initial"), "}") + fmt.Sprintf(`, "extras": {"interview_mode": %q}}`, mode)
		decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", body)))
		decode[enginev3.Triage](t, r.do(t, post("/v3/triage", body)))
	}
}

// TestDiagnosisIsDeterministic checks that identical requests yield identical bytes,
// independent of earlier calls and the order of the evidence.
func TestDiagnosisIsDeterministic(t *testing.T) {
	t.Parallel()
	first, second := startServer(t), startServer(t)
	bodies := []string{
		explainBody("c_1", "s_1 present initial", "s_5 present", "p_7 present predefined", "s_8 absent"),
		explainBody("c_1", "s_8 absent", "p_7 present predefined", "s_5 present", "s_1 present initial"),
		explainBody("c_1", "s_5 present", "s_8 absent", "s_1 present initial", "p_7 present predefined", "s_8 absent"),
	}
	for _, path := range interviewPaths {
		want := first.do(t, post(path, bodies[0]))
		for i := range 30 {
			r, body := []*testServer{first, second}[i%2], bodies[i%3]
			if got := r.do(t, post(path, body)); got.status != 200 || got.body != want.body {
				t.Fatalf("%s answered\n%s\nand\n%s", path, want.body, got.body)
			}
			r.do(t, post(path, interviewBody(fmt.Sprintf("s_%d present initial", 1+i%6))))
		}
	}
}
