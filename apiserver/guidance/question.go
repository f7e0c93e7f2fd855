// SPDX-License-Identifier: Apache-2.0

package guidance

// An AnswerType says what a question takes for an answer.
type AnswerType string

// The types, and the JSON that answers them.
const (
	MultipleChoice AnswerType = "multiple_choice" // [{"id"}], each one of the options
	Choice         AnswerType = "choice"          // {"id"}, one of the options
	Number         AnswerType = "number"          // a whole number within bounds
	List           AnswerType = "list"            // [{"id"}], each of a knowledge list
	Text           AnswerType = "text"            // a string
	Symptoms       AnswerType = "symptoms"        // [{"id", "choice_id"}], by the component
)

// A Component says how an answer to a question about symptoms is put together.
type Component string

// The components: one item; at most one of several holds; each of several may.
const (
	Single        Component = "single"
	GroupSingle   Component = "group_single"
	GroupMultiple Component = "group_multiple"
)

// A Question is one of a survey as it was asked.
type Question struct {
	// ID says what is asked: the section, a part of it, or an observation. No
	// survey has the same twice.
	ID         string     `json:"id"`
	Index      int        `json:"index"` // from 0
	Section    string     `json:"section"`
	Text       string     `json:"text"`
	AnswerType AnswerType `json:"answer_type"`
	Meta       Meta       `json:"meta"`
	// Selected is what is chosen already when the question is shown. The answer
	// takes its place.
	Selected []Item `json:"selected,omitempty"`
}

// Meta says what an answer must be.
type Meta struct {
	// Required is false where null skips the question.
	Required bool `json:"required"`
	// Options are what can be chosen, or what Symptoms are asked.
	Options []Option `json:"answers,omitempty"`
	// Choices are the answers to each of the options of Symptoms. The API repeats
	// them under each; they are kept once.
	Choices []Option `json:"choices,omitempty"`
	// Component is that of Symptoms.
	Component Component `json:"component,omitempty"`
	// SourceList is where the items of a List stand.
	SourceList *SourceList `json:"source_list,omitempty"`
	// MaxLength is the most code points that a Text may have.
	MaxLength int `json:"max_length,omitempty"`
	// Bounds are those of a Number.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// An Option is something to choose: the label of a choice, the name of a symptom.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Bounds of a number, both inclusive.
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

// A SourceList is a knowledge list as it is for one patient: the name is the end of
// its path, the rest are its parameters. A patient of unknown sex or age has none
// of them, and the whole list.
type SourceList struct {
	Name     string `json:"name"`
	Sex      string `json:"sex,omitempty"`
	Age      Age    `json:"age,omitzero"`
	Language string `json:"language"`
}
