// SPDX-License-Identifier: Apache-2.0

// Package enginev3 contains the Go types of the symptom assessment contract, generated from
// engine-v3.yaml, and the hand-written decoding of bodies.
package enginev3

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bodies are decoded strictly: names are case-sensitive, and duplicate names are rejected.
// The standard decoder accepts "Evidence" for evidence and merges the items of duplicate
// lists.

// UnmarshalJSON implements json.Unmarshaler. Type mismatches are reported as a
// *json.SemanticError of go-json-experiment.
func (i *Interview) UnmarshalJSON(body []byte) error {
	type plain Interview
	return json.Unmarshal(body, (*plain)(i), evidenceUnmarshalers)
}

// UnmarshalJSON implements json.Unmarshaler in the same way as Interview.
func (r *ExplainRequest) UnmarshalJSON(body []byte) error {
	type plain ExplainRequest
	return json.Unmarshal(body, (*plain)(r), evidenceUnmarshalers)
}

// UnmarshalJSON implements json.Unmarshaler in the same way as Interview.
func (r *SuggestRequest) UnmarshalJSON(body []byte) error {
	type plain SuggestRequest
	return json.Unmarshal(body, (*plain)(r), evidenceUnmarshalers)
}

// UnmarshalJSON implements json.Unmarshaler in the same way as Interview.
func (r *ParseRequest) UnmarshalJSON(body []byte) error {
	type plain ParseRequest
	return json.Unmarshal(body, (*plain)(r))
}

// MaxEvidence is the maximum number of items in a list of evidence.
const MaxEvidence = 500

// An EvidenceLengthError indicates a list of evidence with more than MaxEvidence items.
type EvidenceLengthError struct{ Items int }

// Error returns the number of items and the limit.
func (e *EvidenceLengthError) Error() string {
	return fmt.Sprintf("evidence: expected at most %d items, got %d", MaxEvidence, e.Items)
}

// evidenceUnmarshalers stops decoding at MaxEvidence items: decoded items take twenty times
// the memory of the body, which can hold 350,000 items.
var evidenceUnmarshalers = json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalEvidence))

func unmarshalEvidence(d *jsontext.Decoder, list *[]Evidence) error {
	if d.PeekKind() != '[' {
		return errors.ErrUnsupported
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	items := 0
	*list = make([]Evidence, 0, 8)
	for ; d.PeekKind() != ']'; items++ {
		if items >= MaxEvidence {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		*list = append(*list, Evidence{})
		if err := json.UnmarshalDecode(d, &(*list)[items]); err != nil {
			return err
		}
	}
	if items > MaxEvidence {
		return &EvidenceLengthError{items}
	}
	_, err := d.ReadToken()
	return err
}
