// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// addWords gives every concept its words, and refuses words of a concept that
// is not there and concepts without words.
func (c *compiler) addWords() {
	conditions := c.wordsOf("condition", c.words.Conditions, func(slug string) bool { return c.conditions[slug] != nil })
	for _, s := range c.core.Conditions {
		if d := c.conditions[s.Slug.Text]; d != nil && d.source == s {
			c.nameCondition(d, conditions[s.Slug.Text])
		}
	}
	observations := c.wordsOf("observation", c.words.Observations, func(slug string) bool { return c.observations[slug] != nil })
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s {
			c.nameObservation(o, observations[s.Slug.Text])
		}
	}
	groups := c.wordsOf("group", c.words.Groups, func(slug string) bool { return c.groups[slug] != nil })
	for _, s := range c.core.Groups {
		if g := c.groups[s.Slug.Text]; g != nil {
			c.nameGroup(g, s, groups[s.Slug.Text])
		}
	}
	labTests := c.wordsOf("laboratory test", c.words.LabTests, func(slug string) bool { return c.labTests[slug] != nil })
	for _, s := range c.core.LabTests {
		if t := c.labTests[s.Slug.Text]; t != nil {
			c.nameLabTest(t, s, labTests[s.Slug.Text])
		}
	}
	drugs := c.wordsOf("drug", c.words.Drugs, func(slug string) bool { return c.drugs[slug] != nil })
	for _, s := range c.core.Drugs {
		if d := c.drugs[s.Slug.Text]; d != nil {
			c.nameDrug(d, s, drugs[s.Slug.Text])
		}
	}
	c.nameChronicDiseases()
}

// wordsOf is the words by slug.
func (c *compiler) wordsOf(what string, list []*source.Words, known func(slug string) bool) map[string]*source.Words {
	words := map[string]*source.Words{}
	for _, w := range list {
		p := c.at(w.File, w.Slug.Line)
		if before := words[w.Slug.Text]; before != nil {
			p.add("%s %s has words at %s:%d already", what, w.Slug.Text, before.File, before.Slug.Line)
			continue
		}
		if !known(w.Slug.Text) {
			p.add("unknown %s %s: no file under core defines it", what, w.Slug.Text)
		}
		words[w.Slug.Text] = w
	}
	return words
}

func (c *compiler) nameCondition(d *condition, w *source.Words) {
	if w == nil {
		c.atCondition(d).add("condition %s has no words in language %s", d.source.Slug.Text, c.words.Language.Text)
		return
	}
	d.words = w
	d.Name, d.CommonName = c.names(w)
	d.Hint = w.Hint.Text
	d.Synonyms = texts(w.Synonyms)
}

func (c *compiler) nameObservation(o *observation, w *source.Words) {
	if w == nil {
		c.atObservation(o).add("observation %s has no words in language %s", o.source.Slug.Text, c.words.Language.Text)
		return
	}
	o.words = w
	o.Name, o.CommonName = c.names(w)
	o.Question, o.QuestionThirdPerson = w.Question.Text, w.QuestionThirdPerson.Text
	o.Synonyms = texts(w.Synonyms)
	p := c.at(w.File, w.Slug.Line)
	switch {
	case o.source.Professional.Value && (o.Question != "" || o.QuestionThirdPerson != ""):
		p.add("%s is professional, which is never asked, and has a question", w.Slug.Text)
	case !o.source.Professional.Value && o.Kind != model.LabResult:
		c.checkQuestions(p, w)
	}
}

func (c *compiler) nameGroup(g *model.DraftGroup, s *source.Group, w *source.Words) {
	if w == nil {
		c.at(s.File, s.Slug.Line).add("group %s has no words in language %s", s.Slug.Text, c.words.Language.Text)
		return
	}
	g.Question, g.QuestionThirdPerson = w.Question.Text, w.QuestionThirdPerson.Text
	c.checkQuestions(c.at(w.File, w.Slug.Line), w)
}

func (c *compiler) checkQuestions(p place, w *source.Words) {
	if w.Question.Text == "" {
		p.line(w.Question.Line).add("%s has no question", w.Slug.Text)
	}
	if w.QuestionThirdPerson.Text == "" {
		p.line(w.QuestionThirdPerson.Line).add("%s has no question_third_person", w.Slug.Text)
	}
}

// names are the name and the common name, which is the name when left out.
func (c *compiler) names(w *source.Words) (name, commonName string) {
	name, commonName = w.Name.Text, w.CommonName.Text
	if name == "" {
		c.at(w.File, w.Slug.Line).line(w.Name.Line).add("%s has no name", w.Slug.Text)
	}
	if commonName == "" {
		commonName = name
	}
	return name, commonName
}

func texts(words []source.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

// checkWordings refuses two concepts or laboratory tests with one name, and a
// wording that leads to two concepts of one kind: no rule could choose between
// them.
func (c *compiler) checkWordings() {
	names, wordings := map[string]use{}, map[string]use{}
	check := func(kind string, w *source.Words) {
		c.claim(names, "", w, w.Name, fmt.Sprintf("%s %s", kind, w.Slug.Text))
		for _, wording := range append([]source.Word{w.Name, w.CommonName}, w.Synonyms...) {
			c.claim(wordings, kind, w, wording, fmt.Sprintf("%s %s", kind, w.Slug.Text))
		}
	}
	for _, s := range c.core.Conditions {
		if d := c.conditions[s.Slug.Text]; d != nil && d.source == s && d.words != nil {
			check("condition", d.words)
		}
	}
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s && o.words != nil {
			check(o.Kind.String(), o.words)
		}
	}
	testNames := map[string]use{}
	for _, w := range c.words.LabTests {
		c.claim(testNames, "", w, w.Name, "laboratory test "+w.Slug.Text)
	}
}

// use is where a wording stands and what it leads to.
type use struct {
	concept string
	at      source.Position
}

// claim notes that a wording leads to a concept, unless it leads to another
// one already.
func (c *compiler) claim(taken map[string]use, kind string, w *source.Words, wording source.Word, concept string) {
	if wording.Line == 0 {
		return
	}
	p := c.at(w.File, wording.Line)
	key := fold(wording.Text)
	if key == "" {
		p.add("an empty wording of %s", concept)
		return
	}
	key = kind + "\x00" + key
	before, ok := taken[key]
	switch {
	case !ok:
		taken[key] = use{concept: concept, at: p.position}
	case before.concept != concept && kind == "":
		p.add("%s and %s (%s:%d) have the same name %q", concept, before.concept, before.at.File, before.at.Line, wording.Text)
	case before.concept != concept:
		p.add("%q leads to %s and to %s (%s:%d)", wording.Text, concept, before.concept, before.at.File, before.at.Line)
	}
}

// fold is a wording as a search compares it: its words, without what does not
// make them others.
func fold(wording string) string {
	return strings.Join(slices.Collect(token.Words(wording)), " ")
}
