// SPDX-License-Identifier: Apache-2.0

package feedback

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLabel is how long a custom label may be, in code points.
const MaxLabel = 160

// custom is the word of every list that stands for none of the others and
// needs a label.
const custom = "custom"

// What the specification allows.
var (
	types = []string{
		"self_treatment_at_home", "consultation", "urgent_care_center", "emergency_care", "not_sure", "unknown", custom,
	}
	// channelCategories are those of a channel, by the type of the intent that
	// has one.
	channelCategories = map[string][]string{
		"consultation": {"in_person", "provider_application", "chat", "audio", "video", "not_sure", custom},
	}
	// subTypeCategories are those of a sub-type, by the type of the intent that
	// has one.
	subTypeCategories = map[string][]string{
		"consultation": {
			"primary_care_physician", "nurse", "physiotherapist", "psychologist", "dietician", "specialist_doctor", custom, "not_sure",
		},
		"emergency_care": {"with_ambulance", "without_ambulance", custom, "not_sure"},
	}
)

// InvalidError says what is wrong with an intent.
type InvalidError struct {
	Field   string // such as patient_intent_before.channel.category
	Problem string // what was expected there
}

// Error names the field and says what was expected.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Problem }

func invalid(field, format string, arguments ...any) error {
	return &InvalidError{field, fmt.Sprintf(format, arguments...)}
}

// Validate says, in an *InvalidError, what is wrong with the intent that the
// field of that name holds.
//
// A channel or a sub-type beside a type that has none is an error and not left
// out: one of the two is not what the patient meant, and nobody but the client
// can say which. A label that no custom word calls for is what the
// specification ignores: it is dropped unread, so that no text is kept that
// nobody asked for.
func (i *Intent) Validate(field string) error {
	if err := checkWord(field+".type", i.Type, types); err != nil {
		return err
	}
	if err := checkLabel(field, i.Type, &i.CustomLabel); err != nil {
		return err
	}
	if i.Channel != nil {
		if err := checkPart(field+".channel", i.Type, channelCategories, i.Channel.Category, &i.Channel.CustomLabel); err != nil {
			return err
		}
	}
	if i.SubType != nil {
		return checkPart(field+".sub_type", i.Type, subTypeCategories, i.SubType.Category, &i.SubType.CustomLabel)
	}
	return nil
}

// checkPart checks a channel or a sub-type of an intent of some type, which
// says what categories there are.
func checkPart(field, intent string, categories map[string][]string, category string, label *string) error {
	allowed, has := categories[intent]
	if !has {
		return invalid(field, "expected none beside the type %s; only %s", intent, owners(categories))
	}
	if err := checkWord(field+".category", category, allowed); err != nil {
		return err
	}
	return checkLabel(field, category, label)
}

// owners names the types of intents that have a part.
func owners(categories map[string][]string) string {
	var names []string
	for _, name := range types {
		if categories[name] != nil {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0] + " has one"
	}
	return strings.Join(names, " and ") + " have one"
}

func checkWord(field, word string, allowed []string) error {
	if slices.Contains(allowed, word) {
		return nil
	}
	return invalid(field, "expected one of %s, got %s", strings.Join(allowed, ", "), quote(word))
}

// checkLabel checks the label beside a word, and empties one that the word does
// not call for.
func checkLabel(field, word string, label *string) error {
	field += ".custom_label"
	length := utf8.RuneCountInString(*label)
	switch {
	case word != custom:
		*label = ""
	case strings.TrimSpace(*label) == "":
		return invalid(field, "missing, expected 1 to %d characters that say what custom means", MaxLabel)
	case length > MaxLabel:
		return invalid(field, "expected at most %d characters, got %d", MaxLabel, length)
	}
	return nil
}

// quote repeats what a client sent, but no novel.
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
