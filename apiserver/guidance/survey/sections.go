// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// readType reads what a survey is for.
func readType(word string) (guidance.Type, error) {
	switch t := guidance.Type(word); t {
	case guidance.Triage, guidance.Intake, guidance.FollowUp:
		return t, nil
	case "follow-up":
		return guidance.FollowUp, nil
	}
	return "", assessment.WrongWord("type", word, "triage, intake or follow_up")
}

// byDefault are the sections of a survey whose creator wants no others. What the
// patient has and takes comes before the interview, which then does not ask for it.
var byDefault = map[guidance.Type][]string{
	guidance.Triage: {
		section.Demographics, section.Symptoms, section.ChronicDiseases, section.Drugs, section.RiskFactors, section.Dynamic,
	},
	guidance.Intake: {
		section.Demographics, section.VisitReason, section.Symptoms, section.ChronicDiseases, section.Drugs, section.Allergies,
		section.Hospitalizations, section.RiskFactors, section.Dynamic, section.Specialists, section.Notes,
	},
	guidance.FollowUp: {
		section.Demographics, section.Symptoms, section.ChronicDiseases, section.Drugs, section.Dynamic, section.Notes,
	},
}

// synonyms are other names that sections go by.
var synonyms = map[string]string{
	"hospitalization":   section.Hospitalizations,
	"specialist":        section.Specialists,
	"message_to_doctor": section.Notes,
}

// readSections reads the sections that are wanted, and completes them to those in
// force.
func readSections(s *guidance.Survey, wanted []string) ([]string, error) {
	if wanted == nil {
		return inForce(s, byDefault[s.Type]), nil
	}
	if len(wanted) == 0 {
		return nil, &assessment.FieldError{Field: "sections", Problem: "expected some of " + strings.Join(section.Names(), ", ") + ", got none"}
	}
	names := make([]string, len(wanted))
	for i, name := range wanted {
		if other, ok := synonyms[name]; ok {
			name = other
		}
		field := fmt.Sprintf("sections[%d]", i)
		if _, ok := section.ByName(name); !ok {
			return nil, assessment.WrongWord(field, name, "one of "+strings.Join(section.Names(), ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, &assessment.FieldError{Field: field, Problem: "expected each section once, got " + name + " again"}
		}
		names[i] = name
	}
	return inForce(s, names), nil
}

// inForce adds the sections without which others cannot ask: the interview begins
// with symptoms, and symptoms are asked of somebody whose sex and age are known.
func inForce(s *guidance.Survey, names []string) []string {
	names = slices.Clone(names)
	if i := slices.Index(names, section.Dynamic); i >= 0 && !slices.Contains(names[:i], section.Symptoms) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == section.Symptoms })
		names = slices.Insert(names, slices.Index(names, section.Dynamic), section.Symptoms)
	}
	if s.Sex != "" && s.Age.Known() || !slices.ContainsFunc(names, needsPerson) {
		return names
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == section.Demographics })
	return slices.Insert(names, 0, section.Demographics)
}

func needsPerson(name string) bool {
	s, ok := section.ByName(name)
	return ok && s.Needs()
}
