// SPDX-License-Identifier: Apache-2.0

// Package enginev3 is the contract of the symptom assessment in Go: generated
// from engine-v3.yaml, but for how bodies are decoded, which stands here.
package enginev3

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bodies are decoded to the letter: a name is compared as it is, and an object
// that has one twice is refused. The standard decoder takes "Evidence" for
// evidence and, of two lists, lets the items of the first shine through those
// of the second.

// UnmarshalJSON implements json.Unmarshaler. What does not fit is a
// *json.SemanticError of go-json-experiment.
func (b *Interview) UnmarshalJSON(body []byte) error {
	type plain Interview
	return json.Unmarshal(body, (*plain)(b), boundedEvidence)
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *ExplainRequest) UnmarshalJSON(body []byte) error {
	type plain ExplainRequest
	return json.Unmarshal(body, (*plain)(b), boundedEvidence)
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *SuggestRequest) UnmarshalJSON(body []byte) error {
	type plain SuggestRequest
	return json.Unmarshal(body, (*plain)(b), boundedEvidence)
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *ParseRequest) UnmarshalJSON(body []byte) error {
	type plain ParseRequest
	return json.Unmarshal(body, (*plain)(b))
}

// MostEvidence is how many items a list of evidence has at most.
const MostEvidence = 500

// An EvidenceLengthError says that a list of evidence has more items than
// MostEvidence.
type EvidenceLengthError struct{ Items int }

// Error says how many items there are and how many there may be.
func (e *EvidenceLengthError) Error() string {
	return fmt.Sprintf("evidence: expected at most %d items, got %d", MostEvidence, e.Items)
}

// boundedEvidence makes no more items than there may be: in memory they take
// twenty times what they take in a body, and a body has room for 350,000.
var boundedEvidence = json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalEvidence))

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
		if items >= MostEvidence {
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
	if items > MostEvidence {
		return &EvidenceLengthError{items}
	}
	_, err := d.ReadToken()
	return err
}
