// SPDX-License-Identifier: Apache-2.0

package fhir

import (
	"strings"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// The systems of codes.
const (
	// ICD10 is that of the World Health Organization
	// (https://terminology.hl7.org/ICD.html).
	ICD10 = "http://hl7.org/fhir/sid/icd-10"
	// Ours is that of the medical model: conditions, symptoms, drugs and whatever else
	// has an id.
	Ours = "https://anamnesis.dev/fhir/concept"
	// patients are told apart by the ids that the instance gave them.
	patients = "https://anamnesis.dev/fhir/patient"
)

// Of is what a completed survey came to: a QuestionnaireResponse and, where it was
// assessed, a RiskAssessment, and a ServiceRequest where somebody is to be seen. The
// same survey is the same bundle, names of its resources included.
func Of(summary guidance.Summary, assessment *guidance.Assessment) Bundle {
	survey := &summary.Survey
	subject := Reference{Type: "Patient", Identifier: &Identifier{System: patients, Value: survey.PatientID}}
	response := "urn:uuid:" + survey.ID
	bundle := Bundle{ResourceType: "Bundle", Type: "collection", Entry: []Entry{{response, responseOf(summary, subject)}}}
	if assessment == nil {
		return bundle
	}
	risk := nameOf(survey.ID, "RiskAssessment")
	bundle.Entry = append(bundle.Entry, Entry{risk, riskOf(assessment, subject, response)})
	if assessment.Specialist != nil {
		request := requestOf(assessment, subject, []Reference{{Reference: response}, {Reference: risk}})
		bundle.Entry = append(bundle.Entry, Entry{nameOf(survey.ID, "ServiceRequest"), request})
	}
	return bundle
}

// nameOf names a resource of a survey, always the same.
func nameOf(surveyID, kind string) string {
	space, err := uuid.Parse(surveyID)
	if err != nil {
		space = uuid.NameSpaceOID // no survey has such an id
	}
	return "urn:uuid:" + uuid.NewSHA1(space, []byte(kind)).String()
}

func responseOf(summary guidance.Summary, subject Reference) QuestionnaireResponse {
	response := QuestionnaireResponse{
		ResourceType: "QuestionnaireResponse", Status: "completed", Subject: subject, Language: summary.Survey.Language,
	}
	for _, exchange := range summary.Questions {
		response.Item = append(response.Item, ResponseItem{LinkID: exchange.ID, Text: exchange.Text, Answer: answersOf(exchange.Answer)})
	}
	return response
}

func answersOf(answer guidance.Answer) []Answer {
	switch answer.Form {
	case guidance.OneNumber:
		return []Answer{{ValueInteger: &answer.Number}}
	case guidance.SomeText:
		text := written(answer.Text)
		if strings.TrimSpace(text) == "" { // no string of FHIR is empty
			return nil
		}
		return []Answer{{ValueString: &text}}
	}
	var answers []Answer
	for _, item := range answer.Items {
		answers = append(answers, answerOf(item))
	}
	return answers
}

// written is what somebody wrote without the control characters that no string of FHIR
// has (R4, datatypes, string), such as a form feed.
func written(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return ' '
		}
		return c
	}, text)
}

// answerOf is something that was chosen, and of a symptom whether it is there.
func answerOf(item guidance.Item) Answer {
	answer := Answer{ValueCoding: &Coding{System: Ours, Code: item.ID, Display: item.Name}}
	if item.ChoiceID != "" {
		said := Answer{ValueCoding: &Coding{System: Ours, Code: item.ChoiceID}}
		answer.Item = []ResponseItem{{LinkID: item.ID, Answer: []Answer{said}}}
	}
	return answer
}

func riskOf(assessment *guidance.Assessment, subject Reference, response string) RiskAssessment {
	risk := RiskAssessment{
		ResourceType: "RiskAssessment", Status: "final", Subject: subject, Basis: []Reference{{Reference: response}},
		Method: CodeableConcept{Text: "Noisy-or network of conditions and findings (QMR-DT)"},
		Note:   []Annotation{{Text: "Triage level: " + assessment.Triage.Level}},
	}
	for _, condition := range assessment.Conditions {
		outcome := CodeableConcept{Text: condition.CommonName}
		for _, code := range condition.ICD10 {
			outcome.Coding = append(outcome.Coding, Coding{System: ICD10, Code: code.Code})
		}
		outcome.Coding = append(outcome.Coding, Coding{System: Ours, Code: condition.ID, Display: condition.Name})
		risk.Prediction = append(risk.Prediction, Prediction{outcome, condition.Probability})
	}
	return risk
}

// priorities are how soon somebody is to be seen, by triage level
// (https://hl7.org/fhir/R4/valueset-request-priority.html).
var priorities = map[string]string{
	"emergency_ambulance": "stat", "emergency": "asap", "consultation_24": "urgent", "consultation": "routine", "self_care": "routine",
}

func requestOf(assessment *guidance.Assessment, subject Reference, basis []Reference) ServiceRequest {
	specialist := assessment.Specialist
	request := ServiceRequest{
		ResourceType: "ServiceRequest", Status: "active", Intent: "proposal", Priority: priorities[assessment.Triage.Level], Subject: subject,
		PerformerType:  CodeableConcept{Coding: []Coding{{System: Ours, Code: specialist.ID, Display: specialist.Name}}, Text: specialist.Name},
		SupportingInfo: basis,
	}
	if assessment.Channel != nil {
		request.LocationCode = []CodeableConcept{{Text: *assessment.Channel}}
	}
	return request
}
