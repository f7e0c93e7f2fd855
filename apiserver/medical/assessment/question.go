// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Choice is a possible answer to an item of a question.
type Choice struct{ ID, Label string }

// Choices returns the possible answers to each item of a question, in display order.
// They do not apply to duration questions.
func Choices(r *model.Release) [3]Choice {
	return [3]Choice{
		{"present", r.Meta.ChoicePresent},
		{"absent", r.Meta.ChoiceAbsent},
		{"unknown", r.Meta.ChoiceUnknown},
	}
}

// ItemName returns the name of an observation in questions: the common name, not the
// professional name.
func ItemName(r *model.Release, i model.ObservationIndex) string {
	return r.Text(r.Observations[i].CommonName)
}

// A QuestionType is the API name of an inference.QuestionType.
type QuestionType string

// Question types.
const (
	Single        QuestionType = "single"
	GroupSingle   QuestionType = "group_single"
	GroupMultiple QuestionType = "group_multiple"
	Duration      QuestionType = "duration"
)

var questionTypes = [...]QuestionType{
	inference.Single:        Single,
	inference.GroupSingle:   GroupSingle,
	inference.GroupMultiple: GroupMultiple,
	inference.Duration:      Duration,
}

// QuestionTypeFor returns the API name of the question's type.
func QuestionTypeFor(question *inference.Question) QuestionType { return questionTypes[question.Type] }
