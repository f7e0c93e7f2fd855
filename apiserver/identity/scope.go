// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is a permission in the notation of the guidance platform's specification: a resource,
// a colon, and "read" or "write".
type Scope string

// Scopes.
const (
	KnowledgeRead Scope = "knowledge:read" // read the knowledge base
	QuestionRead  Scope = "question:read"  // read questions
	QuestionWrite Scope = "question:write" // give and change answers
	SurveyRead    Scope = "survey:read"    // read surveys
	SurveyWrite   Scope = "survey:write"   // create, change and delete surveys
	ConfigRead    Scope = "config:read"    // read webhook configurations and usage
	ConfigWrite   Scope = "config:write"   // change webhook configurations
	UserRead      Scope = "user:read"      // read users
	UserWrite     Scope = "user:write"     // change users
	PatientRead   Scope = "patient:read"   // read patients
	PatientWrite  Scope = "patient:write"  // change patients
)

var allScopes = []Scope{
	KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, SurveyWrite, ConfigRead,
	ConfigWrite, UserRead, UserWrite, PatientRead, PatientWrite,
}

// AllScopes returns every scope, in the order of the specification.
func AllScopes() []Scope { return slices.Clone(allScopes) }

// ParseScopes parses space-separated scopes, as in OAuth. It returns them deduplicated,
// in the order of AllScopes. The error names the first unknown scope.
func ParseScopes(text string) ([]Scope, error) {
	var parsed []Scope
	for word := range strings.FieldsSeq(text) {
		parsed = append(parsed, Scope(word))
	}
	return normalizeScopes(parsed)
}

// normalizeScopes returns the scopes deduplicated, in the order of AllScopes.
func normalizeScopes(scopes []Scope) ([]Scope, error) {
	for _, scope := range scopes {
		if !slices.Contains(allScopes, scope) {
			return nil, fmt.Errorf("unknown scope %.40q; valid scopes: %s", scope, FormatScopes(allScopes))
		}
	}
	return intersectScopes(allScopes, scopes), nil
}

// FormatScopes formats scopes as expected by ParseScopes.
func FormatScopes(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

// intersectScopes returns the scopes of a that are also in b, in the order of a.
func intersectScopes(a, b []Scope) []Scope {
	common := make([]Scope, 0, len(a))
	for _, scope := range a {
		if slices.Contains(b, scope) {
			common = append(common, scope)
		}
	}
	return common
}
