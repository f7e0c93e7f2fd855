// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// parseType parses the type of a survey.
func parseType(text string) (record.Type, error) {
	switch t := record.Type(text); t {
	case record.TypeTriage, record.TypeIntake, record.TypeFollowUp:
		return t, nil
	case "follow-up":
		return record.TypeFollowUp, nil
	}
	return "", assessment.NotSupported("type", text, "triage, intake or follow_up")
}

// defaultSections are the sections of surveys created without explicit sections. Existing
// conditions and medication precede the interview, so that the interview does not ask about
// them.
var defaultSections = map[record.Type][]string{
	record.TypeTriage: {
		section.Demographics, section.Symptoms, section.ChronicDiseases, section.Drugs, section.RiskFactors, section.Dynamic,
	},
	record.TypeIntake: {
		section.Demographics, section.VisitReason, section.Symptoms, section.ChronicDiseases, section.Drugs, section.Allergies,
		section.Hospitalizations, section.RiskFactors, section.Dynamic, section.Specialists, section.Notes,
	},
	record.TypeFollowUp: {
		section.Demographics, section.Symptoms, section.ChronicDiseases, section.Drugs, section.Dynamic, section.Notes,
	},
}

// sectionAliases maps alternative names to sections.
var sectionAliases = map[string]string{
	"hospitalization":   section.Hospitalizations,
	"specialist":        section.Specialists,
	"message_to_doctor": section.Notes,
}

// resolveSections validates the requested sections and adds their prerequisites.
func resolveSections(s *record.Survey, requested []string) ([]string, error) {
	if requested == nil {
		return withRequiredSections(s, defaultSections[s.Type]), nil
	}
	if len(requested) == 0 {
		return nil, &assessment.FieldError{Field: "sections", Problem: "expected at least one of " + strings.Join(section.Names(), ", ") + ", got none"}
	}
	names := make([]string, len(requested))
	for i, name := range requested {
		if canonical, ok := sectionAliases[name]; ok {
			name = canonical
		}
		field := fmt.Sprintf("sections[%d]", i)
		if _, ok := section.ByName(name); !ok {
			return nil, assessment.NotSupported(field, name, "one of "+strings.Join(section.Names(), ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, &assessment.FieldError{Field: field, Problem: "expected each section at most once, got " + name + " twice"}
		}
		names[i] = name
	}
	return withRequiredSections(s, names), nil
}

// withRequiredSections adds the sections that others depend on: the interview depends on
// symptoms, which depend on demographics if sex or age is unknown.
func withRequiredSections(s *record.Survey, names []string) []string {
	names = slices.Clone(names)
	if i := slices.Index(names, section.Dynamic); i >= 0 && !slices.Contains(names[:i], section.Symptoms) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == section.Symptoms })
		names = slices.Insert(names, slices.Index(names, section.Dynamic), section.Symptoms)
	}
	if s.Sex != "" && s.Age.Known() || !slices.ContainsFunc(names, needsDemographics) {
		return names
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == section.Demographics })
	return slices.Insert(names, 0, section.Demographics)
}

func needsDemographics(name string) bool {
	s, ok := section.ByName(name)
	return ok && s.NeedsDemographics()
}
