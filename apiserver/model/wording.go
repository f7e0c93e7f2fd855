// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// layWordings lists what each concept is called, and then every word of it.
func (l *layout) layWordings() {
	for i, o := range l.draft.Observations {
		l.layConcept(Wording{Concept: int32(i)}, o.CommonName, o.Name, o.Synonyms, o.LayWordings)
	}
	for i, c := range l.draft.Conditions {
		l.layConcept(Wording{Concept: int32(i), Condition: true}, c.CommonName, c.Name, c.Synonyms, nil)
	}
	l.layWords()
}

// layConcept adds the wordings of a concept, equal ones once.
func (l *layout) layConcept(of Wording, commonName, name string, synonyms, layWordings []string) {
	first := len(l.release.Wordings)
	add := func(kind WordingKind, text string) {
		of.Kind, of.Text = kind, l.text(text)
		same := func(w Wording) bool { return w.Text == of.Text }
		if text != "" && !slices.ContainsFunc(l.release.Wordings[first:], same) {
			l.release.Wordings = append(l.release.Wordings, of)
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

// layWords lists the words of the wordings, which are visited in order, so
// that the uses of each word come out in it.
func (l *layout) layWords() {
	r := l.release
	uses := map[string][]uint32{}
	for i, w := range r.Wordings {
		for word := range token.Words(r.Text(w.Text)) {
			of := uses[word]
			if len(of) == 0 || of[len(of)-1] != uint32(i) {
				uses[word] = append(of, uint32(i))
				r.Wordings[i].Words++
			}
		}
	}
	words := make([]string, 0, len(uses))
	for word := range uses {
		words = append(words, word)
	}
	slices.Sort(words)
	for _, word := range words {
		r.Words = append(r.Words, Word{Text: l.text(word), Uses: appendSpan(&r.WordUses, uses[word]...)})
	}
}

// verifyWordings runs before anything reads Condition as a bool.
func verifyWordings(r *Release) error {
	for i := range r.Wordings {
		w := &r.Wordings[i]
		if err := verifyWording(r, w); err != nil {
			return fmt.Errorf("wording %d: %w", i, err)
		}
		if i > 0 && compareWordings(&r.Wordings[i-1], w) > 0 {
			return fmt.Errorf("wording %d is out of order", i)
		}
	}
	return nil
}

func verifyWording(r *Release, w *Wording) error {
	if err := checkTexts(r, w.Text); err != nil {
		return err
	}
	if w.Text.Length == 0 {
		return errors.New("no text")
	}
	if !isBool(&w.Condition) || !inWords(w.Kind, wordingKindWords) {
		return errors.New("neither of a condition nor of an observation, or of no known kind")
	}
	concepts := len(r.Observations)
	if w.Condition {
		concepts = len(r.Conditions)
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
func verifyWords(r *Release) error {
	uses := tiling{section: "word uses", length: len(r.WordUses)}
	words := make([]uint32, len(r.Wordings)) // how many each of them has
	for i := range r.Words {
		w := &r.Words[i]
		if err := errors.Join(uses.take(w.Uses), checkTexts(r, w.Text)); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		if w.Text.Length == 0 || i > 0 && compareText(r, r.Words[i-1].Text, w.Text) >= 0 {
			return fmt.Errorf("word %d is empty or out of order", i)
		}
		if err := countUses(Part(r.WordUses, w.Uses), words); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
	}
	for i := range r.Wordings {
		if counted := r.Wordings[i].Words; uint32(counted) != words[i] {
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
