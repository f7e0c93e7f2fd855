// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// pythonRepository is the Python connector, infermedica/python-api, with its v3 classes.
// Bodies are encoded as by json.dumps, parameters as by requests.
const pythonRepository = "infermedica/python-api "

// pythonHeader returns the headers of every call: connectors/common.py:131. The
// constructor takes the dev mode and the model; each call takes an interview ID.
func pythonHeader(posts bool, more ...string) http.Header {
	header := http.Header{
		"Accept":          {"application/json"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {"Infermedica-API-Python 1.0.0 (requests 2.26.0; python 3.9.7; connector APIv3Connector)"},
		"App-Id":          {appID},
		"App-Key":         {appKey},
		"Dev-Mode":        {"true"},
	}
	if posts {
		header["Content-Type"] = []string{"application/json"}
	}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = []string{more[i+1]}
	}
	return header
}

// pythonException returns the exception that __handle_response raises for a status:
// connectors/common.py:164.
func pythonException(status int) string {
	switch {
	case status >= 200 && status <= 299:
		return ""
	case status == 400:
		return "BadRequest"
	case status == 401:
		return "UnauthorizedAccess"
	case status == 403:
		return "ForbiddenAccess"
	case status == 404:
		return "ResourceNotFound"
	case status == 405:
		return "MethodNotAllowed"
	case status >= 500 && status <= 599:
		return "ServerError"
	}
	return "ConnectionError"
}

// expectPythonResult returns a check that decodes the response into a dict or list, as
// the connector does, and passes it to use.
func expectPythonResult(use func(t *testing.T, v value)) func(*testing.T, clientResponse) {
	return func(t *testing.T, a clientResponse) {
		t.Helper()
		if raised := pythonException(a.status); raised != "" {
			t.Fatalf("client raises %s: %s", raised, a.body)
		}
		use(t, a.decode(t))
	}
}

func expectPythonException(exception string) func(*testing.T, clientResponse) {
	return func(t *testing.T, a clientResponse) {
		t.Helper()
		if raised := pythonException(a.status); raised != exception {
			t.Fatalf("client raises %q, want %s: %s", raised, exception, a.body)
		}
	}
}

// requireKeys returns a check that the response is a nonempty list of objects, each with
// a nonempty string at every key.
func requireKeys(keys ...string) func(*testing.T, value) {
	return func(t *testing.T, v value) {
		t.Helper()
		items, ok := v.([]value)
		if !ok || len(items) == 0 {
			t.Fatalf("got %v, want a non-empty list", v)
		}
		for i := range items {
			for _, key := range keys {
				lookupString(t, v, i, key)
			}
		}
	}
}

// requireIDAndName returns a check that the response is an object with the given ID and
// a name that contains word.
func requireIDAndName(id, word string) func(*testing.T, value) {
	return func(t *testing.T, v value) {
		t.Helper()
		if lookupString(t, v, "id") != id || !strings.Contains(strings.ToLower(lookupString(t, v, "name")+" "+lookupString(t, v, "common_name")), word) {
			t.Errorf("got %v, want ID %s, name %s", v, id, word)
		}
	}
}

// pythonExample is the request used by the examples: examples/config.py:50.
const pythonExample = `"sex": "male", "age": {"value": 30}, "evidence": [{"id": "s_1193", "choice_id": "present", "source": "initial"}, {"id": "s_488", "choice_id": "present"}, {"id": "s_418", "choice_id": "absent"}]`

func TestPythonCatalog(t *testing.T) {
	t.Parallel()
	standard := pythonRepository + "infermedica_api/connectors/v3/standard.py:"
	get := func(line int, name, path string, read func(*testing.T, clientResponse)) clientCall {
		return clientCall{fmt.Sprint(standard, line), name, "GET", "/v3" + path, "", read}
	}
	runCalls(t, pythonHeader(false), []clientCall{
		{pythonRepository + "infermedica_api/connectors/common.py:224", "info", "GET", "/v3/info", "", expectPythonResult(func(t *testing.T, v value) {
			lookupString(t, v, "updated_at")
			if lookupNumber(t, v, "conditions_count") == 0 {
				t.Error("got no conditions")
			}
		})},
		get(434, "condition_list", "/conditions?age.value=35", expectPythonResult(requireKeys("id", "name", "common_name"))),
		get(413, "condition_details", "/conditions/c_221?age.value=35", expectPythonResult(func(t *testing.T, v value) { lookupString(t, v, "id") })),
		get(413, "condition_details of nothing", "/conditions/fail_test?age.value=35", expectPythonException("ResourceNotFound")),
		get(471, "symptom_list", "/symptoms?age.value=28&age.unit=year", expectPythonResult(requireKeys("id", "name", "common_name"))),
		get(452, "symptom_details", "/symptoms/s_56?age.value=28&age.unit=year", expectPythonResult(requireIDAndName("s_56", "tooth"))),
		get(452, "symptom_details with children", "/symptoms/s_551?age.value=28&age.unit=year", expectPythonResult(func(t *testing.T, v value) {
			requireIDAndName("s_551", "toothache")(t, v)
			if len(lookupList(t, v, "children")) == 0 {
				t.Error("got no children")
			}
		})),
		get(452, "symptom_details of nothing", "/symptoms/fail_test?age.value=28&age.unit=year", expectPythonException("ResourceNotFound")),
		get(510, "risk_factor_list", "/risk_factors?age.value=45", expectPythonResult(requireKeys("id", "name", "common_name"))),
		get(489, "risk_factor_details", "/risk_factors/p_37?age.value=45", expectPythonResult(requireIDAndName("p_37", "mushroom"))),
		get(489, "risk_factor_details of nothing", "/risk_factors/fail_test?age.value=45", expectPythonException("ResourceNotFound")),
		get(549, "lab_test_list", "/lab_tests?age.value=52", expectPythonResult(requireKeys("id", "name", "common_name", "category"))),
		{pythonRepository + "examples/v3/lab_tests.py:15", "lab_test_details", "GET", "/v3/lab_tests/lt_81?age.value=52", "", expectPythonResult(func(t *testing.T, v value) {
			lookupString(t, v, "id")
			if name := lookupString(t, v, "name"); !strings.Contains(name, "urea nitrogen") {
				t.Errorf("got type %s for lt_81", name)
			}
			for i := range lookupList(t, v, "results") {
				lookupString(t, v, "results", i, "id")
				lookupString(t, v, "results", i, "type")
			}
		})},
		get(528, "lab_test_details of nothing", "/lab_tests/fail_test?age.value=52", expectPythonException("ResourceNotFound")),
		get(579, "concept_list", "/concepts", expectPythonResult(requireKeys("id", "name", "common_name", "type"))),
		get(579, "concept_list of types", "/concepts?types=condition%2Crisk_factor", expectPythonResult(requireKeys("id", "name", "common_name", "type"))),
		get(38, "concept_list of laboratory tests", "/concepts?types=lab_test", expectPythonResult(requireKeys("id", "name", "common_name", "type"))),
		get(579, "concept_list of ids", "/concepts?ids=s_21%2Cs_98", expectPythonResult(requireKeys("id", "name", "common_name", "type"))),
		get(567, "concept_details", "/concepts/s_13", expectPythonResult(requireIDAndName("s_13", "abdominal pain"))),
		get(567, "concept_details of nothing", "/concepts/fail_test", expectPythonException("ResourceNotFound")),
		get(112, "search", "/search?age.value=38&phrase=headache&max_results=8", expectPythonResult(func(t *testing.T, v value) {
			requireKeys("id", "label")(t, v)
			if lookupString(t, v, 0, "id") != "s_21" {
				t.Errorf("got first hit %v for headache", lookup(t, v, 0))
			}
		})),
		get(112, "search for a woman", "/search?age.value=38&phrase=breast&max_results=8&sex=female", expectPythonResult(requireKeys("id", "label"))),
		get(112, "search for five", "/search?age.value=38&phrase=breast&max_results=5&sex=female", expectPythonResult(func(t *testing.T, v value) {
			if n := len(lookupList(t, v)); n != 5 {
				t.Errorf("got %d hits, want 5", n)
			}
		})),
		{pythonRepository + "infermedica_api/connectors/common.py:41", "search of laboratory tests", "GET", "/v3/search?age.value=38&phrase=urea&max_results=8&types=symptom%2Crisk_factor%2Clab_test", "", expectPythonResult(requireKeys("id", "label"))},
		get(112, "search of types", "/search?age.value=38&phrase=injury&max_results=8&types=symptom%2Crisk_factor", expectPythonResult(requireKeys("id", "label"))),
	})
}

func TestPythonInterview(t *testing.T) {
	t.Parallel()
	standard := pythonRepository + "infermedica_api/connectors/v3/standard.py:"
	post := func(line int, name, path, body string, read func(*testing.T, value)) clientCall {
		return clientCall{fmt.Sprint(standard, line), name, "POST", "/v3" + path, "{" + body + "}", expectPythonResult(read)}
	}
	runCalls(t, pythonHeader(true, "Interview-Id", "d8b7a2f0-5a3c-4f0e-9d51-7f0a5b6c7d8e", "Model", "infermedica-en"), []clientCall{
		post(160, "parse", "/parse", `"text": "i feel smoach pain but no couoghing today", "age": {"value": 38}, "include_tokens": false`, func(t *testing.T, v value) {
			for i := range lookupList(t, v, "mentions") {
				lookupString(t, v, "mentions", i, "id")
				lookupString(t, v, "mentions", i, "choice_id")
			}
		}),
		post(160, "parse with tokens", "/parse", `"text": "i feel smooch pain but no coughing today", "age": {"value": 38, "unit": "year"}, "include_tokens": true`, func(t *testing.T, v value) {
			if len(lookupList(t, v, "tokens")) == 0 {
				t.Error("got no tokens")
			}
		}),
		post(237, "diagnosis", "/diagnosis", pythonExample, checkPythonDiagnosis),
		post(237, "diagnosis with extras", "/diagnosis", pythonExample+`, "extras": {"disable_groups": true, "enable_adaptive_ranking": true}`, func(t *testing.T, v value) {
			if kind := lookupString(t, v, "question", "type"); kind != "single" {
				t.Errorf("got question type %s", kind)
			}
		}),
		post(194, "suggest", "/suggest?max_results=8", pythonExample+`, "suggest_method": "symptoms"`, requireKeys("id", "name", "common_name")),
		post(194, "suggest risk factors", "/suggest?max_results=8", pythonExample+`, "suggest_method": "risk_factors"`, requireKeys("id", "name", "common_name")),
		post(194, "suggest red flags", "/suggest?max_results=8", pythonExample+`, "suggest_method": "red_flags"`, requireKeys("id", "name", "common_name")),
		post(270, "rationale", "/rationale", pythonExample, func(t *testing.T, v value) {
			lookupString(t, v, "type")
			lookupList(t, v, "observation_params")
			lookupList(t, v, "condition_params")
		}),
		post(304, "explain", "/explain", pythonExample+`, "target": "c_49"`, func(t *testing.T, v value) {
			if len(lookupList(t, v, "supporting_evidence")) == 0 {
				t.Error("severe headache and light sensitivity are not supporting evidence for migraine")
			}
			lookupList(t, v, "conflicting_evidence")
			lookupList(t, v, "unconfirmed_evidence")
		}),
		post(345, "triage", "/triage", pythonExample, func(t *testing.T, v value) {
			lookupString(t, v, "triage_level")
			lookupList(t, v, "serious")
		}),
		post(378, "specialist_recommender", "/recommend_specialist", pythonExample, func(t *testing.T, v value) {
			lookup(t, v, "recommended_specialist")
			lookup(t, v, "recommended_channel")
		}),
	})
}

// checkPythonDiagnosis reads the fields shown in the README: README.md:77.
func checkPythonDiagnosis(t *testing.T, v value) {
	t.Helper()
	lookupString(t, v, "question", "text")
	lookupString(t, v, "question", "items", 0, "id")
	lookupString(t, v, "question", "items", 0, "name")
	lookupString(t, v, "question", "items", 0, "choices", 0, "id")
	lookupString(t, v, "question", "items", 0, "choices", 0, "label")
	lookupString(t, v, "conditions", 0, "id")
	lookupString(t, v, "conditions", 0, "name")
	lookupNumber(t, v, "conditions", 0, "probability")
}

// TestPythonIDs checks that the server knows the IDs used by the examples of all
// versions.
func TestPythonIDs(t *testing.T) {
	t.Parallel()
	examples := map[string]string{ // by ID: source location and a word of the name
		"s_21": "README.md:69 headache", "s_98": "README.md:70 fever", "s_107": "README.md:71 runny nose",
		"s_8": "examples/diagnosis.py:27 diarrhoea", "s_25": "examples/diagnosis.py:28 throbbing", "s_99": "examples/diagnosis.py:26 temperature",
		"s_10": "examples/v2/red_flags.py:15 nails", "s_608": "examples/v2/red_flags.py:16 corners", "s_216": "examples/v2/explain.py sweating",
		"s_9": "examples/v2/explain.py pale", "s_1193": "examples/config.py:57 severe headache", "s_488": "examples/config.py:58 light",
		"s_418": "examples/config.py:59 stiff neck", "s_13": "examples/v3/concepts.py:18 abdominal pain", "c_49": "examples/v3/explain.py:13 migraine",
	}
	var rows []clientCall
	for id, stated := range examples {
		where, word, _ := strings.Cut(stated, " ")
		rows = append(rows, clientCall{pythonRepository + where, id, "GET", "/v3/concepts/" + id, "", expectPythonResult(requireIDAndName(id, word))})
	}
	runCalls(t, pythonHeader(false), rows)
}

func TestPythonErrors(t *testing.T) {
	t.Parallel()
	common := pythonRepository + "infermedica_api/connectors/common.py:"
	runCalls(t, pythonHeader(true), []clientCall{
		{common + "184", "a body that lacks the age", "POST", "/v3/diagnosis", `{"sex": "male", "evidence": []}`, expectPythonException("BadRequest")},
		{common + "192", "a method that is not taken", "POST", "/v3/info", `{}`, expectPythonException("MethodNotAllowed")},
	})
	wrong := pythonHeader(true)
	wrong.Set("App-Key", "YOUR_APP_KEY")
	runCalls(t, wrong, []clientCall{{common + "188", "a wrong key", "POST", "/v3/diagnosis", "{" + pythonExample + "}", expectPythonException("ForbiddenAccess")}})
}
