// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// readEvidence reads the list of evidence, and how long the patient has had it
// where that counts.
func readEvidence(list *[]enginev3.Evidence, withDurations bool) ([]engine.ReportedEvidence, error) {
	if list == nil {
		return nil, nil
	}
	reported := make([]engine.ReportedEvidence, len(*list))
	for i := range *list {
		item, err := readItem(i, &(*list)[i], withDurations)
		if err != nil {
			return nil, err
		}
		reported[i] = item
	}
	return reported, nil
}

func readItem(i int, item *enginev3.Evidence, withDurations bool) (engine.ReportedEvidence, error) {
	reported := engine.ReportedEvidence{ID: item.ID}
	if item.ID == "" {
		return reported, badRequest("evidence[%d].id: missing, expected the id of an observation, such as s_21", i)
	}
	var ok bool
	if reported.Choice, ok = choiceOf(item.ChoiceID); !ok {
		return reported, badRequest("evidence[%d].choice_id: %s", i, wrongWord(string(item.ChoiceID), "present, absent or unknown"))
	}
	if reported.Source, ok = sourceOf(item.Source); !ok {
		return reported, badRequest("evidence[%d].source: %s", i, wrongWord(string(*item.Source), "initial, suggest, predefined or red_flags, or no source"))
	}
	if !withDurations || item.Duration == nil {
		return reported, nil
	}
	var err error
	reported.Duration, reported.DurationUnknown, err = readDuration(fmt.Sprintf("evidence[%d].duration", i), item.Duration)
	return reported, err
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

// longest is how long a patient can have had anything: 130 years.
const longest = 130 * 8766 * time.Hour

var durationUnits = map[enginev3.DurationUnit]time.Duration{
	enginev3.DurationUnitWeek:   7 * 24 * time.Hour,
	enginev3.DurationUnitDay:    24 * time.Hour,
	enginev3.DurationUnitHour:   time.Hour,
	enginev3.DurationUnitMinute: time.Minute,
}

// readDuration reads a duration; null says that the patient does not know. The
// name is that of the duration, for errors.
func readDuration(name string, raw json.RawMessage) (duration time.Duration, unknown bool, err error) {
	if string(raw) == "null" {
		return 0, true, nil
	}
	var given enginev3.Duration
	var misfit *jsonv2.SemanticError
	if err := jsonv2.Unmarshal(raw, &given); errors.As(err, &misfit) {
		return 0, false, badRequest("%s", describeMisfit(name, misfit))
	}
	unit, ok := durationUnits[given.Unit]
	if !ok {
		return 0, false, badRequest("%s.unit: %s", name, wrongWord(string(given.Unit), "week, day, hour or minute"))
	}
	const expected = "expected a number above 0, and at most 130 years"
	if given.Value == nil {
		return 0, false, badRequest("%s.value: missing, "+expected, name)
	}
	nanoseconds := *given.Value * float64(unit)
	if nanoseconds <= 0 || nanoseconds > float64(longest) {
		return 0, false, badRequest("%s.value: "+expected+", got %v", name, *given.Value)
	}
	return time.Duration(math.Ceil(nanoseconds)), false, nil
}
