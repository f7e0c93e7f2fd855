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
func (e *releaseEncoder) encodeWordings() {
	r := e.release
	for i, o := range e.draft.Observations {
		e.encodeConceptWordings(&r.Wordings, Wording{Concept: int32(i)}, o.CommonName, o.Name, o.Synonyms, o.LayWordings)
	}
	for i, c := range e.draft.Conditions {
		e.encodeConceptWordings(&r.Wordings, Wording{Concept: int32(i), IsCondition: true}, c.CommonName, c.Name, c.Synonyms, nil)
	}
	r.Words, r.WordPostings = e.buildWordIndex(r.Wordings)
}

// encodeListWordings encodes the names of drugs, specialists and chronic diseases.
// Chronic diseases include the names of their conditions.
func (e *releaseEncoder) encodeListWordings() {
	r := e.release
	for i, d := range e.draft.Drugs {
		e.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(i)}, d.Name, "", slices.Concat(d.Synonyms, d.Brands), nil)
	}
	for i, s := range e.draft.Specialists {
		e.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(len(e.draft.Drugs) + i)}, s.Name, "", nil, nil)
	}
	for i, d := range e.draft.ChronicDiseases {
		c := d.Condition
		synonyms := slices.Concat(d.Synonyms, []string{c.CommonName, c.Name}, c.Synonyms)
		e.encodeConceptWordings(&r.ListWordings, Wording{Concept: int32(len(e.draft.Drugs) + len(e.draft.Specialists) + i)}, d.displayName(), "", synonyms, nil)
	}
	r.ListWords, r.ListWordPostings = e.buildWordIndex(r.ListWordings)
}

// encodeConceptWordings appends the wordings of a concept, without duplicates.
func (e *releaseEncoder) encodeConceptWordings(to *[]Wording, entry Wording, commonName, name string, synonyms, layWordings []string) {
	first := len(*to)
	add := func(kind WordingKind, text string) {
		entry.Kind, entry.Text = kind, e.internText(text)
		isSame := func(w Wording) bool { return w.Text == entry.Text }
		if text != "" && !slices.ContainsFunc((*to)[first:], isSame) {
			*to = append(*to, entry)
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
func (e *releaseEncoder) buildWordIndex(wordings []Wording) (words []Word, allPostings []uint32) {
	byWord := map[string][]uint32{}
	for i := range wordings {
		w := &wordings[i]
		for word := range token.Words(e.release.Text(w.Text)) {
			postings := byWord[word]
			if len(postings) == 0 || postings[len(postings)-1] != uint32(i) {
				byWord[word] = append(postings, uint32(i))
				w.WordCount++
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		words = append(words, Word{Text: e.internText(word), Postings: appendSpan(&allPostings, byWord[word]...)})
	}
	return words, allPostings
}

// verifyWordings must run before any code reads IsCondition as a bool.
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
		return fmt.Errorf("verifying names of drugs, specialists and chronic diseases: %w", err)
	}
	return nil
}

// verifyWordingList checks wordings that may refer to concepts 0 to concepts-1 without
// IsCondition, and to concepts 0 to conditions-1 with IsCondition.
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
		return errors.New("missing text")
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

// verifyWords checks the invariants on which searches rely. It does not check that the
// words match the wordings, because wrong words only reduce the search results.
func verifyWords(r *Release) error { return verifyWordIndex(r, r.Wordings, r.Words, r.WordPostings) }

func verifyWordIndex(r *Release, wordings []Wording, list []Word, wordPostings []uint32) error {
	postings := spanChecker{section: "word postings", length: len(wordPostings)}
	words := make([]uint32, len(wordings)) // number of words of each wording
	for i := range list {
		w := &list[i]
		if err := errors.Join(postings.check(w.Postings), verifyTexts(r, w.Text)); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		if w.Text.Length == 0 || i > 0 && compareText(r, list[i-1].Text, w.Text) >= 0 {
			return fmt.Errorf("word %d is empty or out of order", i)
		}
		if err := countPostings(Slice(wordPostings, w.Postings), words); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
	}
	for i := range wordings {
		if counted := wordings[i].WordCount; uint32(counted) != words[i] {
			return fmt.Errorf("wording %d: word count is %d, but %d words refer to the wording", i, counted, words[i])
		}
	}
	return postings.checkComplete()
}

// countPostings increments the word count of each wording that uses a word.
func countPostings(wordings []uint32, counts []uint32) error {
	if len(wordings) == 0 {
		return errors.New("not used in any wording")
	}
	last := int64(-1)
	for _, wording := range wordings {
		if int64(wording) <= last || int(wording) >= len(counts) {
			return fmt.Errorf("wording %d after %d is out of order or out of range [0,%d)", wording, last, len(counts))
		}
		last = int64(wording)
		counts[wording]++
	}
	return nil
}
