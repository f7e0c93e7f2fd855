// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// concept is an observation with its wordings and their resolved forms.
type concept struct {
	Concept
	wordings []source.Scalar // from the files, in order
	files    []string        // file of each wording
	// resolved holds the forms to which a reference expands. It is nil until resolved.
	resolved    *wording
	resolving   bool
	patternKeys map[string]bool // patterns of the observation, by patternKey
}

// addObservations adds the names of all observations, then their wordings in the files.
func (b *builder) addObservations(files []*source.Lexicon) {
	for _, c := range b.concepts {
		b.conceptsBySlug[c.Slug] = &concept{Concept: c, patternKeys: map[string]bool{}}
	}
	b.forEachEntry(files, func(c *concept, file string, forms source.ObservationWordings) {
		for _, word := range forms.Wordings {
			c.wordings, c.files = append(c.wordings, word), append(c.files, file)
		}
	})
	for _, c := range b.concepts {
		b.addNames(b.conceptsBySlug[c.Slug])
	}
	for _, c := range b.concepts {
		b.addWordings(b.conceptsBySlug[c.Slug])
	}
	b.forEachEntry(files, func(c *concept, file string, forms source.ObservationWordings) {
		for _, word := range forms.FollowUp {
			b.addWording(c, model.MeaningFollowUpMention, source.Position{File: file, Line: word.Line}, word.Text)
		}
		for _, word := range forms.Absent {
			b.addWording(c, model.MeaningAbsentMention, source.Position{File: file, Line: word.Line}, word.Text)
		}
	})
}

// forEachEntry calls visit with the entries of the files for each observation, in order.
func (b *builder) forEachEntry(files []*source.Lexicon, visit func(c *concept, file string, forms source.ObservationWordings)) {
	for _, file := range files {
		for _, slug := range source.SortByLine(mapKeys(file.Observations)) {
			at := source.Position{File: file.File, Line: slug.Line}
			if c := b.conceptsBySlug[slug.Text]; c != nil {
				visit(c, file.File, file.Observations[slug])
			} else if !b.reportedUnknown[at] {
				b.reportedUnknown[at] = true
				b.problems.Addf(at, "unknown observation %s: no file under core defines it as a symptom or a risk factor", slug.Text)
			}
		}
	}
}

// names returns the names and synonyms of an observation.
func (c *concept) names() []source.Scalar {
	if c.Localization == nil {
		return nil
	}
	var names []source.Scalar
	for _, name := range append([]source.Scalar{c.Localization.Name, c.Localization.CommonName}, c.Localization.Synonyms...) {
		if name.Text != "" {
			names = append(names, name)
		}
	}
	return names
}

// addNames adds names and synonyms. It skips names that are too long for speech or
// consist of fillers.
func (b *builder) addNames(c *concept) {
	for _, name := range c.names() {
		if w, err := b.resolveName(name.Text); err == nil {
			b.addPatterns(c, model.MeaningMention, w, origin{slug: c.Slug, at: source.Position{File: c.Localization.File, Line: name.Line}, isName: true, text: name.Text})
		}
	}
}

// resolveName parses a name. If a single word would remain without fillers, as in "the
// runs" or "feeling down", it keeps the fillers and the order; otherwise every text
// with that word would match.
func (b *builder) resolveName(name string) (wording, error) {
	w, err := b.resolve(match.FromPlainText(name), loose, nil)
	if err != nil || !w.isSingleElement() {
		return w, err
	}
	w, err = b.resolve(match.FromPlainText(name), literal, nil)
	w.anyOrder = false
	return w, err
}

// isSingleElement reports whether every form of the wording has one element.
func (w wording) isSingleElement() bool {
	return !slices.ContainsFunc(w.forms, func(f form) bool { return len(f.elements) > 1 })
}

func (b *builder) addWordings(c *concept) {
	for i, word := range c.wordings {
		at := source.Position{File: c.files[i], Line: word.Line}
		if b.addWording(c, model.MeaningMention, at, word.Text) {
			b.addLayWording(c, word.Text)
		}
	}
}

// addWording adds a wording, or reports why it is invalid.
func (b *builder) addWording(c *concept, meaning model.Meaning, at source.Position, text string) bool {
	w, err := b.parseWithReferences(text, loose, func(slug string) (wording, error) { return b.resolveReference(c, slug) })
	if err != nil {
		b.problems.Addf(at, "invalid wording %q of %s: %v", text, c.Slug, err)
		return false
	}
	b.addPatterns(c, meaning, w, origin{slug: c.Slug, at: at, text: text})
	return true
}

// resolveReference returns the forms of all wordings of an observation to which another
// observation refers.
func (b *builder) resolveReference(from *concept, slug string) (wording, error) {
	c := b.conceptsBySlug[slug]
	switch {
	case c == nil:
		return wording{}, fmt.Errorf("unknown symptom or risk factor @%s", slug)
	case c == from:
		return wording{}, errors.New("wording refers to its own observation")
	case c.resolving:
		return wording{}, fmt.Errorf("@%s is a circular reference", slug)
	case c.resolved != nil:
		return *c.resolved, nil
	}
	c.resolving = true
	defer func() { c.resolving = false }()
	all := formUnion{seen: map[string]bool{}}
	for _, name := range c.names() {
		if w, err := b.resolveName(name.Text); err == nil {
			all.add(w, b.patternKey)
		}
	}
	for _, word := range c.wordings {
		w, err := b.parseWithReferences(word.Text, loose, func(slug string) (wording, error) { return b.resolveReference(c, slug) })
		if err != nil {
			return wording{}, fmt.Errorf("resolving @%s: %w", slug, err)
		}
		all.add(w, b.patternKey)
	}
	c.resolved = &all.wording
	return all.wording, nil
}

// A formUnion is the union of the forms of several wordings.
type formUnion struct {
	wording
	seen map[string]bool
}

// add adds the forms of a wording that are not yet in the union.
func (u *formUnion) add(w wording, key func(model.DraftPattern) string) {
	u.anyOrder = u.anyOrder || w.anyOrder
	for _, f := range w.forms {
		terms := key(model.DraftPattern{Elements: f.elements, AnyOrder: w.anyOrder})
		if !u.seen[terms] {
			u.seen[terms] = true
			u.forms = append(u.forms, f)
		}
	}
}

// addLayWording makes a wording searchable if it has a spoken form.
func (b *builder) addLayWording(c *concept, text string) {
	w, err := match.Parse(text)
	if err != nil {
		return
	}
	spoken, ok := w.SampleText(func(name string) string {
		if c := b.classes[name]; c != nil {
			return c.spokenForm
		}
		return ""
	})
	if ok {
		c.Observation.LayWordings = append(c.Observation.LayWordings, spoken)
	}
}

// addPatterns adds the forms of a wording as patterns of an observation, without
// duplicates.
func (b *builder) addPatterns(c *concept, meaning model.Meaning, w wording, from origin) {
	for _, f := range w.forms {
		p := model.DraftPattern{
			Meaning: meaning, Observation: c.Observation, Elements: f.elements,
			AnyOrder: w.anyOrder && len(f.elements) > 1, NamesRelative: b.namesRelative(f.elements),
		}
		key := b.patternKey(p)
		if c.patternKeys[key] {
			continue
		}
		c.patternKeys[key] = true
		b.claimPattern(c, p, from)
		b.draft.Lexicon.Patterns = append(b.draft.Lexicon.Patterns, p)
	}
}
