// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
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
	reported, err := assessment.ReadEvidence(i, assessment.Evidence{
		ID: item.ID, Choice: string(item.ChoiceID), Source: wordOrNone(item.Source),
	})
	if err != nil || !withDurations || item.Duration == nil {
		return reported, err
	}
	reported.Duration, reported.DurationUnknown, err = readDuration(fmt.Sprintf("evidence[%d].duration", i), item.Duration)
	return reported, err
}

// wordOrNone is empty for a word that was not given.
func wordOrNone[W ~string](word *W) string {
	if word == nil {
		return ""
	}
	return string(*word)
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
	duration, err = assessment.ReadDuration(name, given.Value, string(given.Unit))
	return duration, false, err
}
