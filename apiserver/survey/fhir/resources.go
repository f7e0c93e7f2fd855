// SPDX-License-Identifier: Apache-2.0

// Package fhir exports the results of a completed survey as FHIR R4: a Bundle with the
// questions and answers, the possible conditions and the recommended specialist. It defines
// only the resources and elements that this bundle requires. The package has no side effects:
// storage and transport do not belong here.
package fhir

// A Bundle is a collection of resources (https://hl7.org/fhir/R4/bundle.html).
type Bundle struct {
	ResourceType string  `json:"resourceType"` // always Bundle
	Type         string  `json:"type"`         // always collection
	Entry        []Entry `json:"entry"`
}

// An Entry is a resource and its URL, which other resources use to refer to it.
type Entry struct {
	FullURL  string `json:"fullUrl"` // urn:uuid:<id>
	Resource any    `json:"resource"`
}

// QuestionnaireResponse holds the questions and answers of a survey
// (https://hl7.org/fhir/R4/questionnaireresponse.html).
type QuestionnaireResponse struct {
	ResourceType string         `json:"resourceType"` // always QuestionnaireResponse
	Status       string         `json:"status"`       // always completed
	Subject      Reference      `json:"subject"`
	Language     string         `json:"language,omitempty"` // BCP 47 tag
	Item         []ResponseItem `json:"item,omitempty"`
}

// A ResponseItem is a question with its answers. A skipped question has no answers.
type ResponseItem struct {
	LinkID string   `json:"linkId"`
	Text   string   `json:"text,omitempty"`
	Answer []Answer `json:"answer,omitempty"`
}

// An Answer holds exactly one value.
type Answer struct {
	ValueInteger *int    `json:"valueInteger,omitempty"`
	ValueString  *string `json:"valueString,omitempty"`
	ValueCoding  *Coding `json:"valueCoding,omitempty"`
	// Item holds the answer for a symptom, which is whether the symptom is present.
	Item []ResponseItem `json:"item,omitempty"`
}

// RiskAssessment holds the possible conditions and their probabilities
// (https://hl7.org/fhir/R4/riskassessment.html).
type RiskAssessment struct {
	ResourceType string          `json:"resourceType"` // always RiskAssessment
	Status       string          `json:"status"`       // always final
	Method       CodeableConcept `json:"method"`
	Subject      Reference       `json:"subject"`
	Basis        []Reference     `json:"basis"`
	Prediction   []Prediction    `json:"prediction,omitempty"`
	Note         []Annotation    `json:"note,omitempty"`
}

// A Prediction is a condition and its probability, from 0 to 1.
type Prediction struct {
	Outcome            CodeableConcept `json:"outcome"`
	ProbabilityDecimal float64         `json:"probabilityDecimal"`
}

// ServiceRequest proposes a specialist to consult
// (https://hl7.org/fhir/R4/servicerequest.html).
type ServiceRequest struct {
	ResourceType   string            `json:"resourceType"` // always ServiceRequest
	Status         string            `json:"status"`       // always active
	Intent         string            `json:"intent"`       // always proposal
	Priority       string            `json:"priority"`     // routine, urgent, asap or stat
	Subject        Reference         `json:"subject"`
	PerformerType  CodeableConcept   `json:"performerType"`
	LocationCode   []CodeableConcept `json:"locationCode,omitempty"`
	SupportingInfo []Reference       `json:"supportingInfo"`
}

// A Reference refers to another resource of the bundle, or to a patient by identifier.
type Reference struct {
	Reference  string      `json:"reference,omitempty"`
	Type       string      `json:"type,omitempty"`
	Identifier *Identifier `json:"identifier,omitempty"`
}

// An Identifier is an ID in the namespace of a system.
type Identifier struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value"`
}

// A CodeableConcept describes a concept by text and codes.
type CodeableConcept struct {
	Coding []Coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// A Coding is a code of a code system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code"`
	Display string `json:"display,omitempty"`
}

// An Annotation is a text note.
type Annotation struct {
	Text string `json:"text"`
}
