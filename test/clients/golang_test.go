// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// goRepository is the Go library, guiarnaldo/infermedica-v3, which is derived from
// mydoc-chat/infermedica. It encodes every struct field, including an empty duration, an
// age without a unit, and null for a nil map.
const goRepository = "guiarnaldo/infermedica-v3 "

// goHeader returns the headers of addHeaders, which are the same with and without a
// body: http.go:33.
func goHeader(model string) http.Header {
	header := http.Header{
		"App-Id": {appID}, "App-Key": {appKey}, "Content-Type": {"application/json"},
		"Dev-Mode": {"true"}, "Interview-Id": {"d8b7a2f05a3c4f0e9d51"},
	}
	if model != "" {
		header.Set("Model", model)
	}
	return header
}

// goExtras is the extras object of every observation request: infermedica.go:174.
const goExtras = `"extras":{"enable_triage_3":false,"interview_mode":"%s","disable_adaptive_ranking":false,"enable_explanations":false,"enable_third_person_questions":false,"include_condition_details":%t,"disable_intimate_content":false,"enable_symptom_duration":false,"specialist_mapping":null}`

// goRequest returns the body of a diagnosis, triage, or specialist request, with the
// trailing newline that json.Encoder writes.
func goRequest(mode string, details bool) string {
	return `{"sex":"male","age":{"value":30,"unit":""},"evidence":[` +
		`{"id":"s_1193","choice_id":"present","source":"initial","duration":{}},` +
		`{"id":"s_488","choice_id":"present","duration":{}},` +
		`{"id":"s_320","choice_id":"absent","duration":{}}],` + fmt.Sprintf(goExtras, mode, details) + "}\n"
}

// checkGoResponse does what checkResponse does: http.go:15.
func checkGoResponse(t *testing.T, a clientResponse) {
	t.Helper()
	var failure struct {
		Message string `json:"message"`
	}
	if a.status != http.StatusOK {
		a.decodeInto(t, &failure)
		t.Fatalf("infermedica: %d: %s", a.status, failure.Message)
	}
}

// expectGoError returns a check that the response has the given status and that its
// message contains says.
func expectGoError(status int, says string) func(*testing.T, clientResponse) {
	return func(t *testing.T, a clientResponse) {
		t.Helper()
		a.requireStatus(t, status)
		var failure struct {
			Message string `json:"message"`
		}
		if a.decodeInto(t, &failure); !strings.Contains(failure.Message, says) {
			t.Errorf("got message %q, want %q", failure.Message, says)
		}
	}
}

// Types that the library decodes responses into. A null member keeps its zero value.
type (
	goConcept struct {
		ID         string `json:"id"`
		Type       string `json:"type"`
		Name       string `json:"name"`
		CommonName string `json:"common_name"`
	}
	goDiagnosis struct {
		Question struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			EvidenceID string `json:"evidence_id"`
			Items      []struct {
				ID      string `json:"id"`
				Name    string `json:"name"`
				Choices []struct {
					ID    string `json:"id"`
					Label string `json:"label"`
				} `json:"choices"`
			} `json:"items"`
			Extras struct{} `json:"extras"`
		} `json:"question"`
		Conditions []struct {
			ID          string  `json:"id"`
			Name        string  `json:"name"`
			CommonName  string  `json:"common_name"`
			Probability float64 `json:"probability"`
		} `json:"conditions"`
		ShouldStop           bool     `json:"should_stop"`
		Extras               struct{} `json:"extras"`
		HasEmergencyEvidence bool     `json:"has_emergency_evidence"`
	}
	goTriage struct {
		Level   string `json:"triage_level"`
		Serious []struct {
			ID          string `json:"id"`
			Name        string `json:"name"`
			CommonName  string `json:"common_name"`
			Seriousness string `json:"seriousness"`
			IsEmergency bool   `json:"is_emergency"`
		} `json:"serious"`
		Teleconsultation bool   `json:"teleconsultation_applicable"`
		RootCause        string `json:"root_cause"`
	}
	goSymptom struct {
		goConcept
		Category    string `json:"category"`
		Seriousness string `json:"seriousness"`
		Children    []struct {
			ID             string `json:"id"`
			ParentRelation string `json:"parent_relation"`
		} `json:"children"`
		ImageURL            string `json:"image_url"`
		ImageSource         string `json:"image_source"`
		ParentID            string `json:"parent_id"`
		ParentRelation      string `json:"parent_relation"`
		Question            string `json:"question"`
		QuestionThirdPerson string `json:"question_third_person"`
		SexFilter           string `json:"sex_filter"`
		Extra               any    `json:"extra"`
	}
	goCondition struct {
		goConcept
		SexFilter  string   `json:"sex_filter"`
		Categories []string `json:"categories"`
		Prevalence string   `json:"prevalence"`
		Acuteness  string   `json:"acuteness"`
		Severity   string   `json:"severity"`
		Extras     struct {
			Hint  string `json:"hint"`
			ICD10 string `json:"icd10_code"`
		} `json:"extras"`
	}
)

// expectGoResult returns a check that decodes the response into a type of the library.
func expectGoResult[T any](use func(t *testing.T, v T)) func(*testing.T, clientResponse) {
	return func(t *testing.T, a clientResponse) {
		t.Helper()
		checkGoResponse(t, a)
		var v T
		a.decodeInto(t, &v)
		use(t, v)
	}
}

func TestGoCatalog(t *testing.T) {
	t.Parallel()
	get := func(where, name, path string, read func(*testing.T, clientResponse)) clientCall {
		return clientCall{goRepository + where, name, "GET", "/v3/" + path, "", read}
	}
	runCalls(t, goHeader("infermedica-en"), []clientCall{
		get("info.go:17", "Info", "info", expectGoResult(func(t *testing.T, v struct {
			UpdatedAt time.Time `json:"updated_at"`
			Symptoms  int       `json:"symptoms_count"`
			LabTests  int       `json:"lab_tests_count"`
		}) {
			if v.UpdatedAt.IsZero() || v.Symptoms == 0 || v.LabTests == 0 {
				t.Errorf("got info %+v", v)
			}
		})),
		get("conditions.go:129", "Conditions", "conditions?age.value=30", expectGoResult(func(t *testing.T, v []goCondition) {
			words := map[string]string{
				"very_rare": "p", "rare": "p", "moderate": "p", "common": "p",
				"chronic": "a", "chronic_with_exacerbations": "a", "acute_potentially_chronic": "a", "acute": "a",
			}
			for _, c := range v {
				if c.ID == "" || c.Name == "" || len(c.Categories) == 0 || words[c.Prevalence] != "p" || words[c.Acuteness] != "a" {
					t.Errorf("got condition %+v", c)
				}
			}
		})),
		get("symptoms.go:32", "Symptoms", "symptoms?age.value=30", expectGoResult(func(t *testing.T, v []goSymptom) {
			known := map[string]goSymptom{}
			for _, s := range v {
				known[s.ID] = s
			}
			if s := known["s_1193"]; s.ParentID != "s_21" || s.ParentRelation != "severity" || s.Question == "" && s.Name == "" {
				t.Errorf("got s_1193 %+v", s)
			}
		})),
		get("concepts.go:17", "Concepts", "concepts", expectGoResult(func(t *testing.T, v []goConcept) {
			if len(v) == 0 || v[0].Type == "" {
				t.Error("got no concepts")
			}
		})),
		get("concepts.go:42", "ConceptsByID", "concepts/s_98", expectGoResult(func(t *testing.T, v goConcept) {
			if v.ID != "s_98" || v.Name != "Fever" {
				t.Errorf("got s_98 %+v", v)
			}
		})),
		get("search.go:58", "Search", "search?phrase=sore+throat&sex=male&max_results=5&types=symptom&age.value=30&age.unit=", expectGoResult(func(t *testing.T, v []struct {
			ID    string `json:"id"`
			Label string `json:"label"`
		}) {
			if len(v) == 0 || v[0].Label == "" {
				t.Errorf("got hits %+v", v)
			}
		})),
		get("search.go:32", "Search for laboratory tests", "search?phrase=urea&sex=male&max_results=5&types=lab_test&age.value=30&age.unit=", expectGoResult(func(t *testing.T, v []struct {
			ID    string `json:"id"`
			Label string `json:"label"`
		}) {
			if len(v) == 0 || !strings.HasPrefix(v[0].ID, "lt_") {
				t.Errorf("got hits %+v", v)
			}
		})),
		// These methods cannot send an age.
		get("conditions.go:168", "ConditionByID", "conditions/c_49", expectGoError(400, "age.value")),
		get("symptoms.go:72", "SymptomByID", "symptoms/s_21", expectGoError(400, "age.value")),
		get("labtests.go:24", "LabTests", "lab_tests", expectGoError(400, "age.value")),
	})
}

func TestGoInterview(t *testing.T) {
	t.Parallel()
	post := func(where, name, path, body string, read func(*testing.T, clientResponse)) clientCall {
		return clientCall{goRepository + where, name, "POST", "/v3/" + path, body, read}
	}
	diagnosis := expectGoResult(func(t *testing.T, v goDiagnosis) {
		switch v.Question.Type {
		case "single", "group_single", "group_multiple":
		default:
			t.Errorf("got question type %q", v.Question.Type)
		}
		if len(v.Question.Items) == 0 || len(v.Question.Items[0].Choices) == 0 || len(v.Conditions) == 0 {
			t.Errorf("got diagnosis %+v", v)
		}
	})
	lists := expectGoResult(func(t *testing.T, v []goConcept) {
		if len(v) == 0 || v[0].CommonName == "" {
			t.Errorf("got suggestions %+v", v)
		}
	})
	plain := `"sex":"male","age":{"value":30,"unit":"year"},"evidence":[{"id":"s_1193","choice_id":"present","source":""},{"id":"s_488","choice_id":"present","source":""},{"id":"s_418","choice_id":"present","source":""}]`
	runCalls(t, goHeader("infermedica-en"), []clientCall{
		post("diagnosis.go:108", "Diagnosis", "diagnosis", goRequest("", false), diagnosis),
		post("diagnosis.go:108", "Diagnosis with a mode and details", "diagnosis", goRequest("triage", true), diagnosis),
		post("diagnosis.go:108", "Diagnosis by default", "diagnosis", goRequest("default", false), diagnosis),
		post("triage.go:84", "Triage", "triage", goRequest("", false), expectGoResult(func(t *testing.T, v goTriage) {
			levels := []string{"emergency_ambulance", "emergency", "consultation_24", "consultation", "self_care"}
			if !slices.Contains(levels, v.Level) || v.RootCause == "" {
				t.Errorf("got triage %+v", v)
			}
		})),
		post("recommendspecialist.go:40", "RecommendSpecialist", "recommend_specialist",
			`{"sex":"male","age":{"value":30,"unit":"year"},"evidence":[{"id":"s_107","choice_id":"present","source":"initial","duration":{}}],"extras":{"specialist_mapping":{"sp_14":"sp_1"}}}`+"\n",
			expectGoResult(func(t *testing.T, v struct {
				Specialist struct{ ID, Name string } `json:"recommended_specialist"`
				Channel    string                    `json:"recommended_channel"`
			}) {
				if v.Specialist.ID != "sp_1" || v.Specialist.Name == "" || v.Channel == "" {
					t.Errorf("got recommendation %+v", v)
				}
			})),
		post("suggest.go:43", "Suggest", "suggest", "{"+plain+`,"suggest_method":"","extras":null}`+"\n", lists),
		post("suggest.go:35", "Suggest symptoms", "suggest", "{"+plain+`,"suggest_method":"symptoms","extras":null}`+"\n", lists),
		post("suggest.go:36", "Suggest risk factors", "suggest", "{"+plain+`,"suggest_method":"risk_factors","extras":null}`+"\n", lists),
		post("suggest.go:37", "Suggest risk factors of sex and age", "suggest", "{"+plain+`,"suggest_method":"demographic_risk_factors","extras":null}`+"\n", lists),
		post("suggest.go:38", "Suggest risk factors by evidence", "suggest", "{"+plain+`,"suggest_method":"evidence_based_risk_factors","extras":null}`+"\n", expectGoResult(func(*testing.T, []goConcept) {})),
		post("suggest.go:39", "Suggest red flags", "suggest", "{"+plain+`,"suggest_method":"red_flags","extras":null}`+"\n", expectGoResult(func(*testing.T, []goConcept) {})),
		post("explain.go:28", "Explain", "explain", "{"+plain+`,"target":"c_49"}`+"\n", expectGoResult(func(t *testing.T, v struct {
			Supporting  []goConcept `json:"supporting_evidence"`
			Conflicting []goConcept `json:"conflicting_evidence"`
			Unconfirmed []goConcept `json:"unconfirmed_evidence"`
		}) {
			if len(v.Supporting) == 0 {
				t.Errorf("got explanation %+v", v)
			}
		})),
		post("triage.go:84", "Triage without a patient", "triage", `{"sex":"","age":{"value":30,"unit":""},"evidence":null}`+"\n", expectGoError(400, "sex")),
	})
	// Parse sends no model: parse.go:29.
	runCalls(t, goHeader(""), []clientCall{
		post("parse.go:27", "Parse", "parse", `{"text":"I have a headache and no fever","age":{"value":30,"unit":"year"}}`+"\n", expectGoResult(func(t *testing.T, v struct {
			Mentions []struct {
				goConcept
				Orth     string `json:"orth"`
				ChoiceID string `json:"choice_id"`
			} `json:"mentions"`
			Obvious bool `json:"obvious"`
		}) {
			got := map[string]string{}
			for _, m := range v.Mentions {
				got[m.ID] = m.ChoiceID
			}
			if got["s_21"] != "present" || got["s_98"] != "absent" {
				t.Errorf("got mentions %+v", v)
			}
		})),
	})
}
