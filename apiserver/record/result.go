// SPDX-License-Identifier: Apache-2.0

package record

// A Result is the outcome of a completed survey. It is computed once, at completion.
type Result struct {
	// ModelID and ModelVersion identify the release that computed the result.
	ModelID      string `json:"model"`
	ModelVersion string `json:"model_version"`
	// Assessment is nil if the survey asks for no symptoms.
	Assessment *Assessment `json:"evidence_assessment,omitempty"`
}

// An Assessment is the result of inference on the evidence of a survey.
type Assessment struct {
	Conditions []RankedCondition `json:"conditions"`
	Triage     TriageResult      `json:"triage"`
	Specialist *Item             `json:"recommended_specialist"` // nil in an emergency
	Channel    *string           `json:"recommended_channel"`    // nil in an emergency
	Overview   Overview          `json:"overview"`
}

// A RankedCondition is a possible condition of the patient.
type RankedCondition struct {
	Concept
	Probability float64      `json:"probability"` // rounded to four decimals
	ICD10       []ICD10Code  `json:"icd10"`       // best match first
	Details     *Details     `json:"condition_details,omitempty"`
	Explain     *Explanation `json:"explain,omitempty"`
}

// A Concept is a concept of the model, with its professional name and its
// patient-friendly name.
type Concept struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	CommonName string `json:"common_name"`
}

// An ICD10Code is an ICD-10 code.
type ICD10Code struct {
	Code string `json:"code"`
}

// Details are the additional facts about a condition, as in assessment.Details.
type Details struct {
	ICD10Code           *string `json:"icd10_code"`
	Category            *Item   `json:"category"`
	Prevalence          string  `json:"prevalence"`
	Severity            string  `json:"severity"`
	Acuteness           string  `json:"acuteness"`
	TriageLevel         string  `json:"triage_level"`
	Hint                *string `json:"hint"`
	HasPatientEducation bool    `json:"has_patient_education"`
}

// Explanation lists the evidence for and against a condition.
type Explanation struct {
	Supporting  []Concept `json:"supporting_evidence"`
	Conflicting []Concept `json:"conflicting_evidence"`
	Unconfirmed []Concept `json:"unconfirmed_evidence"`
}

// A TriageResult is the urgency of a case and its reasons.
type TriageResult struct {
	Level     string               `json:"level"`
	RootCause string               `json:"root_cause"`
	Serious   []SeriousObservation `json:"serious"`
}

// SeriousObservation is a serious observation, with its level of seriousness.
type SeriousObservation struct {
	Concept
	Seriousness string `json:"seriousness"`
	IsEmergency bool   `json:"is_emergency"`
}

// An Overview is the page for clinicians: the reported evidence, sorted. Observations
// that the release no longer has are listed by the name they were asked with.
type Overview struct {
	Reported    []Concept `json:"reported"` // symptoms
	Denied      []Concept `json:"denied"`   // symptoms and risk factors
	Unknown     []Concept `json:"unknown"`  // symptoms and risk factors
	RiskFactors []Concept `json:"risk_factors"`
	// The items selected in the sections of these names.
	ChronicDiseases  []Item `json:"chronic_diseases"`
	Drugs            []Item `json:"drugs"`
	Allergies        []Item `json:"allergies"`
	Hospitalizations []Item `json:"hospitalizations"`
	Specialists      []Item `json:"specialists"`
	// Words are the patient's free-text answers, in the order in which they were asked.
	Words []Quote `json:"words"`
}

// A Quote is a free-text answer with its question.
type Quote struct {
	Question string `json:"question"`
	Text     string `json:"text"`
}

// Filtered returns the assessment with or without its on-demand parts, details and
// explanations.
func (a Assessment) Filtered(details, explanations bool) Assessment {
	conditions := make([]RankedCondition, len(a.Conditions))
	for i, condition := range a.Conditions {
		if !details {
			condition.Details = nil
		}
		if !explanations {
			condition.Explain = nil
		}
		conditions[i] = condition
	}
	a.Conditions = conditions
	return a
}

// A Summary is a survey with all its questions and answers, in order.
type Summary struct {
	Survey    Survey             `json:"survey"`
	Questions []AnsweredQuestion `json:"questions"`
}

// An AnsweredQuestion is a question with its answer, including the names of the
// selected items.
type AnsweredQuestion struct {
	ID         string     `json:"id"`
	Index      int        `json:"index"`
	Section    string     `json:"section"`
	Text       string     `json:"text"`
	AnswerType AnswerType `json:"answer_type"`
	Answer     Answer     `json:"answer"`
}

// Summarize returns the summary of a survey.
func Summarize(survey Survey, steps []Step) Summary {
	summary := Summary{Survey: survey, Questions: []AnsweredQuestion{}}
	for _, step := range AnsweredSteps(steps) {
		q := &step.Question
		summary.Questions = append(summary.Questions, AnsweredQuestion{
			ID: q.ID, Index: q.Index, Section: q.Section, Text: q.Text, AnswerType: q.AnswerType, Answer: step.NamedAnswer(),
		})
	}
	return summary
}
