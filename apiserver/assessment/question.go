// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Choice is an answer that can be given about an item of a question.
type Choice struct{ ID, Label string }

// Choices are the answers to every item of a question that the engine asks, but to
// one for a duration, in the order to show.
func Choices(r *model.Release) [3]Choice {
	return [3]Choice{
		{"present", r.Meta.ChoicePresent},
		{"absent", r.Meta.ChoiceAbsent},
		{"unknown", r.Meta.ChoiceUnknown},
	}
}

// ItemName is what an observation is called where patients are asked for it: by
// the plain name, not the professional one.
func ItemName(r *model.Release, i model.ObservationIndex) string {
	return r.Text(r.Observations[i].CommonName)
}

// A QuestionType is the engine's, in the word of the APIs.
type QuestionType string

// The types of question.
const (
	Single        QuestionType = "single"
	GroupSingle   QuestionType = "group_single"
	GroupMultiple QuestionType = "group_multiple"
	Duration      QuestionType = "duration"
)

var questionTypes = [...]QuestionType{
	engine.Single:        Single,
	engine.GroupSingle:   GroupSingle,
	engine.GroupMultiple: GroupMultiple,
	engine.AskDuration:   Duration,
}

// TypeOf words the type of a question.
func TypeOf(question *engine.Question) QuestionType { return questionTypes[question.Type] }
