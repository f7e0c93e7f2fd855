// SPDX-License-Identifier: Apache-2.0

package fhir_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/fhir"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

const surveyID = "b8d3d7dd-ee0c-4a36-89ff-1c412fb46442"

// schema is that of FHIR R4, as far as a bundle of ours needs it
// (testdata/reduce.py).
func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/r4.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("r4.json", document); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("r4.json")
}

// validate writes a bundle down, wants it to be FHIR, and returns it.
func validate(t interface {
	Helper()
	Fatalf(format string, arguments ...any)
}, against *jsonschema.Schema, bundle fhir.Bundle,
) string {
	t.Helper()
	text, err := json.Marshal(bundle)
	if err != nil {
		t.Fatalf("%v", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := against.Validate(value); err != nil {
		t.Fatalf("%s is no FHIR: %v", text, err)
	}
	return string(text)
}

func aSummary() guidance.Summary {
	return guidance.Summary{
		Survey: guidance.Survey{ID: surveyID, PatientID: "6855dd0f-08cc-4ef1-ab55-ccf1cbbd5daf", Language: "en-US", Status: guidance.Completed},
		Questions: []guidance.Exchange{
			{ID: "age", Text: "How old are you?", Answer: guidance.Answer{Form: guidance.OneNumber, Number: 34}},
			{ID: "symptoms", Index: 1, Text: "What symptoms do you have?", Answer: guidance.Answer{Form: guidance.SomeItems, Items: []guidance.Item{{ID: "s_21", Name: "Headache", ChoiceID: "present"}}}},
			{ID: "drugs", Index: 2, Text: "Which medicines?", Answer: guidance.Answer{Form: guidance.SomeItems, Items: []guidance.Item{}}},
			{ID: "sex", Index: 3, Text: "Which sex?", Answer: guidance.Answer{Form: guidance.OneItem, Items: []guidance.Item{{ID: "female", Name: "Female"}}}},
			{ID: "notes", Index: 4, Text: "Anything else?", Answer: guidance.Answer{Form: guidance.SomeText, Text: "since Monday"}},
			{ID: "more", Index: 5, Text: "And?", Answer: guidance.Answer{Form: guidance.Skipped}},
			{ID: "blank", Index: 6, Text: "And?", Answer: guidance.Answer{Form: guidance.SomeText, Text: "  "}},
		},
	}
}

func anAssessment() *guidance.Assessment {
	channel := "video_teleconsultation"
	return &guidance.Assessment{
		Conditions: []guidance.RankedCondition{{
			Naming: guidance.Naming{ID: "c_49", Name: "Migraine", CommonName: "Migraine"}, Probability: 0.1309, ICD10: []guidance.Code{{Code: "G43.9"}, {Code: "G43.0"}},
		}},
		Triage:     guidance.TriageResult{Level: "consultation_24"},
		Specialist: &guidance.Item{ID: "sp_1", Name: "Family doctor"}, Channel: &channel,
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	text := validate(t, schema(t), fhir.Of(aSummary(), anAssessment()))
	for _, part := range []string{
		`{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:uuid:` + surveyID + `","resource":{"resourceType":"QuestionnaireResponse","status":"completed"`,
		`"subject":{"type":"Patient","identifier":{"system":"https://anamnesis.dev/fhir/patient","value":"6855dd0f-08cc-4ef1-ab55-ccf1cbbd5daf"}},"language":"en-US"`,
		`{"linkId":"age","text":"How old are you?","answer":[{"valueInteger":34}]}`,
		`{"linkId":"symptoms","text":"What symptoms do you have?","answer":[{"valueCoding":{"system":"https://anamnesis.dev/fhir/concept","code":"s_21","display":"Headache"},` +
			`"item":[{"linkId":"s_21","answer":[{"valueCoding":{"system":"https://anamnesis.dev/fhir/concept","code":"present"}}]}]}]}`,
		`{"linkId":"drugs","text":"Which medicines?"}`, `{"linkId":"more","text":"And?"}`, `{"linkId":"blank","text":"And?"}`, `[{"valueString":"since Monday"}]`,
		`"basis":[{"reference":"urn:uuid:` + surveyID + `"}],"prediction":[{"outcome":{"coding":[{"system":"http://hl7.org/fhir/sid/icd-10","code":"G43.9"},{"system":"http://hl7.org/fhir/sid/icd-10","code":"G43.0"},` +
			`{"system":"https://anamnesis.dev/fhir/concept","code":"c_49","display":"Migraine"}],"text":"Migraine"},"probabilityDecimal":0.1309}]`,
		`"status":"active","intent":"proposal","priority":"urgent"`, `"text":"Family doctor"`, `"locationCode":[{"text":"video_teleconsultation"}]`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the bundle lacks %s:\n%s", part, text)
		}
	}
	if diff := cmp.Diff(text, validate(t, schema(t), fhir.Of(aSummary(), anAssessment()))); diff != "" {
		t.Errorf("another time it is another one:\n%s", diff)
	}
}

// What was not come to is left out: an assessment, and in an emergency a specialist.
func TestBundleOfLess(t *testing.T) {
	t.Parallel()
	against := schema(t)
	if bundle := fhir.Of(aSummary(), nil); len(bundle.Entry) != 1 {
		t.Errorf("without an assessment there are %d resources", len(bundle.Entry))
	}
	emergency := anAssessment()
	emergency.Triage.Level, emergency.Specialist, emergency.Channel = "emergency", nil, nil
	bundle := fhir.Of(aSummary(), emergency)
	if text := validate(t, against, bundle); len(bundle.Entry) != 2 || !strings.Contains(text, "Triage level: emergency") {
		t.Errorf("of an emergency there is %s", text)
	}
	validate(t, against, fhir.Of(guidance.Summary{Survey: guidance.Survey{ID: surveyID, PatientID: "x"}}, &guidance.Assessment{}))
}

// Whatever patients write and content names, the bundle is FHIR.
func TestAnyBundle(t *testing.T) {
	t.Parallel()
	against := schema(t)
	rapid.Check(t, func(t *rapid.T) {
		summary, assessment := aSummary(), anAssessment()
		summary.Survey.ID = uuid.New().String()
		text := rapid.StringMatching(`[\PC\n\t\f\v]{1,40}`)
		name := rapid.StringMatching(`\S([\PC]{0,20}\S)?`) // of content, which has no control characters inside
		level := rapid.SampledFrom([]string{"emergency_ambulance", "emergency", "consultation_24", "consultation", "self_care"})
		summary.Questions[4].Answer.Text = text.Draw(t, "text")
		summary.Questions[1].Answer.Items[0].Name = name.Draw(t, "name")
		assessment.Conditions[0].CommonName = name.Draw(t, "condition")
		assessment.Triage.Level = level.Draw(t, "level")
		assessment.Conditions[0].Probability = rapid.Float64Range(0, 1).Draw(t, "probability")
		validate(t, against, fhir.Of(summary, assessment))
	})
}
