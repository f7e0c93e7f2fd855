// SPDX-License-Identifier: Apache-2.0

package search

import "strings"

// A telling is how much a word says about which concept is meant, much being
// the least value.
type telling uint8

const (
	// much is said by words that name something. How much exactly depends on
	// how many wordings have the word.
	much telling = iota
	// little is said by words that go with most complaints, such as "bad":
	// "bad breath" is something else than breath, but a bad back is a back.
	little
	// nothing is said by words that only hold a sentence together.
	nothing
	// beginning is said by a word that says nothing when it is all there is:
	// it may be the "my" of "myopia".
	beginning
)

// languages are the words, folded, that say little or nothing, by language. In
// a language that is not here every word tells.
var languages = map[string]map[telling]string{
	"en": {
		nothing: `
			a about after again also am an and are as at be been being but by can could
			did do does doing for from get gets getting go goes going got had has have having
			he her hers him his how i id if im in into is it its ive just keep keeps kind
			like lot lots made make makes me mine my myself of on or our own please quite rather
			really seem seems she so some someone something sort such than that the their them
			then there these they thing things think this those to too us very was we were
			what when where which while who why will with would you your yours`,
		little: `
			all always any anymore awful awfully bad badly bit cannot cant constant constantly
			difficult difficulties difficulty doesnt dont down even every everything extreme
			extremely feel feeling feelings feels felt hard horrible horribly hurt hurting hurts
			intense issue issues keeping mild much need needs never no not nothing off often only
			out problem problems quickly severe severely slight slightly sometimes still strong
			sudden suddenly symptom symptoms terrible terribly time times trouble troubles trying
			unable unbearable up want wanted wants weird without wont worse worst`,
	},
}

// tellings are the languages by word.
var tellings = byWord(languages)

func byWord(languages map[string]map[telling]string) map[string]map[string]telling {
	tellings := map[string]map[string]telling{}
	for language, says := range languages {
		tellings[language] = map[string]telling{}
		for telling, text := range says {
			for word := range strings.FieldsSeq(text) {
				tellings[language][word] = telling
			}
		}
	}
	return tellings
}

// tellingOf judges the words of a language, given by its BCP 47 tag.
func tellingOf(tag string) func(word string) telling {
	language, _, _ := strings.Cut(tag, "-")
	words := tellings[language]
	return func(word string) telling { return words[word] }
}
