// SPDX-License-Identifier: Apache-2.0

package feedback

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLabelLength is the maximum length of a custom label, in code points.
const MaxLabelLength = 160

// customCategory is the category in every list for anything else. It requires a label.
const customCategory = "custom"

// The values that the specification allows.
var (
	intentTypes = []string{
		"self_treatment_at_home", "consultation", "urgent_care_center", "emergency_care", "not_sure", "unknown", customCategory,
	}
	// channelCategories are the channel categories, by the types of intent that have a
	// channel.
	channelCategories = map[string][]string{
		"consultation": {"in_person", "provider_application", "chat", "audio", "video", "not_sure", customCategory},
	}
	// subTypeCategories are the sub-type categories, by the types of intent that have a
	// sub-type.
	subTypeCategories = map[string][]string{
		"consultation": {
			"primary_care_physician", "nurse", "physiotherapist", "psychologist", "dietician", "specialist_doctor", customCategory, "not_sure",
		},
		"emergency_care": {"with_ambulance", "without_ambulance", customCategory, "not_sure"},
	}
)

// ValidationError describes an invalid intent.
type ValidationError struct {
	Field   string // such as patient_intent_before.channel.category
	Problem string // expected value
}

// Error returns the field and the expected value.
func (e *ValidationError) Error() string { return e.Field + ": " + e.Problem }

func newValidationError(field, format string, arguments ...any) error {
	return &ValidationError{field, fmt.Sprintf(format, arguments...)}
}

// Validate returns a *ValidationError if the intent in the named field is invalid.
//
// A channel or sub-type that the intent type does not support is rejected, because only
// the client knows which of the two is wrong. A label without a custom category is
// dropped, as the specification requires, so that no unsolicited text is stored.
func (i *Intent) Validate(field string) error {
	if err := validateOneOf(field+".type", i.Type, intentTypes); err != nil {
		return err
	}
	if err := validateLabel(field, i.Type, &i.CustomLabel); err != nil {
		return err
	}
	if i.Channel != nil {
		if err := validateCategory(field+".channel", i.Type, channelCategories, i.Channel.Category, &i.Channel.CustomLabel); err != nil {
			return err
		}
	}
	if i.SubType != nil {
		return validateCategory(field+".sub_type", i.Type, subTypeCategories, i.SubType.Category, &i.SubType.CustomLabel)
	}
	return nil
}

// validateCategory checks the channel or sub-type of an intent against the categories
// of its type.
func validateCategory(field, intent string, categories map[string][]string, category string, label *string) error {
	allowed, found := categories[intent]
	if !found {
		return newValidationError(field, "expected none with type %s; only %s", intent, typesWithCategories(categories))
	}
	if err := validateOneOf(field+".category", category, allowed); err != nil {
		return err
	}
	return validateLabel(field, category, label)
}

// typesWithCategories lists the intent types that have the part with these categories.
func typesWithCategories(categories map[string][]string) string {
	var names []string
	for _, name := range intentTypes {
		if categories[name] != nil {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0] + " has one"
	}
	return strings.Join(names, " and ") + " have one"
}

func validateOneOf(field, word string, allowed []string) error {
	if slices.Contains(allowed, word) {
		return nil
	}
	return newValidationError(field, "expected one of %s, got %s", strings.Join(allowed, ", "), quote(word))
}

// validateLabel checks the label of a category, and clears it if the category does not
// need one.
func validateLabel(field, word string, label *string) error {
	field += ".custom_label"
	length := utf8.RuneCountInString(*label)
	switch {
	case word != customCategory:
		*label = ""
	case strings.TrimSpace(*label) == "":
		return newValidationError(field, "missing, expected 1 to %d characters that describe the custom value", MaxLabelLength)
	case length > MaxLabelLength:
		return newValidationError(field, "expected at most %d characters, got %d", MaxLabelLength, length)
	}
	return nil
}

// quote quotes client input, truncated.
func quote(word string) string {
	const limit = 64
	if word == "" {
		return "nothing"
	}
	if utf8.RuneCountInString(word) > limit {
		word = string([]rune(word)[:limit]) + "…"
	}
	return strconv.Quote(word)
}
