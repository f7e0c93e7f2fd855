// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// An interview is a request of the interview in the engine's terms.
type interview struct {
	patient engine.Patient
	options engine.Options
}

// readInterview resolves a body against a release. Its errors are the
// client's.
func readInterview(r *model.Release, body *enginev3.Interview) (interview, error) {
	sex, err := model.ParseSex(string(body.Sex))
	if err != nil {
		return interview{}, badRequest("sex: %s", wrongWord(string(body.Sex), "female or male"))
	}
	months, err := ageInMonths("age", body.Age.Value, body.Age.Unit)
	if err != nil {
		return interview{}, err
	}
	evidence, err := readEvidence(body.Evidence)
	if err != nil {
		return interview{}, err
	}
	options, err := readOptions(body.Extras)
	if err != nil {
		return interview{}, err
	}
	patient, err := engine.NewPatient(r, sex, months, evidence)
	return interview{patient, options}, err
}

func wrongWord(got, expected string) string {
	if got == "" {
		return "missing, expected " + expected
	}
	return "expected " + expected + ", got " + quote(got)
}

// ageInMonths reads an age. The name is that of the age, for errors.
func ageInMonths(name string, value *float64, unit *enginev3.AgeUnit) (int, error) {
	months, lowest, highest, unitName := 12, 1.0, 130.0, "year"
	if unit != nil && *unit != "" && *unit != enginev3.AgeUnitYear {
		if *unit != enginev3.AgeUnitMonth {
			return 0, badRequest("%s.unit: %s", name, wrongWord(string(*unit), "year or month"))
		}
		months, lowest, highest, unitName = 1, 0, 1560, "month"
	}
	expected := "a whole number from %v to %v with the unit %s"
	switch {
	case value == nil:
		return 0, badRequest("%s.value: missing, expected "+expected, name, lowest, highest, unitName)
	case *value != math.Trunc(*value) || *value < lowest || *value > highest:
		return 0, badRequest("%s.value: expected "+expected+", got %v", name, lowest, highest, unitName, *value)
	}
	return int(*value) * months, nil
}

func readEvidence(list *[]enginev3.Evidence) ([]engine.ReportedEvidence, error) {
	if list == nil {
		return nil, nil
	}
	reported := make([]engine.ReportedEvidence, len(*list))
	for i := range *list {
		item := &(*list)[i]
		if item.ID == "" {
			return nil, badRequest("evidence[%d].id: missing, expected the id of an observation, such as s_21", i)
		}
		choice, ok := choiceOf(item.ChoiceID)
		if !ok {
			return nil, badRequest("evidence[%d].choice_id: %s", i, wrongWord(string(item.ChoiceID), "present, absent or unknown"))
		}
		source, ok := sourceOf(item.Source)
		if !ok {
			return nil, badRequest("evidence[%d].source: %s", i, wrongWord(string(*item.Source), "initial, suggest, predefined or red_flags, or no source"))
		}
		reported[i] = engine.ReportedEvidence{ID: item.ID, Choice: choice, Source: source}
	}
	return reported, nil
}

func choiceOf(choice enginev3.Choice) (engine.Choice, bool) {
	switch choice {
	case enginev3.ChoicePresent:
		return engine.Present, true
	case enginev3.ChoiceAbsent:
		return engine.Absent, true
	case enginev3.ChoiceUnknown:
		return engine.Unknown, true
	}
	return engine.Unknown, false
}

func sourceOf(source *enginev3.Source) (engine.Source, bool) {
	if source == nil || *source == "" {
		return engine.SourceNone, true
	}
	switch *source {
	case enginev3.SourceInitial:
		return engine.SourceInitial, true
	case enginev3.SourceSuggest:
		return engine.SourceSuggest, true
	case enginev3.SourcePredefined:
		return engine.SourcePredefined, true
	case enginev3.SourceRedFlags:
		return engine.SourceRedFlags, true
	}
	return engine.SourceNone, false
}

func readOptions(extras *enginev3.InterviewExtras) (engine.Options, error) {
	if extras == nil {
		return engine.Options{}, nil
	}
	mode, ok := modeOf(extras.InterviewMode)
	if !ok {
		return engine.Options{}, badRequest("extras.interview_mode: %s",
			wrongWord(string(*extras.InterviewMode), "default, triage or short_triage"))
	}
	return engine.Options{
		DisableGroups: isTrue(extras.DisableGroups),
		ThreeLevels:   isTrue(extras.EnableTriage3),
		Mode:          mode,
	}, nil
}

func modeOf(mode *enginev3.InterviewMode) (engine.Mode, bool) {
	if mode == nil || *mode == "" {
		return engine.DefaultMode, true
	}
	switch *mode {
	case enginev3.InterviewModeDefault:
		return engine.DefaultMode, true
	case enginev3.InterviewModeTriage:
		return engine.TriageMode, true
	case enginev3.InterviewModeShortTriage:
		return engine.ShortTriage, true
	}
	return engine.DefaultMode, false
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
