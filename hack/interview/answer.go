// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// answerHint describes how to answer a type of question.
func answerHint(kind enginev3.QuestionType) string {
	switch kind {
	case enginev3.QuestionTypeGroupSingle:
		return "number, n for none, ? if unknown"
	case enginev3.QuestionTypeGroupMultiple:
		return "numbers, n for none, ? if unknown"
	case enginev3.QuestionTypeDuration:
		return "for example 3 days, ? if unknown"
	default:
		return "y, n, ? if unknown"
	}
}

// addAnswer adds the typed answer to the evidence. It returns false if the answer is
// invalid for the question.
func addAnswer(evidence *[]enginev3.Evidence, question *enginev3.Question, words []string) bool {
	if len(words) == 0 {
		return false
	}
	if question.Type == enginev3.QuestionTypeDuration {
		return setDuration(*evidence, question, words)
	}
	if choice, ok := choiceByInput[strings.ToLower(words[0])]; ok && len(words) == 1 {
		if choice == enginev3.ChoicePresent && question.Type != enginev3.QuestionTypeSingle {
			return false
		}
		for _, item := range question.Items {
			*evidence = append(*evidence, enginev3.Evidence{ID: item.ID, ChoiceID: choice})
		}
		return true
	}
	return question.Type != enginev3.QuestionTypeSingle && addItemAnswers(evidence, question, words)
}

var choiceByInput = map[string]enginev3.Choice{
	"y": enginev3.ChoicePresent, "yes": enginev3.ChoicePresent,
	"n": enginev3.ChoiceAbsent, "no": enginev3.ChoiceAbsent, "none": enginev3.ChoiceAbsent,
	"?": enginev3.ChoiceUnknown,
}

// addItemAnswers adds evidence for every item of a group: selected items are present,
// all others are absent.
func addItemAnswers(evidence *[]enginev3.Evidence, question *enginev3.Question, words []string) bool {
	var selected []int
	for _, word := range words {
		number, err := strconv.Atoi(strings.TrimSuffix(word, ","))
		if err != nil || number < 1 || number > len(question.Items) {
			return false
		}
		selected = append(selected, number-1)
	}
	if question.Type == enginev3.QuestionTypeGroupSingle && len(selected) > 1 {
		return false
	}
	for n, item := range question.Items {
		choice := enginev3.ChoiceAbsent
		if slices.Contains(selected, n) {
			choice = enginev3.ChoicePresent
		}
		*evidence = append(*evidence, enginev3.Evidence{ID: item.ID, ChoiceID: choice})
	}
	return true
}

// setDuration sets the duration of the evidence that the question refers to, or null if
// the patient does not know it.
func setDuration(evidence []enginev3.Evidence, question *enginev3.Question, words []string) bool {
	i := slices.IndexFunc(evidence, func(e enginev3.Evidence) bool { return question.EvidenceID != nil && e.ID == *question.EvidenceID })
	if i < 0 {
		return false
	}
	if len(words) == 1 && words[0] == "?" {
		evidence[i].Duration.SetNull()
		return true
	}
	if len(words) != 2 {
		return false
	}
	value, err := strconv.ParseFloat(words[0], 64)
	unit := enginev3.DurationUnit(strings.TrimSuffix(strings.ToLower(words[1]), "s"))
	if err != nil || value <= 0 || !slices.Contains([]enginev3.DurationUnit{"minute", "hour", "day", "week"}, unit) {
		return false
	}
	evidence[i].Duration.Set(enginev3.Duration{Value: value, Unit: unit})
	return true
}
