// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// pronounsID is the ID of the text that lists the pronoun pairs of a language, separated by
// commas, such as "he or she". A pair that contains another one comes first.
const pronounsID = "pronouns"

// withPronouns replaces each pronoun pair in a text about the patient with the pronoun of the
// patient's sex: in "Does he or she cough?", "he or she" becomes "she" or "he".
func (state *State) withPronouns(text string) string {
	var replacements []string
	for pair := range strings.SplitSeq(state.Texts.Text(pronounsID), ", ") {
		words := strings.Fields(pair) // male, conjunction, female
		pronoun := words[0]
		if state.Sex() == model.Female.String() {
			pronoun = words[len(words)-1]
		}
		replacements = append(replacements, " "+pair, " "+pronoun, upperFirst(pair), upperFirst(pronoun))
	}
	return strings.NewReplacer(replacements...).Replace(text)
}

// upperFirst returns a text with its first letter in upper case.
func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
