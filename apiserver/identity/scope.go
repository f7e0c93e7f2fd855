// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is a permission, written as the guidance platform's specification
// does: what is acted upon, a colon, and read or write.
type Scope string

// The scopes.
const (
	KnowledgeRead Scope = "knowledge:read" // read the knowledge base
	QuestionRead  Scope = "question:read"  // read questions
	QuestionWrite Scope = "question:write" // give and change answers
	SurveyRead    Scope = "survey:read"    // read surveys
	SurveyWrite   Scope = "survey:write"   // make, change and delete surveys
	ConfigRead    Scope = "config:read"    // read the configuration of webhooks, and usage
	ConfigWrite   Scope = "config:write"   // change the configuration of webhooks
	UserRead      Scope = "user:read"      // read users
	UserWrite     Scope = "user:write"     // change users
	PatientRead   Scope = "patient:read"   // read patients
	PatientWrite  Scope = "patient:write"  // change patients
)

var scopes = []Scope{
	KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, SurveyWrite, ConfigRead,
	ConfigWrite, UserRead, UserWrite, PatientRead, PatientWrite,
}

// Scopes returns every scope, in the order of the specification.
func Scopes() []Scope { return slices.Clone(scopes) }

// ParseScopes reads scopes written with spaces between them, as OAuth has it.
// It returns each once, in the order of Scopes. The error names the first that
// does not exist.
func ParseScopes(text string) ([]Scope, error) {
	var parsed []Scope
	for word := range strings.FieldsSeq(text) {
		parsed = append(parsed, Scope(word))
	}
	return normalize(parsed)
}

// normalize sorts the scopes as Scopes does and drops repetitions.
func normalize(given []Scope) ([]Scope, error) {
	for _, scope := range given {
		if !slices.Contains(scopes, scope) {
			return nil, fmt.Errorf("there is no scope %.40q; the scopes are %s", scope, FormatScopes(scopes))
		}
	}
	return intersect(scopes, given), nil
}

// FormatScopes writes scopes as ParseScopes reads them.
func FormatScopes(given []Scope) string {
	words := make([]string, len(given))
	for i, scope := range given {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

// intersect returns those of a that are in b, in the order of a.
func intersect(a, b []Scope) []Scope {
	both := make([]Scope, 0, len(a))
	for _, scope := range a {
		if slices.Contains(b, scope) {
			both = append(both, scope)
		}
	}
	return both
}
