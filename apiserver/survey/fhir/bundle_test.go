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

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/fhir"
)

const surveyID = "b8d3d7dd-ee0c-4a36-89ff-1c412fb46442"

// loadSchema loads the FHIR R4 schema, reduced to the parts that the bundles use
// (testdata/reduce.py).
func loadSchema(t testing.TB) *jsonschema.Schema {
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

// mustValidate encodes a bundle, validates it against the FHIR schema, and returns the
// JSON.
func mustValidate(t interface {
	Helper()
	Fatalf(format string, arguments ...any)
}, schema *jsonschema.Schema, bundle fhir.Bundle,
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
	if err := schema.Validate(value); err != nil {
		t.Fatalf("invalid FHIR bundle %s: %v", text, err)
	}
	return string(text)
}

func newSummary() record.Summary {
	return record.Summary{
		Survey: record.Survey{ID: surveyID, PatientID: "6855dd0f-08cc-4ef1-ab55-ccf1cbbd5daf", Language: "en-US", Status: record.StatusCompleted},
		Questions: []record.AnsweredQuestion{
			{ID: "age", Text: "How old are you?", Answer: record.Answer{Kind: record.KindNumber, Number: 34}},
			{ID: "symptoms", Index: 1, Text: "What symptoms do you have?", Answer: record.Answer{Kind: record.KindItems, Items: []record.Item{{ID: "s_21", Name: "Headache", ChoiceID: "present"}}}},
			{ID: "drugs", Index: 2, Text: "Which medicines?", Answer: record.Answer{Kind: record.KindItems, Items: []record.Item{}}},
			{ID: "sex", Index: 3, Text: "Which sex?", Answer: record.Answer{Kind: record.KindItem, Items: []record.Item{{ID: "female", Name: "Female"}}}},
			{ID: "notes", Index: 4, Text: "Anything else?", Answer: record.Answer{Kind: record.KindText, Text: "since Monday"}},
			{ID: "more", Index: 5, Text: "And?", Answer: record.Answer{Kind: record.KindSkipped}},
			{ID: "blank", Index: 6, Text: "And?", Answer: record.Answer{Kind: record.KindText, Text: "  "}},
		},
	}
}

func newAssessment() *record.Assessment {
	channel := "video_teleconsultation"
	return &record.Assessment{
		Conditions: []record.RankedCondition{{
			Concept: record.Concept{ID: "c_49", Name: "Migraine", CommonName: "Migraine"}, Probability: 0.1309, ICD10: []record.ICD10Code{{Code: "G43.9"}, {Code: "G43.0"}},
		}},
		Triage:     record.TriageResult{Level: "consultation_24"},
		Specialist: &record.Item{ID: "sp_1", Name: "Family doctor"}, Channel: &channel,
	}
}

func TestNewBundle(t *testing.T) {
	t.Parallel()
	text := mustValidate(t, loadSchema(t), fhir.NewBundle(newSummary(), newAssessment()))
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
			t.Errorf("bundle does not contain %s:\n%s", part, text)
		}
	}
	if diff := cmp.Diff(text, mustValidate(t, loadSchema(t), fhir.NewBundle(newSummary(), newAssessment()))); diff != "" {
		t.Errorf("bundle is not deterministic:\n%s", diff)
	}
}

// TestNewBundleOmitsMissingParts checks that the bundle omits a missing assessment and, in an
// emergency, the specialist.
func TestNewBundleOmitsMissingParts(t *testing.T) {
	t.Parallel()
	schema := loadSchema(t)
	if bundle := fhir.NewBundle(newSummary(), nil); len(bundle.Entry) != 1 {
		t.Errorf("got %d resources without an assessment", len(bundle.Entry))
	}
	emergency := newAssessment()
	emergency.Triage.Level, emergency.Specialist, emergency.Channel = "emergency", nil, nil
	bundle := fhir.NewBundle(newSummary(), emergency)
	if text := mustValidate(t, schema, bundle); len(bundle.Entry) != 2 || !strings.Contains(text, "Triage level: emergency") {
		t.Errorf("unexpected bundle for an emergency: %s", text)
	}
	mustValidate(t, schema, fhir.NewBundle(record.Summary{Survey: record.Survey{ID: surveyID, PatientID: "x"}}, &record.Assessment{}))
}

// TestNewBundleIsValidFHIR checks that bundles are valid for any text by a patient and any
// name in the content.
func TestNewBundleIsValidFHIR(t *testing.T) {
	t.Parallel()
	schema := loadSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		summary, assessment := newSummary(), newAssessment()
		summary.Survey.ID = uuid.New().String()
		text := rapid.StringMatching(`[\PC\n\t\f\v]{1,40}`)
		name := rapid.StringMatching(`\S([\PC]{0,20}\S)?`) // content contains no inner control characters
		level := rapid.SampledFrom([]string{"emergency_ambulance", "emergency", "consultation_24", "consultation", "self_care"})
		summary.Questions[4].Answer.Text = text.Draw(t, "text")
		summary.Questions[1].Answer.Items[0].Name = name.Draw(t, "name")
		assessment.Conditions[0].CommonName = name.Draw(t, "condition")
		assessment.Triage.Level = level.Draw(t, "level")
		assessment.Conditions[0].Probability = rapid.Float64Range(0, 1).Draw(t, "probability")
		mustValidate(t, schema, fhir.NewBundle(summary, assessment))
	})
}
