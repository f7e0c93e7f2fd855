// SPDX-License-Identifier: Apache-2.0

package fhir

import (
	"strings"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// Code systems.
const (
	// ICD10System is the code system of ICD-10, maintained by the World Health Organization
	// (https://terminology.hl7.org/ICD.html).
	ICD10System = "http://hl7.org/fhir/sid/icd-10"
	// ConceptSystem is the code system of the medical model. It contains everything with an
	// ID, such as conditions, symptoms and drugs.
	ConceptSystem = "https://anamnesis.dev/fhir/concept"
	// patientSystem is the namespace of the patient IDs assigned by the instance.
	patientSystem = "https://anamnesis.dev/fhir/patient"
)

// NewBundle returns the results of a completed survey: a QuestionnaireResponse, a
// RiskAssessment if the survey has an assessment, and a ServiceRequest if the assessment
// recommends a specialist. The bundle, including the URNs of its resources, is deterministic.
func NewBundle(summary record.Summary, assessment *record.Assessment) Bundle {
	survey := &summary.Survey
	subject := Reference{Type: "Patient", Identifier: &Identifier{System: patientSystem, Value: survey.PatientID}}
	response := "urn:uuid:" + survey.ID
	bundle := Bundle{ResourceType: "Bundle", Type: "collection", Entry: []Entry{{response, newQuestionnaireResponse(summary, subject)}}}
	if assessment == nil {
		return bundle
	}
	risk := resourceURN(survey.ID, "RiskAssessment")
	bundle.Entry = append(bundle.Entry, Entry{risk, newRiskAssessment(assessment, subject, response)})
	if assessment.Specialist != nil {
		request := newServiceRequest(assessment, subject, []Reference{{Reference: response}, {Reference: risk}})
		bundle.Entry = append(bundle.Entry, Entry{resourceURN(survey.ID, "ServiceRequest"), request})
	}
	return bundle
}

// resourceURN returns the URN of a resource of a survey. It is deterministic.
func resourceURN(surveyID, kind string) string {
	namespace, err := uuid.Parse(surveyID)
	if err != nil {
		namespace = uuid.NameSpaceOID // unreachable: survey IDs are UUIDs
	}
	return "urn:uuid:" + uuid.NewSHA1(namespace, []byte(kind)).String()
}

func newQuestionnaireResponse(summary record.Summary, subject Reference) QuestionnaireResponse {
	response := QuestionnaireResponse{
		ResourceType: "QuestionnaireResponse", Status: "completed", Subject: subject, Language: summary.Survey.Language,
	}
	for _, exchange := range summary.Questions {
		response.Item = append(response.Item, ResponseItem{LinkID: exchange.ID, Text: exchange.Text, Answer: newAnswers(exchange.Answer)})
	}
	return response
}

func newAnswers(answer record.Answer) []Answer {
	switch answer.Kind {
	case record.KindNumber:
		return []Answer{{ValueInteger: &answer.Number}}
	case record.KindText:
		text := sanitizeText(answer.Text)
		if strings.TrimSpace(text) == "" { // FHIR strings must not be empty
			return nil
		}
		return []Answer{{ValueString: &text}}
	}
	var answers []Answer
	for _, item := range answer.Items {
		answers = append(answers, newCodedAnswer(item))
	}
	return answers
}

// sanitizeText replaces control characters that FHIR strings must not contain (R4,
// datatypes, string), such as form feeds, with spaces.
func sanitizeText(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return ' '
		}
		return c
	}, text)
}

// newCodedAnswer encodes a selected item and, for a symptom, whether it is present.
func newCodedAnswer(item record.Item) Answer {
	answer := Answer{ValueCoding: &Coding{System: ConceptSystem, Code: item.ID, Display: item.Name}}
	if item.ChoiceID != "" {
		presence := Answer{ValueCoding: &Coding{System: ConceptSystem, Code: item.ChoiceID}}
		answer.Item = []ResponseItem{{LinkID: item.ID, Answer: []Answer{presence}}}
	}
	return answer
}

func newRiskAssessment(assessment *record.Assessment, subject Reference, response string) RiskAssessment {
	risk := RiskAssessment{
		ResourceType: "RiskAssessment", Status: "final", Subject: subject, Basis: []Reference{{Reference: response}},
		Method: CodeableConcept{Text: "Noisy-or network of conditions and findings (QMR-DT)"},
		Note:   []Annotation{{Text: "Triage level: " + assessment.Triage.Level}},
	}
	for _, condition := range assessment.Conditions {
		outcome := CodeableConcept{Text: condition.CommonName}
		for _, code := range condition.ICD10 {
			outcome.Coding = append(outcome.Coding, Coding{System: ICD10System, Code: code.Code})
		}
		outcome.Coding = append(outcome.Coding, Coding{System: ConceptSystem, Code: condition.ID, Display: condition.Name})
		risk.Prediction = append(risk.Prediction, Prediction{outcome, condition.Probability})
	}
	return risk
}

// priorities maps triage levels to request priorities
// (https://hl7.org/fhir/R4/valueset-request-priority.html).
var priorities = map[string]string{
	"emergency_ambulance": "stat", "emergency": "asap", "consultation_24": "urgent", "consultation": "routine", "self_care": "routine",
}

func newServiceRequest(assessment *record.Assessment, subject Reference, basis []Reference) ServiceRequest {
	specialist := assessment.Specialist
	request := ServiceRequest{
		ResourceType: "ServiceRequest", Status: "active", Intent: "proposal", Priority: priorities[assessment.Triage.Level], Subject: subject,
		PerformerType:  CodeableConcept{Coding: []Coding{{System: ConceptSystem, Code: specialist.ID, Display: specialist.Name}}, Text: specialist.Name},
		SupportingInfo: basis,
	}
	if assessment.Channel != nil {
		request.LocationCode = []CodeableConcept{{Text: *assessment.Channel}}
	}
	return request
}
