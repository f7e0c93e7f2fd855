// SPDX-License-Identifier: Apache-2.0

// Package fhir says what a completed survey came to in FHIR R4: a Bundle of what was
// asked and answered, what the conditions are that the patient may have, and whom to
// see. It has the few resources and elements that this takes, and no others. It is
// pure: where results are kept and how they travel is the business of others.
package fhir

// A Bundle is a collection of resources (https://hl7.org/fhir/R4/bundle.html).
type Bundle struct {
	ResourceType string  `json:"resourceType"` // Bundle
	Type         string  `json:"type"`         // collection
	Entry        []Entry `json:"entry"`
}

// An Entry is a resource under a name that the others refer to.
type Entry struct {
	FullURL  string `json:"fullUrl"` // urn:uuid:<id>
	Resource any    `json:"resource"`
}

// QuestionnaireResponse is what was asked and answered
// (https://hl7.org/fhir/R4/questionnaireresponse.html).
type QuestionnaireResponse struct {
	ResourceType string         `json:"resourceType"` // QuestionnaireResponse
	Status       string         `json:"status"`       // completed
	Subject      Reference      `json:"subject"`
	Language     string         `json:"language,omitempty"` // BCP 47
	Item         []ResponseItem `json:"item,omitempty"`
}

// A ResponseItem is a question with its answers; none when it was skipped.
type ResponseItem struct {
	LinkID string   `json:"linkId"`
	Text   string   `json:"text,omitempty"`
	Answer []Answer `json:"answer,omitempty"`
}

// An Answer has one value.
type Answer struct {
	ValueInteger *int    `json:"valueInteger,omitempty"`
	ValueString  *string `json:"valueString,omitempty"`
	ValueCoding  *Coding `json:"valueCoding,omitempty"`
	// Item is what was said of a symptom: whether it is there.
	Item []ResponseItem `json:"item,omitempty"`
}

// RiskAssessment is which conditions the patient may have, and how likely
// (https://hl7.org/fhir/R4/riskassessment.html).
type RiskAssessment struct {
	ResourceType string          `json:"resourceType"` // RiskAssessment
	Status       string          `json:"status"`       // final
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

// ServiceRequest is a proposal whom to see
// (https://hl7.org/fhir/R4/servicerequest.html).
type ServiceRequest struct {
	ResourceType   string            `json:"resourceType"` // ServiceRequest
	Status         string            `json:"status"`       // active
	Intent         string            `json:"intent"`       // proposal
	Priority       string            `json:"priority"`     // routine, urgent, asap or stat
	Subject        Reference         `json:"subject"`
	PerformerType  CodeableConcept   `json:"performerType"`
	LocationCode   []CodeableConcept `json:"locationCode,omitempty"`
	SupportingInfo []Reference       `json:"supportingInfo"`
}

// A Reference is to another resource of the bundle, or to a patient by identifier.
type Reference struct {
	Reference  string      `json:"reference,omitempty"`
	Type       string      `json:"type,omitempty"`
	Identifier *Identifier `json:"identifier,omitempty"`
}

// An Identifier is an id, and whose it is.
type Identifier struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value"`
}

// A CodeableConcept is what something is, in words and by codes.
type CodeableConcept struct {
	Coding []Coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// A Coding is a code of a system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code"`
	Display string `json:"display,omitempty"`
}

// An Annotation is a remark.
type Annotation struct {
	Text string `json:"text"`
}
