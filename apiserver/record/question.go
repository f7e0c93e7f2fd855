// SPDX-License-Identifier: Apache-2.0

package record

// An AnswerType is the type of answer to a question.
type AnswerType string

// The answer types, and the JSON form of each.
const (
	AnswerMultipleChoice AnswerType = "multiple_choice" // [{"id"}], each one of the options
	AnswerChoice         AnswerType = "choice"          // {"id"}, one of the options
	AnswerNumber         AnswerType = "number"          // a whole number within bounds
	AnswerList           AnswerType = "list"            // [{"id"}], each from a knowledge list
	AnswerText           AnswerType = "text"            // a string
	AnswerSymptoms       AnswerType = "symptoms"        // [{"id", "choice_id"}], subject to the component
)

// A Component is the structure of the answer to a symptom question.
type Component string

// The components: a single item; a group with at most one present; a group with any
// number present.
const (
	ComponentSingle        Component = "single"
	ComponentGroupSingle   Component = "group_single"
	ComponentGroupMultiple Component = "group_multiple"
)

// A Question is a survey question as it was asked.
type Question struct {
	// ID identifies the subject: a section, a part of it, or an observation. It is unique
	// within a survey.
	ID         string     `json:"id"`
	Index      int        `json:"index"` // from 0
	Section    string     `json:"section"`
	Text       string     `json:"text"`
	AnswerType AnswerType `json:"answer_type"`
	Meta       Meta       `json:"meta"`
	// Selected are the items preselected when the question is shown. The answer replaces
	// them.
	Selected []Item `json:"selected,omitempty"`
}

// Meta holds the constraints on an answer.
type Meta struct {
	// Required is false if the question can be skipped with null.
	Required bool `json:"required"`
	// Options are the items to choose from or, for Symptoms, the items asked about.
	Options []Option `json:"answers,omitempty"`
	// Choices are the possible answers to each option of Symptoms. The API repeats them
	// under each option; they are stored once.
	Choices []Option `json:"choices,omitempty"`
	// Component is set for Symptoms.
	Component Component `json:"component,omitempty"`
	// SourceList is the knowledge list that holds the items of a List.
	SourceList *SourceList `json:"source_list,omitempty"`
	// MaxLength is the maximum length of a Text, in code points.
	MaxLength int `json:"max_length,omitempty"`
	// Bounds are set for a Number.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// An Option is an item to choose: the label of a choice or the name of a symptom.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Bounds are the inclusive limits of a number.
type Bounds struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// The knowledge lists.
const (
	SymptomList         = "symptoms"
	ChronicDiseaseList  = "chronic_diseases"
	SpecialistList      = "specialists"
	HospitalizationList = "hospitalizations"
	DrugList            = "drugs"
)

// A SourceList is a knowledge list as filtered for one patient: the name is the last
// element of its path, the other fields are its parameters. If the patient's sex or
// age is unknown, the parameters are empty and the list is not filtered.
type SourceList struct {
	Name     string `json:"name"`
	Sex      string `json:"sex,omitempty"`
	Age      Age    `json:"age,omitzero"`
	Language string `json:"language"`
}
