// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jsonObject is a decoded JSON object.
type jsonObject = map[string]any

func TestGetInfo(t *testing.T) {
	t.Parallel()
	got := startServer(t).do(t, get("/v3/info"))
	want := jsonObject{
		"api_version": "3.0.0", "updated_at": "2026-11-21T00:00:00Z",
		"conditions_count": 5.0, "symptoms_count": 13.0, "risk_factors_count": 3.0, "lab_tests_count": 2.0,
	}
	if diff := cmp.Diff(want, decode[jsonObject](t, got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestListEndpoints checks the order of the concepts in every list.
func TestListEndpoints(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for path, want := range map[string]string{
		"/v3/conditions?age.value=30":                      "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=30&age.unit=":            "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=30&nonsense=1":           "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=5&age.unit=year":         "c_4 c_3 c_5 c_1 c_2",
		"/v3/conditions?age.value=5&age.unit=month":        "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=6&age.unit=month":        "c_4 c_3 c_5 c_1 c_2",
		"/v3/conditions?age.value=0&age.unit=month":        "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=1560&age.unit=month":     "c_4 c_5 c_1 c_2",
		"/v3/conditions?age.value=130":                     "c_4 c_5 c_1 c_2",
		"/v3/symptoms?age.value=30":                        "s_10 s_11 s_13 s_12 s_1 s_4 s_2 s_3 s_5 s_6 s_9 s_8",
		"/v3/symptoms?age.value=1":                         "s_7 s_10 s_11 s_13 s_12 s_1 s_4 s_2 s_3 s_5 s_6 s_9 s_8",
		"/v3/risk_factors?age.value=30":                    "p_7 p_30 p_15",
		"/v3/risk_factors?age.value=11":                    "p_7 p_15",
		"/v3/lab_tests?age.value=30":                       "lab_1",
		"/v3/lab_tests?age.value=1":                        "lab_2 lab_1",
		"/v3/concepts":                                     "p_7 c_4 s_7 c_3 c_5 s_10 s_11 s_13 s_12 s_1 s_4 s_2 s_3 c_1 s_5 s_6 s_9 p_30 p_15 s_8 c_2",
		"/v3/concepts?types=":                              "",
		"/v3/concepts?ids=":                                "",
		"/v3/concepts?types=risk_factor":                   "p_7 p_30 p_15",
		"/v3/concepts?types=risk_factor,lab_test_result":   "p_7 lt_2 lt_1 lt_3 p_30 p_15",
		"/v3/concepts?types=lab_test":                      "lt_2 lt_1 lt_3",
		"/v3/concepts?types=lab_test,lab_test_result":      "lt_2 lt_1 lt_3",
		"/v3/concepts?types=risk_factor,+risk_factor,":     "p_7 p_30 p_15",
		"/v3/concepts?ids=s_5,c_1":                         "c_1 s_5",
		"/v3/concepts?ids=s_5,s_5":                         "s_5",
		"/v3/concepts?ids=p_22":                            "p_22",
		"/v3/concepts?ids=p_22,s_98,p_15,p_22":             "s_98 p_15 p_22",
		"/v3/concepts?ids=s_5,c_1&types=condition":         "c_1",
		"/v3/concepts?ids=lt_1":                            "",
		"/v3/concepts?ids=lt_1,c_1&types=lab_test_result":  "lt_1",
		"/v3/concepts?types=condition,symptom,risk_factor": "p_7 c_4 s_7 c_3 c_5 s_10 s_11 s_13 s_12 s_1 s_4 s_2 s_3 c_1 s_5 s_6 s_9 p_30 p_15 s_8 c_2",
	} {
		if strings.HasSuffix(path, "types=") || strings.HasSuffix(path, "ids=") {
			want = "p_7 c_4 s_7 c_3 c_5 s_10 s_11 s_13 s_12 s_1 s_4 s_2 s_3 c_1 s_5 s_6 s_9 p_30 p_15 s_8 c_2" // same as unset
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var ids []string
			for _, concept := range decode[[]jsonObject](t, r.do(t, get(path))) {
				ids = append(ids, concept["id"].(string))
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("got %s, expected %s", got, want)
			}
		})
	}
}

// TestGetEndpoints checks every kind of record, including fields that may be null or empty.
func TestGetEndpoints(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	migraine := jsonObject{
		"id": "c_1", "name": "Migraine", "common_name": "Migraine", "sex_filter": "both",
		"categories": []any{"General medicine"}, "prevalence": "common",
		"acuteness": "chronic_with_exacerbations", "severity": "moderate",
		"extras":       jsonObject{"hint": "Rest in a <dark> room.", "icd10_code": "G43.9"},
		"triage_level": "consultation", "recommended_channel": "audio_teleconsultation",
	}
	bleeding := jsonObject{
		"id": "c_2", "name": "Subarachnoid hemorrhage", "common_name": "Bleeding around the brain",
		"sex_filter": "both", "categories": []any{"General medicine"}, "prevalence": "very_rare",
		"acuteness": "acute", "severity": "severe", "extras": jsonObject{"hint": nil, "icd10_code": nil},
		"triage_level": "emergency_ambulance", "recommended_channel": "personal_visit",
	}
	headache := jsonObject{
		"id": "s_1", "name": "Headache", "common_name": "Headache", "question": "s_1?",
		"question_third_person": "Third person: s_1?", "sex_filter": "both", "category": "Symptoms",
		"seriousness": nil, "extras": jsonObject{}, "parent_id": nil, "parent_relation": nil,
		"children": []any{
			jsonObject{"id": "s_2", "parent_relation": "severity"},
			jsonObject{"id": "s_3", "parent_relation": "location"},
			jsonObject{"id": "s_4", "parent_relation": "location"},
		},
		"image_url": nil, "image_source": nil,
	}
	severe := merged(headache, jsonObject{
		"id": "s_2", "name": "Headache, severe", "common_name": "Severe headache", "question": "s_2?",
		"question_third_person": "Third person: s_2?", "parent_id": "s_1", "parent_relation": "severity", "children": []any{},
	})
	professional := merged(headache, jsonObject{
		"id": "s_9", "name": "Nystagmus", "common_name": "Nystagmus", "question": nil,
		"question_third_person": nil, "children": []any{},
	})
	pregnancy := jsonObject{
		"id": "p_30", "name": "Pregnancy", "common_name": "Pregnancy", "question": "p_30?",
		"question_third_person": "Third person: p_30?", "sex_filter": "female", "category": "Risk factors",
		"extras": jsonObject{}, "image_url": nil, "image_source": nil,
	}
	bloodCells := jsonObject{
		"id": "lab_1", "name": "White blood cell count", "common_name": "White blood cell count", "category": "Blood",
		"results": []any{jsonObject{"id": "lt_2", "type": "normal"}, jsonObject{"id": "lt_1", "type": "high"}},
	}
	virus := jsonObject{
		"id": "lab_2", "name": "Parainfluenza virus test", "common_name": "Parainfluenza virus test", "category": "Blood",
		"results": []any{jsonObject{"id": "lt_3", "type": "present"}},
	}
	for path, want := range map[string]jsonObject{
		"/v3/conditions/c_1?age.value=30":                                        migraine,
		"/v3/conditions/c_2?age.value=30":                                        bleeding,
		"/v3/conditions/c_2?age.value=30&enable_triage_3=false":                  bleeding,
		"/v3/conditions/c_2?age.value=30&enable_triage_3=true":                   merged(bleeding, jsonObject{"triage_level": "emergency"}),
		"/v3/conditions/c_1?age.value=30&enable_triage_3=true":                   migraine,
		"/v3/conditions/c_1?age.value=30&include_specialists=true":               migraine,
		"/v3/symptoms/s_1?age.value=30":                                          headache,
		"/v3/symptoms/s_2?age.value=30":                                          severe,
		"/v3/symptoms/s_9?age.value=30":                                          professional,
		"/v3/risk_factors/p_30?age.value=30":                                     pregnancy,
		"/v3/risk_factors/p_30?age.value=3":                                      pregnancy, // an age at which the list omits it
		"/v3/risk_factors/p_15?age.value=30&age.unit=month&nonsense=1&x=%ff&%zz": merged(pregnancy, jsonObject{"id": "p_15", "name": "Residence in Europe", "common_name": "Living in Europe", "question": nil, "question_third_person": nil, "sex_filter": "both"}),
		"/v3/lab_tests/lab_1?age.value=30":                                       bloodCells,
		"/v3/lab_tests/lab_2?age.value=1":                                        virus,
		"/v3/lab_tests/lt_2?age.value=30":                                        bloodCells,
		"/v3/lab_tests/lt_3?age.value=1":                                         virus,
		"/v3/lab_tests/lab_2?age.value=30":                                       merged(virus, jsonObject{"results": []any{}}),
		"/v3/concepts/s_9":                                                       {"id": "s_9", "type": "symptom", "name": "Nystagmus", "common_name": "Nystagmus", "extras": jsonObject{}},
		"/v3/concepts/c_2":                                                       {"id": "c_2", "type": "condition", "name": "Subarachnoid hemorrhage", "common_name": "Bleeding around the brain", "extras": jsonObject{}},
		"/v3/risk_factors/p_22?age.value=30":                                     merged(pregnancy, jsonObject{"id": "p_22", "name": "Residence in Europe", "common_name": "Living in Europe", "question": nil, "question_third_person": nil, "sex_filter": "both"}),
		"/v3/concepts/p_22":                                                      {"id": "p_22", "type": "risk_factor", "name": "Residence in Europe", "common_name": "Living in Europe", "extras": jsonObject{}},
		"/v3/concepts/s_98":                                                      {"id": "s_98", "type": "symptom", "name": "Fever", "common_name": "Fever", "extras": jsonObject{}},
		"/v3/concepts/p_7":                                                       {"id": "p_7", "type": "risk_factor", "name": "BMI over 30", "common_name": "High body mass index", "extras": jsonObject{}},
		"/v3/concepts/lt_1":                                                      {"id": "lt_1", "type": "lab_test_result", "name": "Leukocytosis", "common_name": "High white blood cells", "extras": jsonObject{}},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, decode[jsonObject](t, r.do(t, get(path)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestListsMatchSingleRecords checks that lists contain the same records as single requests.
func TestListsMatchSingleRecords(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, kind := range []string{"conditions", "symptoms", "risk_factors", "lab_tests"} {
		for _, record := range decode[[]jsonObject](t, r.do(t, get("/v3/"+kind+"?age.value=2"))) {
			single := decode[jsonObject](t, r.do(t, get("/v3/"+kind+"/"+record["id"].(string)+"?age.value=2")))
			if diff := cmp.Diff(record, single); diff != "" {
				t.Errorf("%s: (-list +single)\n%s", record["id"], diff)
			}
		}
	}
}

// TestAliasKeepsRequestedID checks that a record requested by an alias has the alias as its
// ID and is otherwise identical.
func TestAliasKeepsRequestedID(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, test := range []struct{ path, alias, id string }{
		{"/v3/symptoms/%s?age.value=30", "s_98", "s_11"},
		{"/v3/risk_factors/%s?age.value=30", "p_22", "p_15"},
		{"/v3/concepts/%s", "s_98", "s_11"},
	} {
		want := merged(decode[jsonObject](t, r.do(t, get(fmt.Sprintf(test.path, test.id)))), jsonObject{"id": test.alias})
		got := decode[jsonObject](t, r.do(t, get(fmt.Sprintf(test.path, test.alias))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s as %s: (-want +got)\n%s", test.id, test.alias, diff)
		}
	}
}

func TestConditionListOptions(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	specialists := map[string]any{}
	levels := map[string]any{}
	path := "/v3/conditions?age.value=3&include_specialists=true&enable_triage_3=true"
	for _, condition := range decode[[]jsonObject](t, r.do(t, get(path))) {
		id := condition["id"].(string)
		specialists[id], levels[id] = condition["specialists"], condition["triage_level"]
	}
	general := jsonObject{"id": "sp_1", "name": "General practitioner"}
	neurologist := jsonObject{"id": "sp_17", "name": "Neurologist"}
	wantSpecialists := map[string]any{
		"c_1": []any{neurologist, general}, "c_2": []any{neurologist, general},
		"c_3": []any{general}, "c_4": []any{general}, "c_5": []any{general},
	}
	if diff := cmp.Diff(wantSpecialists, specialists); diff != "" {
		t.Errorf("specialists (-want +got)\n%s", diff)
	}
	wantLevels := map[string]any{
		"c_1": "consultation", "c_2": "emergency", "c_3": "consultation", "c_4": "self_care", "c_5": "consultation",
	}
	if diff := cmp.Diff(wantLevels, levels); diff != "" {
		t.Errorf("levels (-want +got)\n%s", diff)
	}
}

func TestCatalogueErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const age = "a whole number"
	for _, test := range []struct {
		path    string
		status  int
		message string // substring
	}{
		{"/v3/conditions", 400, "age.value: missing, expected one whole number"},
		{"/v3/conditions/c_1", 400, "age.value: missing"},
		{"/v3/symptoms", 400, "age.value: missing"},
		{"/v3/symptoms/s_1", 400, "age.value: missing"},
		{"/v3/risk_factors", 400, "age.value: missing"},
		{"/v3/risk_factors/p_7", 400, "age.value: missing"},
		{"/v3/lab_tests", 400, "age.value: missing"},
		{"/v3/lab_tests/lab_1", 400, "age.value: missing"},
		{"/v3/lab_tests?age.value=131", 400, age},
		{"/v3/lab_tests/lab_1?age.value=0", 400, age},
		{"/v3/lab_tests/lab_0?age.value=30", 404, `laboratory test "lab_0" not found`},
		{"/v3/lab_tests/s_1?age.value=30", 404, `laboratory test "s_1" not found`},
		{"/v3/lab_tests/lt_99?age.value=30", 404, `laboratory test "lt_99" not found`},
		{"/v3/conditions?age.value=", 400, "age.value: "},
		{"/v3/conditions?age.value=old", 400, "age.value: expected one whole number"},
		{"/v3/conditions?age.value=30.5", 400, "age.value: expected one whole number"},
		{"/v3/conditions?age.value=30&age.value=31", 400, "age.value: expected one whole number"},
		{"/v3/conditions?age.value=0", 400, age + " from 1 to 130 with the unit year, got 0"},
		{"/v3/conditions?age.value=131", 400, age + " from 1 to 130 with the unit year, got 131"},
		{"/v3/conditions?age.value=-1&age.unit=month", 400, age + " from 0 to 1560 with the unit month, got -1"},
		{"/v3/conditions?age.value=1561&age.unit=month", 400, "got 1561"},
		{"/v3/conditions?age.value=99999999999999999999", 400, "age.value"},
		{"/v3/conditions/c_1?age.value=0", 400, "age.value"},
		{"/v3/symptoms?age.value=0", 400, "age.value"},
		{"/v3/symptoms/s_1?age.value=131", 400, "age.value"},
		{"/v3/risk_factors?age.value=0", 400, "age.value"},
		{"/v3/risk_factors/p_7?age.value=131", 400, "age.value"},
		{"/v3/conditions?age.value=3&age.unit=week", 400, `age.unit: expected year or month, got "week"`},
		{"/v3/conditions?age.value=3&enable_triage_3=maybe", 400, "enable_triage_3: expected true or false"},
		{"/v3/conditions?age.value=3&include_specialists=2", 400, "include_specialists: expected true or false"},
		{"/v3/conditions/c_99?age.value=30", 404, `condition "c_99" not found`},
		{"/v3/conditions/s_1?age.value=30", 404, `condition "s_1" not found`},
		{"/v3/symptoms/s_99?age.value=30", 404, `symptom "s_99" not found`},
		{"/v3/symptoms/p_7?age.value=30", 404, `symptom "p_7" not found`},
		{"/v3/symptoms/S_1?age.value=30", 404, `symptom "S_1" not found`},
		{"/v3/risk_factors/p_99?age.value=30", 404, `risk factor "p_99" not found`},
		{"/v3/risk_factors/lt_1?age.value=30", 404, `risk factor "lt_1" not found`},
		{"/v3/concepts/s_99", 404, `concept "s_99" not found`},
		{"/v3/concepts/sp_1", 404, `concept "sp_1" not found`},
		{"/v3/concepts/%22%3Cb%3E", 404, `concept "\"<b>" not found`},
		{"/v3/concepts/" + strings.Repeat("x", 100), 404, strings.Repeat("x", 64) + "…"},
		{"/v3/concepts?ids=s_1,s_99", 404, `concept "s_99" not found`},
		{"/v3/concepts?types=symptom,illness", 400, `types: expected condition, symptom, risk_factor or lab_test_result, got "illness"`},
		{"/v3/concepts?ids=s_1&ids=s_2", 400, "ids: expected one value"},
	} {
		t.Run(test.path, func(t *testing.T) {
			t.Parallel()
			expectError(t, r.do(t, get(test.path)), test.status, test.message)
		})
	}
}

func expectError(t testing.TB, got testResponse, status int, message string) {
	t.Helper()
	if got.status != status {
		t.Errorf("got status %d, expected %d: %s", got.status, status, got.body)
		return
	}
	var failure struct{ Message, Error string }
	if err := json.Unmarshal([]byte(got.body), &failure); err != nil || !strings.Contains(failure.Message+failure.Error, message) {
		t.Errorf("got response %s, expected a message with %q", got.body, message)
	}
}

func decode[T any](t testing.TB, got testResponse) (value T) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("got status %d: %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &value); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	return value
}

func merged(base, changes jsonObject) jsonObject {
	result := jsonObject{}
	for _, from := range []jsonObject{base, changes} {
		for key, value := range from {
			result[key] = value
		}
	}
	return result
}
