// SPDX-License-Identifier: Apache-2.0

package guidance

// A Result is what a survey came to when it was completed, computed once.
type Result struct {
	// ModelID and ModelVersion are those of the release that it was computed with.
	ModelID      string `json:"model"`
	ModelVersion string `json:"model_version"`
	// Assessment is nil for a survey that asks for no symptoms.
	Assessment *Assessment `json:"evidence_assessment,omitempty"`
}

// An Assessment is what the evidence of a survey says.
type Assessment struct {
	Conditions []RankedCondition `json:"conditions"`
	Triage     TriageResult      `json:"triage"`
	Specialist *Item             `json:"recommended_specialist"` // nil in an emergency
	Channel    *string           `json:"recommended_channel"`    // nil in an emergency
	Overview   Overview          `json:"overview"`
}

// A RankedCondition is one that the patient may have.
type RankedCondition struct {
	Naming
	Probability float64       `json:"probability"` // four decimals
	ICD10       []Code        `json:"icd10"`       // the one that fits best first
	Details     *Details      `json:"condition_details,omitempty"`
	Explain     *Explanations `json:"explain,omitempty"`
}

// A Naming is what something of the model is called, by professionals and by
// patients.
type Naming struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	CommonName string `json:"common_name"`
}

// A Code is one of ICD-10.
type Code struct {
	Code string `json:"code"`
}

// Details are what a condition has to show beside its names, as
// assessment.Details has it.
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

// Explanations say what of the evidence has to do with a condition.
type Explanations struct {
	Supporting  []Naming `json:"supporting_evidence"`
	Conflicting []Naming `json:"conflicting_evidence"`
	Unconfirmed []Naming `json:"unconfirmed_evidence"`
}

// A TriageResult says how urgent the case is, and why.
type TriageResult struct {
	Level     string    `json:"level"`
	RootCause string    `json:"root_cause"`
	Serious   []Serious `json:"serious"`
}

// Serious is an observation that is serious, and how much so.
type Serious struct {
	Naming
	Seriousness string `json:"seriousness"`
	IsEmergency bool   `json:"is_emergency"`
}

// An Overview is the page that a clinician reads: what was said, sorted. What the
// release knows no more is listed by the name that it was asked by.
type Overview struct {
	Reported    []Naming `json:"reported"` // symptoms
	Denied      []Naming `json:"denied"`   // symptoms and risk factors
	Unknown     []Naming `json:"unknown"`  // symptoms and risk factors
	RiskFactors []Naming `json:"risk_factors"`
	// What was chosen in the sections of these names.
	ChronicDiseases  []Item `json:"chronic_diseases"`
	Drugs            []Item `json:"drugs"`
	Allergies        []Item `json:"allergies"`
	Hospitalizations []Item `json:"hospitalizations"`
	Specialists      []Item `json:"specialists"`
	// Words are the patient's own, in the order in which they were asked for.
	Words []Quote `json:"words"`
}

// A Quote is what somebody wrote, and to which question.
type Quote struct {
	Question string `json:"question"`
	Text     string `json:"text"`
}

// Shown is the assessment with or without what is given on demand.
func (a Assessment) Shown(details, explanations bool) Assessment {
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

// A Summary is a survey with all that was asked and answered, in order.
type Summary struct {
	Survey    Survey     `json:"survey"`
	Questions []Exchange `json:"questions"`
}

// An Exchange is a question with its answer, with the names of what was chosen.
type Exchange struct {
	ID         string     `json:"id"`
	Index      int        `json:"index"`
	Section    string     `json:"section"`
	Text       string     `json:"text"`
	AnswerType AnswerType `json:"answer_type"`
	Answer     Answer     `json:"answer"`
}

// Summarize sums a survey up.
func Summarize(survey Survey, steps []Step) Summary {
	summary := Summary{Survey: survey, Questions: []Exchange{}}
	for _, step := range Answered(steps) {
		q := &step.Question
		summary.Questions = append(summary.Questions, Exchange{
			ID: q.ID, Index: q.Index, Section: q.Section, Text: q.Text, AnswerType: q.AnswerType, Answer: step.Named(),
		})
	}
	return summary
}
