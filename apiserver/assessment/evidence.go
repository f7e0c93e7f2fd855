// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"fmt"
	"math"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
)

// Evidence is one piece as clients word it, without how long the patient has had
// it.
type Evidence struct{ ID, Choice, Source string }

var choices = map[string]engine.Choice{
	"present": engine.Present,
	"absent":  engine.Absent,
	"unknown": engine.Unknown,
}

var sources = map[string]engine.Source{
	"":           engine.SourceNone,
	"initial":    engine.SourceInitial,
	"suggest":    engine.SourceSuggest,
	"predefined": engine.SourcePredefined,
	"red_flags":  engine.SourceRedFlags,
}

// ReadEvidence reads the piece at a position of what was sent. Whether a release
// knows its id, engine.NewPatient says.
func ReadEvidence(position int, sent Evidence) (engine.ReportedEvidence, error) {
	reported := engine.ReportedEvidence{ID: sent.ID}
	field := func(name string) string { return fmt.Sprintf("evidence[%d].%s", position, name) }
	if sent.ID == "" {
		return reported, wrong(field("id"), "missing, expected the id of an observation, such as s_21")
	}
	var ok bool
	if reported.Choice, ok = choices[sent.Choice]; !ok {
		return reported, WrongWord(field("choice_id"), sent.Choice, "present, absent or unknown")
	}
	if reported.Source, ok = sources[sent.Source]; !ok {
		return reported, WrongWord(field("source"), sent.Source, "initial, suggest, predefined or red_flags, or no source")
	}
	return reported, nil
}

// longest is how long a patient can have had anything: 130 years.
const longest = 130 * 8766 * time.Hour

var durationUnits = map[string]time.Duration{
	"week":   7 * 24 * time.Hour,
	"day":    24 * time.Hour,
	"hour":   time.Hour,
	"minute": time.Minute,
}

// ReadDuration reads for how long a patient has had something: above 0 and at most
// 130 years.
func ReadDuration(field string, value *float64, unit string) (time.Duration, error) {
	one, ok := durationUnits[unit]
	if !ok {
		return 0, WrongWord(field+".unit", unit, "week, day, hour or minute")
	}
	const expected = "expected a number above 0, and at most 130 years"
	if value == nil {
		return 0, wrong(field+".value", "missing, "+expected)
	}
	nanoseconds := *value * float64(one)
	if nanoseconds <= 0 || nanoseconds > float64(longest) {
		return 0, wrong(field+".value", expected+", got %v", *value)
	}
	return time.Duration(math.Ceil(nanoseconds)), nil
}
