// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// readEvidence parses the list of evidence, including durations if withDurations is set.
func readEvidence(list *[]enginev3.Evidence, withDurations bool) ([]inference.ReportedEvidence, error) {
	if list == nil {
		return nil, nil
	}
	reported := make([]inference.ReportedEvidence, len(*list))
	for i := range *list {
		item, err := readEvidenceItem(i, &(*list)[i], withDurations)
		if err != nil {
			return nil, err
		}
		reported[i] = item
	}
	return reported, nil
}

func readEvidenceItem(i int, item *enginev3.Evidence, withDurations bool) (inference.ReportedEvidence, error) {
	reported, err := assessment.ParseEvidence(i, assessment.Evidence{
		ID: item.ID, Choice: string(item.ChoiceID), Source: stringOrEmpty(item.Source),
	})
	if err != nil || !withDurations || item.Duration == nil {
		return reported, err
	}
	reported.Duration, reported.DurationUnknown, err = readDuration(fmt.Sprintf("evidence[%d].duration", i), item.Duration)
	return reported, err
}

// stringOrEmpty returns an empty string for an unset value.
func stringOrEmpty[W ~string](word *W) string {
	if word == nil {
		return ""
	}
	return string(*word)
}

// readDuration parses a duration; null means that the patient does not know it. The name
// identifies the duration in errors.
func readDuration(name string, raw json.RawMessage) (duration time.Duration, unknown bool, err error) {
	if string(raw) == "null" {
		return 0, true, nil
	}
	var parsed enginev3.Duration
	var semanticErr *jsonv2.SemanticError
	if err := jsonv2.Unmarshal(raw, &parsed); errors.As(err, &semanticErr) {
		return 0, false, badRequest("%s", describeSemanticError(name, semanticErr))
	}
	duration, err = assessment.ParseDuration(name, parsed.Value, string(parsed.Unit))
	return duration, false, err
}
