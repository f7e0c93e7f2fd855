// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// concept is an observation with what its wordings refer to.
type concept struct {
	Concept
	wordings []source.Word // of the files, in order
	files    []string      // of each of them
	// spoken are the forms that a reference stands for, once they are known.
	spoken    *wording
	resolving bool
	laid      map[string]bool // patterns that it has, by all that is in them
}

// addObservations adds the names of all observations, and then what the files
// say of them.
func (b *builder) addObservations(files []*source.Lexicon) {
	for _, c := range b.concepts {
		b.bySlug[c.Slug] = &concept{Concept: c, laid: map[string]bool{}}
	}
	b.eachEntry(files, func(c *concept, file string, forms source.ObservationForms) {
		for _, word := range forms.Wordings {
			c.wordings, c.files = append(c.wordings, word), append(c.files, file)
		}
	})
	for _, c := range b.concepts {
		b.addNames(b.bySlug[c.Slug])
	}
	for _, c := range b.concepts {
		b.addWordings(b.bySlug[c.Slug])
	}
	b.eachEntry(files, func(c *concept, file string, forms source.ObservationForms) {
		for _, word := range forms.After {
			b.addRefusing(c, model.MentionsAfter, source.Position{File: file, Line: word.Line}, word.Text)
		}
		for _, word := range forms.Absent {
			b.addRefusing(c, model.MentionsAbsent, source.Position{File: file, Line: word.Line}, word.Text)
		}
	})
}

// eachEntry visits what the files say of each observation, in their order.
func (b *builder) eachEntry(files []*source.Lexicon, visit func(c *concept, file string, forms source.ObservationForms)) {
	for _, file := range files {
		for _, slug := range source.ByLine(keys(file.Observations)) {
			at := source.Position{File: file.File, Line: slug.Line}
			if c := b.bySlug[slug.Text]; c != nil {
				visit(c, file.File, file.Observations[slug])
			} else if !b.unknown[at] {
				b.unknown[at] = true
				b.problems.Add(at, "unknown observation %s: no file under core defines it as a symptom or a risk factor", slug.Text)
			}
		}
	}
}

// names are what an observation is called.
func (c *concept) names() []source.Word {
	if c.Words == nil {
		return nil
	}
	var names []source.Word
	for _, name := range append([]source.Word{c.Words.Name, c.Words.CommonName}, c.Words.Synonyms...) {
		if name.Text != "" {
			names = append(names, name)
		}
	}
	return names
}

// addNames adds names and synonyms. One that is too long for anybody to say, or
// made of fillers, is left out.
func (b *builder) addNames(c *concept) {
	for _, name := range c.names() {
		if w, err := b.resolveName(name.Text); err == nil {
			b.lay(c, model.Mentions, w, claim{slug: c.Slug, at: source.Position{File: c.Words.File, Line: name.Line}, named: true, text: name.Text})
		}
	}
}

// resolveName reads a name. One of which a single word is left without fillers,
// as of "the runs" or "feeling down", is said with them and in its order, or
// every text that has the word would mean it.
func (b *builder) resolveName(name string) (wording, error) {
	w, err := b.resolve(pattern.Name(name), loose, nil)
	if err != nil || !w.single() {
		return w, err
	}
	w, err = b.resolve(pattern.Name(name), literal, nil)
	w.anyOrder = false
	return w, err
}

// single reports whether every form of the wording is one element.
func (w wording) single() bool {
	return !slices.ContainsFunc(w.forms, func(f form) bool { return len(f.elements) > 1 })
}

func (b *builder) addWordings(c *concept) {
	for i, word := range c.wordings {
		at := source.Position{File: c.files[i], Line: word.Line}
		if b.addRefusing(c, model.Mentions, at, word.Text) {
			b.addSpoken(c, word.Text)
		}
	}
}

// addRefusing adds a wording, or says why it is none.
func (b *builder) addRefusing(c *concept, meaning model.Meaning, at source.Position, text string) bool {
	w, err := b.parseReferring(text, loose, func(slug string) (wording, error) { return b.referred(c, slug) })
	if err != nil {
		b.problems.Add(at, "%q of %s: %v", text, c.Slug, err)
		return false
	}
	b.lay(c, meaning, w, claim{slug: c.Slug, at: at, text: text})
	return true
}

// referred are the forms of all wordings of an observation that another refers
// to.
func (b *builder) referred(from *concept, slug string) (wording, error) {
	c := b.bySlug[slug]
	switch {
	case c == nil:
		return wording{}, fmt.Errorf("@%s refers to no symptom or risk factor", slug)
	case c == from:
		return wording{}, errors.New("refers to its own observation")
	case c.resolving:
		return wording{}, fmt.Errorf("@%s goes round in a circle", slug)
	case c.spoken != nil:
		return *c.spoken, nil
	}
	c.resolving = true
	defer func() { c.resolving = false }()
	all := union{seen: map[string]bool{}}
	for _, name := range c.names() {
		if w, err := b.resolveName(name.Text); err == nil {
			all.add(w, b.key)
		}
	}
	for _, word := range c.wordings {
		w, err := b.parseReferring(word.Text, loose, func(slug string) (wording, error) { return b.referred(c, slug) })
		if err != nil {
			return wording{}, fmt.Errorf("@%s: %w", slug, err)
		}
		all.add(w, b.key)
	}
	c.spoken = &all.wording
	return all.wording, nil
}

// union is the forms of several wordings.
type union struct {
	wording
	seen map[string]bool
}

// add adds the forms of another wording that the union does not have.
func (u *union) add(w wording, key func(model.DraftPattern) string) {
	u.anyOrder = u.anyOrder || w.anyOrder
	for _, f := range w.forms {
		terms := key(model.DraftPattern{Elements: f.elements, AnyOrder: w.anyOrder})
		if !u.seen[terms] {
			u.seen[terms] = true
			u.forms = append(u.forms, f)
		}
	}
}

// addSpoken makes a wording one that a search finds, if it can be said.
func (b *builder) addSpoken(c *concept, text string) {
	w, err := pattern.Parse(text)
	if err != nil {
		return
	}
	spoken, ok := w.Spoken(func(name string) string {
		if of := b.classes[name]; of != nil {
			return of.spoken
		}
		return ""
	})
	if ok {
		c.Observation.LayWordings = append(c.Observation.LayWordings, spoken)
	}
}

// lay adds the forms of a wording as patterns of an observation, each once.
func (b *builder) lay(c *concept, meaning model.Meaning, w wording, by claim) {
	for _, f := range w.forms {
		p := model.DraftPattern{
			Meaning: meaning, Observation: c.Observation, Elements: f.elements,
			AnyOrder: w.anyOrder && len(f.elements) > 1, Relative: b.namesRelative(f.elements),
		}
		key := b.key(p)
		if c.laid[key] {
			continue
		}
		c.laid[key] = true
		b.claim(c, p, by)
		b.draft.Lexicon.Patterns = append(b.draft.Lexicon.Patterns, p)
	}
}
