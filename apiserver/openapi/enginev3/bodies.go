// SPDX-License-Identifier: Apache-2.0

// Package enginev3 is the contract of the symptom assessment in Go: generated
// from engine-v3.yaml, but for how bodies are decoded, which stands here.
package enginev3

import "github.com/go-json-experiment/json"

// Bodies are decoded to the letter: a name is compared as it is, and an object
// that has one twice is refused. The standard decoder takes "Evidence" for
// evidence and, of two lists, lets the items of the first shine through those
// of the second.

// UnmarshalJSON implements json.Unmarshaler. What does not fit is a
// *json.SemanticError of go-json-experiment.
func (b *Interview) UnmarshalJSON(body []byte) error {
	type plain Interview
	return json.Unmarshal(body, (*plain)(b))
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *ExplainRequest) UnmarshalJSON(body []byte) error {
	type plain ExplainRequest
	return json.Unmarshal(body, (*plain)(b))
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *SuggestRequest) UnmarshalJSON(body []byte) error {
	type plain SuggestRequest
	return json.Unmarshal(body, (*plain)(b))
}

// UnmarshalJSON implements json.Unmarshaler as Interview does.
func (b *ParseRequest) UnmarshalJSON(body []byte) error {
	type plain ParseRequest
	return json.Unmarshal(body, (*plain)(b))
}
