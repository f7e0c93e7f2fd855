// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// encodeWordings encodes the names of each concept and the index of their words.
func (l *releaseEncoder) encodeWordings() {
	r := l.release
	for i, o := range l.draft.Observations {
		l.encodeConceptWordings(&r.Wordings, Wording{Concept: int32(i)}, o.CommonName, o.Name, o.Synonyms, o.LayWordings)
	}
	for i, c := range l.draft.Conditions {
		l.encodeConceptWordings(&r.Wordings, Wording{Concept: int32(i), IsCondition: true}, c.CommonName, c.Name, c.Synonyms, nil)
	}
	r.Words, r.WordPostings = l.buildWordIndex(r.Wordings)
}

// encodeListWordings encodes the names of drugs, specialists and chronic diseases.
// Chronic diseases include the names of their conditions.
func (l *releaseEncoder) encodeListWordings() {
	r := l.release
	for i, d := range l.draft.Drugs {
		l.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(i)}, d.Name, "", slices.Concat(d.Synonyms, d.Brands), nil)
	}
	for i, s := range l.draft.Specialists {
		l.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(len(l.draft.Drugs) + i)}, s.Name, "", nil, nil)
	}
	for i, d := range l.draft.ChronicDiseases {
		c := d.Condition
		synonyms := slices.Concat(d.Synonyms, []string{c.CommonName, c.Name}, c.Synonyms)
		l.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(len(l.draft.Drugs) + len(l.draft.Specialists) + i)}, d.displayName(), "", synonyms, nil)
	}
	r.ListWords, r.ListWordPostings = l.buildWordIndex(r.ListWordings)
}

// encodeConceptWordings appends the wordings of a concept, without duplicates.
func (l *releaseEncoder) encodeConceptWordings(to *[]Wording, of Wording, commonName, name string, synonyms, layWordings []string) {
	first := len(*to)
	add := func(kind WordingKind, text string) {
		of.Kind, of.Text = kind, l.internText(text)
		same := func(w Wording) bool { return w.Text == of.Text }
		if text != "" && !slices.ContainsFunc((*to)[first:], same) {
			*to = append(*to, of)
		}
	}
	add(CommonNameWording, commonName)
	add(NameWording, name)
	for _, synonym := range synonyms {
		add(SynonymWording, synonym)
	}
	for _, wording := range layWordings {
		add(LayWording, wording)
	}
}

// buildWordIndex returns the words of wordings and their postings, and sets the word
// count of each wording. It visits wordings in order, so the postings of each word are
// sorted.
func (l *releaseEncoder) buildWordIndex(wordings []Wording) (words []Word, wordUses []uint32) {
	uses := map[string][]uint32{}
	for i := range wordings {
		w := &wordings[i]
		for word := range token.Words(l.release.Text(w.Text)) {
			of := uses[word]
			if len(of) == 0 || of[len(of)-1] != uint32(i) {
				uses[word] = append(of, uint32(i))
				w.WordCount++
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(uses)) {
		words = append(words, Word{Text: l.internText(word), Postings: appendSpan(&wordUses, uses[word]...)})
	}
	return words, wordUses
}

// verifyWordings must run before anything reads IsCondition as a bool.
func verifyWordings(r *Release) error {
	return verifyWordingList(r, r.Wordings, len(r.Observations), len(r.Conditions))
}

// verifyListWordings checks the names of drugs, specialists and chronic diseases and
// their word index.
func verifyListWordings(r *Release) error {
	err := verifyWordingList(r, r.ListWordings, len(r.Drugs)+len(r.Specialists)+len(r.ChronicDiseases), 0)
	if err == nil {
		err = verifyWordIndex(r, r.ListWordings, r.ListWords, r.ListWordPostings)
	}
	if err != nil {
		return fmt.Errorf("names of drugs, specialists and chronic diseases: %w", err)
	}
	return nil
}

// verifyWordingList checks wordings of concepts 0 to concepts-1 without IsCondition and 0
// to conditions-1 with it.
func verifyWordingList(r *Release, wordings []Wording, concepts, conditions int) error {
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
	if err := verifyTexts(r, w.Text); err != nil {
		return err
	}
	if w.Text.Length == 0 {
		return errors.New("no text")
	}
	if !isValidBool(&w.IsCondition) || !isKnownValue(w.Kind, wordingKindValues) {
		return errors.New("invalid condition flag or unknown wording kind")
	}
	if w.IsCondition {
		concepts = conditions
	}
	if w.Concept < 0 || int(w.Concept) >= concepts {
		return fmt.Errorf("concept %d out of range [0,%d)", w.Concept, concepts)
	}
	return nil
}

func compareWordings(a, b *Wording) int {
	if a.IsCondition != b.IsCondition {
		if a.IsCondition {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Concept, b.Concept), cmp.Compare(a.Kind, b.Kind))
}

// verifyWords checks the properties that a search relies on. It does not check that the
// words match the wordings: others find less, and do no harm.
func verifyWords(r *Release) error { return verifyWordIndex(r, r.Wordings, r.Words, r.WordPostings) }

func verifyWordIndex(r *Release, wordings []Wording, list []Word, wordUses []uint32) error {
	uses := spanChecker{section: "word uses", length: len(wordUses)}
	words := make([]uint32, len(wordings)) // number of words of each wording
	for i := range list {
		w := &list[i]
		if err := errors.Join(uses.check(w.Postings), verifyTexts(r, w.Text)); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		if w.Text.Length == 0 || i > 0 && compareText(r, list[i-1].Text, w.Text) >= 0 {
			return fmt.Errorf("word %d is empty or out of order", i)
		}
		if err := countPostings(Slice(wordUses, w.Postings), words); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
	}
	for i := range wordings {
		if counted := wordings[i].WordCount; uint32(counted) != words[i] {
			return fmt.Errorf("wording %d: word count is %d, but %d words refer to it", i, counted, words[i])
		}
	}
	return uses.checkComplete()
}

// countPostings adds one to the word count of each wording that uses a word.
func countPostings(uses []uint32, words []uint32) error {
	if len(uses) == 0 {
		return errors.New("not used by any wording")
	}
	last := int64(-1)
	for _, use := range uses {
		if int64(use) <= last || int(use) >= len(words) {
			return fmt.Errorf("use by wording %d after %d: out of order or out of range [0,%d)", use, last, len(words))
		}
		last = int64(use)
		words[use]++
	}
	return nil
}
