// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// A class is a set of words and phrases that mean the same in wordings. Its
// words become a term. Its phrases cannot, and stand in patterns of their own.
type class struct {
	at      source.Position
	laid    *model.DraftClass
	spoken  string     // the first of them, as it was written
	phrases [][]string // folded, without fillers
	given   bool       // a member, be it one that was refused
	used    bool
}

// relativeClass is the one whose words are relatives of the patient.
const relativeClass = "relative"

// addClasses adds what a file says of classes. Several files may add to one.
func (b *builder) addClasses(file *source.Lexicon) {
	for _, name := range source.ByLine(keys(file.Classes)) {
		at := source.Position{File: file.File, Line: name.Line}
		if _, err := pattern.Parse("<" + name.Text + ">"); err != nil {
			b.problems.Add(at, "class %q: expected a name of letters, digits and underscores", name.Text)
			continue
		}
		c := b.classes[name.Text]
		if c == nil {
			c = &class{at: at, laid: &model.DraftClass{Name: name.Text}}
			b.classes[name.Text] = c
		}
		for _, member := range file.Classes[name] {
			b.addMember(c, source.Position{File: file.File, Line: member.Line}, member.Text)
		}
	}
}

// addMember adds a word or a phrase, with alternatives in all its forms.
func (b *builder) addMember(c *class, at source.Position, text string) {
	c.given = true
	w, err := pattern.Parse(text)
	var forms [][]pattern.Element
	if err == nil {
		forms, err = w.Expand()
	}
	if err != nil {
		b.problems.Add(at, "%q in class %s: %v", text, c.laid.Name, err)
		return
	}
	for _, form := range forms {
		phrases, ok := plain(form)
		if !ok || w.AnyOrder {
			b.problems.Add(at, "%q in class %s: expected plain words", text, c.laid.Name)
			return
		}
		for _, words := range phrases {
			c.add(b.telling(words))
		}
	}
	if spoken, ok := w.Spoken(nil); ok && c.spoken == "" {
		c.spoken = spoken
	}
}

// add adds a form of a member, once.
func (c *class) add(words []string) {
	same := func(phrase []string) bool { return slices.Equal(phrase, words) }
	switch {
	case len(words) > 1 && !slices.ContainsFunc(c.phrases, same):
		c.phrases = append(c.phrases, words)
	case len(words) == 1 && !slices.Contains(c.laid.Words, words[0]):
		c.laid.Words = append(c.laid.Words, words[0])
	}
}

// plain are the phrases that a form is, if it holds nothing but words.
func plain(form []pattern.Element) (phrases [][]string, ok bool) {
	phrases = [][]string{nil}
	for _, e := range form {
		words := e.Words
		if e.Kind == pattern.Word {
			words = []string{e.Text}
		}
		if len(words) == 0 || e.Wide || len(phrases)*len(words) > pattern.MostExpansions {
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

// telling leaves out the fillers of a phrase, unless it is made of nothing else.
func (b *builder) telling(words []string) []string {
	told := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return b.fillers[word] })
	if len(told) == 0 {
		return words
	}
	return told
}

// closeClasses refuses classes of nothing, when all files have been read.
func (b *builder) closeClasses() {
	for _, c := range b.sortedClasses() {
		if !c.given {
			b.problems.Add(c.at, "class %s has no words", c.laid.Name)
		}
	}
}

func (b *builder) sortedClasses() []*class {
	return slices.SortedFunc(maps.Values(b.classes), func(a, b *class) int { return cmp.Compare(a.laid.Name, b.laid.Name) })
}

// refuseUnused refuses classes that no wording names.
func (b *builder) refuseUnused() {
	for _, c := range b.sortedClasses() {
		if !c.used {
			b.problems.Add(c.at, "class %s is used by no wording", c.laid.Name)
		}
	}
}

// options are what may stand for a class: one of its words, or a phrase.
func (c *class) options() []form {
	var options []form
	if len(c.laid.Words) > 0 {
		options = append(options, form{elements: []model.DraftElement{{Class: c.laid}}})
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

// chooseWord gives the options of alternatives of one word each: a class without a
// name, relatives apart from others, and nothing where one is a filler that does
// not count.
func (b *builder) chooseWord(words []string, as manner) []form {
	var relatives, others []string
	options := []form{}
	for _, word := range words {
		switch {
		case b.fillers[word] && !as.fillers:
			options = []form{{}}
		case b.isRelative(word):
			relatives = append(relatives, word)
		default:
			others = append(others, word)
		}
	}
	for _, words := range [][]string{others, relatives} {
		if len(words) > 0 {
			options = append(options, form{elements: []model.DraftElement{b.oneOf(words)}})
		}
	}
	return options
}

// oneOf is a word, or the class of several. Equal ones are one class.
func (b *builder) oneOf(words []string) model.DraftElement {
	if len(words) == 1 {
		return model.DraftElement{Word: words[0]}
	}
	name := "[" + strings.Join(words, "|") + "]"
	if b.choices[name] == nil {
		b.choices[name] = &model.DraftClass{Name: name, Words: words}
	}
	return model.DraftElement{Class: b.choices[name]}
}

func (b *builder) isRelative(word string) bool {
	relatives := b.classes[relativeClass]
	return relatives != nil && slices.Contains(relatives.laid.Words, word)
}

// namesRelative reports whether elements say of a relative that it is one, be it
// as one of the people of a class.
func (b *builder) namesRelative(elements []model.DraftElement) bool {
	return slices.ContainsFunc(elements, func(e model.DraftElement) bool {
		switch {
		case e.Kind != model.TermElement:
			return false
		case e.Class == nil:
			return b.isRelative(e.Word)
		case b.choices[e.Class.Name] == e.Class:
			return b.isRelative(e.Class.Words[0])
		}
		return e.Class.Name == relativeClass || slices.ContainsFunc(e.Class.Words, b.isRelative)
	})
}
