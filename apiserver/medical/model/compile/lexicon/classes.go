// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// A class is a set of words and phrases with the same meaning in wordings. Its words
// become a term. Its phrases cannot be part of a term and get their own patterns.
type class struct {
	at         source.Position
	draft      *model.DraftClass
	spokenForm string     // first member, as written
	phrases    [][]string // folded, without fillers
	hasMembers bool       // also true if all members were rejected
	used       bool
}

// relativeClass is the class that lists the patient's relatives.
const relativeClass = "relative"

// addClasses adds the classes of a file. Several files may add to one class.
func (b *builder) addClasses(file *source.Lexicon) {
	for _, name := range source.SortByLine(mapKeys(file.Classes)) {
		at := source.Position{File: file.File, Line: name.Line}
		if _, err := match.Parse("<" + name.Text + ">"); err != nil {
			b.problems.Addf(at, "invalid class name %q: expected letters, digits and underscores", name.Text)
			continue
		}
		c := b.classes[name.Text]
		if c == nil {
			c = &class{at: at, draft: &model.DraftClass{Name: name.Text}}
			b.classes[name.Text] = c
		}
		for _, member := range file.Classes[name] {
			b.addMember(c, source.Position{File: file.File, Line: member.Line}, member.Text)
		}
	}
}

// addMember adds a word or a phrase. It expands alternatives into all forms.
func (b *builder) addMember(c *class, at source.Position, text string) {
	c.hasMembers = true
	w, err := match.Parse(text)
	var forms [][]match.Element
	if err == nil {
		forms, err = w.Expand()
	}
	if err != nil {
		b.problems.Addf(at, "invalid member %q of class %s: %v", text, c.draft.Name, err)
		return
	}
	for _, form := range forms {
		phrases, ok := plainPhrases(form)
		if !ok || w.AnyOrder {
			b.problems.Addf(at, "invalid member %q of class %s: expected plain words", text, c.draft.Name)
			return
		}
		for _, words := range phrases {
			c.add(b.stripFillers(words))
		}
	}
	if spoken, ok := w.SampleText(nil); ok && c.spokenForm == "" {
		c.spokenForm = spoken
	}
}

// add adds a form of a member unless the class already has it.
func (c *class) add(words []string) {
	isSame := func(phrase []string) bool { return slices.Equal(phrase, words) }
	switch {
	case len(words) > 1 && !slices.ContainsFunc(c.phrases, isSame):
		c.phrases = append(c.phrases, words)
	case len(words) == 1 && !slices.Contains(c.draft.Words, words[0]):
		c.draft.Words = append(c.draft.Words, words[0])
	}
}

// plainPhrases returns the phrases of a form. ok is false if the form contains elements
// other than words.
func plainPhrases(form []match.Element) (phrases [][]string, ok bool) {
	phrases = [][]string{nil}
	for _, e := range form {
		words := e.Words
		if e.Kind == match.Word {
			words = []string{e.Text}
		}
		if len(words) == 0 || e.GapBefore || len(phrases)*len(words) > match.MaxExpansions {
			return nil, false
		}
		var longer [][]string
		for _, phrase := range phrases {
			for _, word := range words {
				longer = append(longer, append(slices.Clone(phrase), word))
			}
		}
		phrases = longer
	}
	return phrases, true
}

// stripFillers removes the fillers from a phrase, unless it contains only fillers.
func (b *builder) stripFillers(words []string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return b.fillers[word] })
	if len(kept) == 0 {
		return words
	}
	return kept
}

// checkEmptyClasses rejects classes without members, after all files have been read.
func (b *builder) checkEmptyClasses() {
	for _, c := range b.sortedClasses() {
		if !c.hasMembers {
			b.problems.Addf(c.at, "class %s has no words", c.draft.Name)
		}
	}
}

func (b *builder) sortedClasses() []*class {
	return slices.SortedFunc(maps.Values(b.classes), func(a, b *class) int { return cmp.Compare(a.draft.Name, b.draft.Name) })
}

// checkUnusedClasses rejects classes that no wording uses.
func (b *builder) checkUnusedClasses() {
	for _, c := range b.sortedClasses() {
		if !c.used {
			b.problems.Addf(c.at, "class %s is not used in any wording", c.draft.Name)
		}
	}
}

// forms returns the forms that match a class: one of its words, or a phrase.
func (c *class) forms() []form {
	var options []form
	if len(c.draft.Words) > 0 {
		options = append(options, form{elements: []model.DraftElement{{Class: c.draft}}})
	}
	for _, phrase := range c.phrases {
		elements := make([]model.DraftElement, len(phrase))
		for i, word := range phrase {
			elements[i].Word = word
		}
		options = append(options, form{elements: elements})
	}
	return options
}

// choiceOptions returns the options for single-word alternatives: an anonymous class
// for relatives, another class for the other words, and an empty form if an alternative
// is an ignored filler.
func (b *builder) choiceOptions(words []string, mode matchMode) []form {
	var relatives, others []string
	options := []form{}
	for _, word := range words {
		switch {
		case b.fillers[word] && !mode.keepFillers:
			options = []form{{}}
		case b.isRelative(word):
			relatives = append(relatives, word)
		default:
			others = append(others, word)
		}
	}
	for _, words := range [][]string{others, relatives} {
		if len(words) > 0 {
			options = append(options, form{elements: []model.DraftElement{b.choiceElement(words)}})
		}
	}
	return options
}

// choiceElement returns an element for a single word, or for an anonymous class of
// several words. Equal sets of words share a class.
func (b *builder) choiceElement(words []string) model.DraftElement {
	if len(words) == 1 {
		return model.DraftElement{Word: words[0]}
	}
	name := "[" + strings.Join(words, "|") + "]"
	if b.anonymousClasses[name] == nil {
		b.anonymousClasses[name] = &model.DraftClass{Name: name, Words: words}
	}
	return model.DraftElement{Class: b.anonymousClasses[name]}
}

func (b *builder) isRelative(word string) bool {
	relatives := b.classes[relativeClass]
	return relatives != nil && slices.Contains(relatives.draft.Words, word)
}

// namesRelative reports whether the elements themselves name a relative, directly or as
// a member of a class of people.
func (b *builder) namesRelative(elements []model.DraftElement) bool {
	return slices.ContainsFunc(elements, func(e model.DraftElement) bool {
		switch {
		case e.Kind != model.TermElement:
			return false
		case e.Class == nil:
			return b.isRelative(e.Word)
		case b.anonymousClasses[e.Class.Name] == e.Class:
			return b.isRelative(e.Class.Words[0])
		}
		return e.Class.Name == relativeClass || slices.ContainsFunc(e.Class.Words, b.isRelative)
	})
}
