// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// layWordings lists what each concept is called, and then every word of it.
func (l *layout) layWordings() {
	r := l.release
	for i, o := range l.draft.Observations {
		l.layConcept(&r.Wordings, Wording{Concept: int32(i)}, o.CommonName, o.Name, o.Synonyms, o.LayWordings)
	}
	for i, c := range l.draft.Conditions {
		l.layConcept(&r.Wordings, Wording{Concept: int32(i), Condition: true}, c.CommonName, c.Name, c.Synonyms, nil)
	}
	r.Words, r.WordUses = l.wordsOf(r.Wordings)
}

// layListWordings lists what drugs, specialists and chronic diseases are called, these
// also as their conditions are.
func (l *layout) layListWordings() {
	r := l.release
	for i, d := range l.draft.Drugs {
		l.layConcept(&r.ListWordings, Wording{Concept: int32(i)}, d.Name, "", slices.Concat(d.Synonyms, d.Brands), nil)
	}
	for i, s := range l.draft.Specialists {
		l.layConcept(&r.ListWordings, Wording{Concept: int32(len(l.draft.Drugs) + i)}, s.Name, "", nil, nil)
	}
	for i, d := range l.draft.ChronicDiseases {
		c := d.Condition
		synonyms := slices.Concat(d.Synonyms, []string{c.CommonName, c.Name}, c.Synonyms)
		l.layConcept(&r.ListWordings, Wording{Concept: int32(len(l.draft.Drugs) + len(l.draft.Specialists) + i)}, d.label(), "", synonyms, nil)
	}
	r.ListWords, r.ListWordUses = l.wordsOf(r.ListWordings)
}

// layConcept adds the wordings of a concept to others, equal ones once.
func (l *layout) layConcept(to *[]Wording, of Wording, commonName, name string, synonyms, layWordings []string) {
	first := len(*to)
	add := func(kind WordingKind, text string) {
		of.Kind, of.Text = kind, l.text(text)
		same := func(w Wording) bool { return w.Text == of.Text }
		if text != "" && !slices.ContainsFunc((*to)[first:], same) {
			*to = append(*to, of)
		}
	}
	add(CommonName, commonName)
	add(Name, name)
	for _, synonym := range synonyms {
		add(Synonym, synonym)
	}
	for _, wording := range layWordings {
		add(LayWording, wording)
	}
}

// wordsOf are the words of wordings, whose numbers it counts. The wordings are
// visited in order, so that the uses of each word come out in it.
func (l *layout) wordsOf(wordings []Wording) (words []Word, wordUses []uint32) {
	uses := map[string][]uint32{}
	for i := range wordings {
		w := &wordings[i]
		for word := range token.Words(l.release.Text(w.Text)) {
			of := uses[word]
			if len(of) == 0 || of[len(of)-1] != uint32(i) {
				uses[word] = append(of, uint32(i))
				w.Words++
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(uses)) {
		words = append(words, Word{Text: l.text(word), Uses: appendSpan(&wordUses, uses[word]...)})
	}
	return words, wordUses
}

// verifyWordings runs before anything reads Condition as a bool.
func verifyWordings(r *Release) error {
	return verifyEachWording(r, r.Wordings, len(r.Observations), len(r.Conditions))
}

// verifyListWordings checks the names of drugs, specialists and chronic diseases and
// their words.
func verifyListWordings(r *Release) error {
	err := verifyEachWording(r, r.ListWordings, len(r.Drugs)+len(r.Specialists)+len(r.ChronicDiseases), 0)
	if err == nil {
		err = verifyWordsOf(r, r.ListWordings, r.ListWords, r.ListWordUses)
	}
	if err != nil {
		return fmt.Errorf("names of drugs, specialists and chronic diseases: %w", err)
	}
	return nil
}

// verifyEachWording checks wordings, of so many concepts without Condition and so
// many with it.
func verifyEachWording(r *Release, wordings []Wording, concepts, conditions int) error {
	for i := range wordings {
		w := &wordings[i]
		if err := verifyWording(r, w, concepts, conditions); err != nil {
			return fmt.Errorf("wording %d: %w", i, err)
		}
		if i > 0 && compareWordings(&wordings[i-1], w) > 0 {
			return fmt.Errorf("wording %d is out of order", i)
		}
	}
	return nil
}

func verifyWording(r *Release, w *Wording, concepts, conditions int) error {
	if err := checkTexts(r, w.Text); err != nil {
		return err
	}
	if w.Text.Length == 0 {
		return errors.New("no text")
	}
	if !isBool(&w.Condition) || !inWords(w.Kind, wordingKindWords) {
		return errors.New("neither of a condition nor of an observation, or of no known kind")
	}
	if w.Condition {
		concepts = conditions
	}
	if w.Concept < 0 || int(w.Concept) >= concepts {
		return fmt.Errorf("concept %d, where there are %d", w.Concept, concepts)
	}
	return nil
}

func compareWordings(a, b *Wording) int {
	if a.Condition != b.Condition {
		if a.Condition {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Concept, b.Concept), cmp.Compare(a.Kind, b.Kind))
}

// verifyWords checks what a search relies on. That the words are those of the
// wordings it takes on trust: others find less, and do no harm.
func verifyWords(r *Release) error { return verifyWordsOf(r, r.Wordings, r.Words, r.WordUses) }

func verifyWordsOf(r *Release, wordings []Wording, list []Word, wordUses []uint32) error {
	uses := tiling{section: "word uses", length: len(wordUses)}
	words := make([]uint32, len(wordings)) // how many each of them has
	for i := range list {
		w := &list[i]
		if err := errors.Join(uses.take(w.Uses), checkTexts(r, w.Text)); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		if w.Text.Length == 0 || i > 0 && compareText(r, list[i-1].Text, w.Text) >= 0 {
			return fmt.Errorf("word %d is empty or out of order", i)
		}
		if err := countUses(Part(wordUses, w.Uses), words); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
	}
	for i := range wordings {
		if counted := wordings[i].Words; uint32(counted) != words[i] {
			return fmt.Errorf("wording %d: %d words, and %d that it uses", i, counted, words[i])
		}
	}
	return uses.done()
}

// countUses adds one to the words of each wording that uses a word.
func countUses(uses []uint32, words []uint32) error {
	if len(uses) == 0 {
		return errors.New("used by nothing")
	}
	last := int64(-1)
	for _, use := range uses {
		if int64(use) <= last || int(use) >= len(words) {
			return fmt.Errorf("used by wording %d behind %d, where there are %d", use, last, len(words))
		}
		last = int64(use)
		words[use]++
	}
	return nil
}
