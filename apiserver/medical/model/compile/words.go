// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// addWords sets the texts of every concept, and rejects texts of unknown concepts and
// concepts without texts.
func (c *compiler) addWords() {
	conditions := c.localizationsBySlug("condition", c.language.Conditions, func(slug string) bool { return c.conditions[slug] != nil })
	for _, s := range c.core.Conditions {
		if d := c.conditions[s.Slug.Text]; d != nil && d.source == s {
			c.nameCondition(d, conditions[s.Slug.Text])
		}
	}
	observations := c.localizationsBySlug("observation", c.language.Observations, func(slug string) bool { return c.observations[slug] != nil })
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s {
			c.nameObservation(o, observations[s.Slug.Text])
		}
	}
	groups := c.localizationsBySlug("group", c.language.Groups, func(slug string) bool { return c.groups[slug] != nil })
	for _, s := range c.core.Groups {
		if g := c.groups[s.Slug.Text]; g != nil {
			c.nameGroup(g, s, groups[s.Slug.Text])
		}
	}
	labTests := c.localizationsBySlug("laboratory test", c.language.LabTests, func(slug string) bool { return c.labTests[slug] != nil })
	for _, s := range c.core.LabTests {
		if t := c.labTests[s.Slug.Text]; t != nil {
			c.nameLabTest(t, s, labTests[s.Slug.Text])
		}
	}
	drugs := c.localizationsBySlug("drug", c.language.Drugs, func(slug string) bool { return c.drugs[slug] != nil })
	for _, s := range c.core.Drugs {
		if d := c.drugs[s.Slug.Text]; d != nil {
			c.nameDrug(d, s, drugs[s.Slug.Text])
		}
	}
	c.nameChronicDiseases()
}

// localizationsBySlug returns the localizations by slug.
func (c *compiler) localizationsBySlug(kind string, list []*source.Localization, known func(slug string) bool) map[string]*source.Localization {
	words := map[string]*source.Localization{}
	for _, w := range list {
		p := c.reportAt(w.File, w.Slug.Line)
		if previous := words[w.Slug.Text]; previous != nil {
			p.errorf("%s %s already has texts at %s:%d", kind, w.Slug.Text, previous.File, previous.Slug.Line)
			continue
		}
		if !known(w.Slug.Text) {
			p.errorf("unknown %s %s: define it in a file under core", kind, w.Slug.Text)
		}
		words[w.Slug.Text] = w
	}
	return words
}

func (c *compiler) nameCondition(d *condition, w *source.Localization) {
	if w == nil {
		c.reportAtCondition(d).errorf("condition %s has no texts in language %s", d.source.Slug.Text, c.language.Tag.Text)
		return
	}
	d.localization = w
	d.Name, d.CommonName = c.requiredNames(w)
	d.Hint = w.Hint.Text
	d.Synonyms = scalarTexts(w.Synonyms)
}

func (c *compiler) nameObservation(o *observation, w *source.Localization) {
	if w == nil {
		c.reportAtObservation(o).errorf("observation %s has no texts in language %s", o.source.Slug.Text, c.language.Tag.Text)
		return
	}
	o.localization = w
	o.Name, o.CommonName = c.requiredNames(w)
	o.Question, o.QuestionThirdPerson = w.Question.Text, w.QuestionThirdPerson.Text
	o.Synonyms = scalarTexts(w.Synonyms)
	p := c.reportAt(w.File, w.Slug.Line)
	switch {
	case o.source.Professional.Value && (o.Question != "" || o.QuestionThirdPerson != ""):
		p.errorf("%s is professional and must not have a question for patients: remove the question", w.Slug.Text)
	case !o.source.Professional.Value && o.Kind != model.LabResult:
		c.checkQuestions(p, w)
	}
}

func (c *compiler) nameGroup(g *model.DraftGroup, s *source.Group, w *source.Localization) {
	if w == nil {
		c.reportAt(s.File, s.Slug.Line).errorf("group %s has no texts in language %s", s.Slug.Text, c.language.Tag.Text)
		return
	}
	g.Question, g.QuestionThirdPerson = w.Question.Text, w.QuestionThirdPerson.Text
	c.checkQuestions(c.reportAt(w.File, w.Slug.Line), w)
}

func (c *compiler) checkQuestions(p reporter, w *source.Localization) {
	if w.Question.Text == "" {
		p.atLine(w.Question.Line).errorf("%s has no question", w.Slug.Text)
	}
	if w.QuestionThirdPerson.Text == "" {
		p.atLine(w.QuestionThirdPerson.Line).errorf("%s has no question_third_person", w.Slug.Text)
	}
}

// requiredNames returns the name and the common name, which defaults to the name.
func (c *compiler) requiredNames(w *source.Localization) (name, commonName string) {
	name, commonName = w.Name.Text, w.CommonName.Text
	if name == "" {
		c.reportAt(w.File, w.Slug.Line).atLine(w.Name.Line).errorf("%s has no name", w.Slug.Text)
	}
	if commonName == "" {
		commonName = name
	}
	return name, commonName
}

func scalarTexts(words []source.Scalar) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

// checkWordings rejects names that two concepts or laboratory tests share, and wordings
// that two concepts of the same kind share, because they would be ambiguous.
func (c *compiler) checkWordings() {
	names, wordings := map[string]wordingUse{}, map[string]wordingUse{}
	check := func(kind string, w *source.Localization) {
		c.checkUniqueWording(names, "", w, w.Name, fmt.Sprintf("%s %s", kind, w.Slug.Text))
		for _, wording := range append([]source.Scalar{w.Name, w.CommonName}, w.Synonyms...) {
			c.checkUniqueWording(wordings, kind, w, wording, fmt.Sprintf("%s %s", kind, w.Slug.Text))
		}
	}
	for _, s := range c.core.Conditions {
		if d := c.conditions[s.Slug.Text]; d != nil && d.source == s && d.localization != nil {
			check("condition", d.localization)
		}
	}
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s && o.localization != nil {
			check(o.Kind.String(), o.localization)
		}
	}
	testNames := map[string]wordingUse{}
	for _, w := range c.language.LabTests {
		c.checkUniqueWording(testNames, "", w, w.Name, "laboratory test "+w.Slug.Text)
	}
}

// wordingUse is the position of a wording and the concept to which it refers.
type wordingUse struct {
	concept string
	at      source.Position
}

// checkUniqueWording records that a wording refers to a concept, and reports a problem if
// it already refers to a different concept.
func (c *compiler) checkUniqueWording(used map[string]wordingUse, kind string, w *source.Localization, wording source.Scalar, concept string) {
	if wording.Line == 0 {
		return
	}
	p := c.reportAt(w.File, wording.Line)
	key := foldWording(wording.Text)
	if key == "" {
		p.errorf("empty wording of %s", concept)
		return
	}
	key = kind + "\x00" + key
	previous, ok := used[key]
	switch {
	case !ok:
		used[key] = wordingUse{concept: concept, at: p.position}
	case previous.concept != concept && kind == "":
		p.errorf("%s and %s (%s:%d) have the same name %q", concept, previous.concept, previous.at.File, previous.at.Line, wording.Text)
	case previous.concept != concept:
		p.errorf("%q refers to both %s and %s (%s:%d)", wording.Text, concept, previous.concept, previous.at.File, previous.at.Line)
	}
}

// foldWording returns the normalized words of a wording, which searches compare.
func foldWording(wording string) string {
	return strings.Join(slices.Collect(token.Words(wording)), " ")
}
