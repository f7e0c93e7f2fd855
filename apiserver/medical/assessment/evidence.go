// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"fmt"
	"math"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
)

// Evidence is one piece of evidence as sent by a client, without its duration.
type Evidence struct{ ID, Choice, Source string }

var choices = map[string]inference.Choice{
	"present": inference.Present,
	"absent":  inference.Absent,
	"unknown": inference.Unknown,
}

var sources = map[string]inference.Source{
	"":           inference.SourceUnspecified,
	"initial":    inference.SourceInitial,
	"suggest":    inference.SourceSuggest,
	"predefined": inference.SourcePredefined,
	"red_flags":  inference.SourceRedFlags,
}

// ParseEvidence parses the piece of evidence at the given position of the request. It
// does not check that the release contains the ID; inference.NewPatient does.
func ParseEvidence(position int, sent Evidence) (inference.ReportedEvidence, error) {
	reported := inference.ReportedEvidence{ID: sent.ID}
	field := func(name string) string { return fmt.Sprintf("evidence[%d].%s", position, name) }
	if sent.ID == "" {
		return reported, newFieldError(field("id"), "missing, expected the id of an observation, such as s_21")
	}
	var ok bool
	if reported.Choice, ok = choices[sent.Choice]; !ok {
		return reported, NotSupported(field("choice_id"), sent.Choice, "present, absent or unknown")
	}
	if reported.Source, ok = sources[sent.Source]; !ok {
		return reported, NotSupported(field("source"), sent.Source, "initial, suggest, predefined or red_flags, or no source")
	}
	return reported, nil
}

// maxDuration is the longest accepted duration: 130 years.
const maxDuration = 130 * 8766 * time.Hour

var durationUnits = map[string]time.Duration{
	"week":   7 * 24 * time.Hour,
	"day":    24 * time.Hour,
	"hour":   time.Hour,
	"minute": time.Minute,
}

// ParseDuration parses how long a patient has had a symptom. The duration must be
// greater than 0 and at most 130 years.
func ParseDuration(field string, value *float64, unit string) (time.Duration, error) {
	unitDuration, ok := durationUnits[unit]
	if !ok {
		return 0, NotSupported(field+".unit", unit, "week, day, hour or minute")
	}
	const expected = "expected a number above 0, and at most 130 years"
	if value == nil {
		return 0, newFieldError(field+".value", "missing, "+expected)
	}
	nanoseconds := *value * float64(unitDuration)
	if nanoseconds <= 0 || nanoseconds > float64(maxDuration) {
		return 0, newFieldError(field+".value", expected+", got %v", *value)
	}
	return time.Duration(math.Ceil(nanoseconds)), nil
}
