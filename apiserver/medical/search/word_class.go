// SPDX-License-Identifier: Apache-2.0

package search

import "strings"

// A wordClass describes how informative a word is. The lowest value is the most
// informative.
type wordClass uint8

const (
	// informative is for words that name something. Their weight depends on the number of
	// wordings that contain them.
	informative wordClass = iota
	// weakWord is for words that patients use with most complaints, such as "bad": "bad
	// breath" differs from "breath", but "bad back" hardly differs from "back".
	weakWord
	// stopWord is for words that only have a grammatical function.
	stopWord
	// prefixOnly is for the last word of a phrase that consists of stop words: it may be
	// the "my" in "myopia".
	prefixOnly
)

// wordLists lists the case-folded weak words and stop words by language. In other
// languages, every word is informative.
var wordLists = map[string]map[wordClass]string{
	"en": {
		stopWord: `
			a about after again also am an and are as at be been being but by can could
			did do does doing for from get gets getting go goes going got had has have having
			he her hers him his how i id if im in into is it its ive just keep keeps kind
			like lot lots made make makes me mine my myself of on or our own please quite rather
			really seem seems she so some someone something sort such than that the their them
			then there these they thing things think this those to too us very was we were
			what when where which while who why will with would you your yours`,
		weakWord: `
			all always any anymore awful awfully bad badly bit cannot cant constant constantly
			difficult difficulties difficulty doesnt dont down even every everything extreme
			extremely feel feeling feelings feels felt hard horrible horribly hurt hurting hurts
			intense issue issues keeping mild much need needs never no not nothing off often only
			out problem problems quickly severe severely slight slightly sometimes still strong
			sudden suddenly symptom symptoms terrible terribly time times trouble troubles trying
			unable unbearable up want wanted wants weird without wont worse worst`,
	},
}

// wordClasses holds the word classes by language and word.
var wordClasses = indexByWord(wordLists)

func indexByWord(languages map[string]map[wordClass]string) map[string]map[string]wordClass {
	classes := map[string]map[string]wordClass{}
	for language, lists := range languages {
		classes[language] = map[string]wordClass{}
		for class, text := range lists {
			for word := range strings.FieldsSeq(text) {
				classes[language][word] = class
			}
		}
	}
	return classes
}

// classifierFor returns the word classifier for a language, given by its BCP 47 tag.
func classifierFor(tag string) func(word string) wordClass {
	language, _, _ := strings.Cut(tag, "-")
	words := wordClasses[language]
	return func(word string) wordClass { return words[word] }
}
