// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/blevesearch/vellum"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
)

// fstIndexes holds the finite-state transducers of a release, which map text to
// numbers. They read the sections in place and use only a few words of memory of their
// own. Lookups are safe for concurrent use.
type fstIndexes struct {
	vocabulary, stems *fstIndex
	stem              stem.Stemmer // for the release's language
}

// An fstIndex is a transducer with a pool of readers. A reader holds the buffer for a
// state, which each lookup would otherwise have to allocate.
type fstIndex struct {
	*vellum.FST
	readers sync.Pool // of *vellum.Reader
}

// stemmerFor returns the stemmer specified in the release metadata, or no stemmer if it
// is unknown.
func stemmerFor(m Meta) stem.Stemmer {
	stemmer, ok := stem.ByName(m.Stemmer)
	if !ok {
		stemmer, _ = stem.ByName(stem.None)
	}
	return stemmer
}

// WordFrequency returns the number of uses of a folded word in the wordings of the
// release, but at least 1. ok is false if the word is unknown. Ordinary words of the
// language that no pattern uses have a frequency of 1.
func (r *Release) WordFrequency(folded string) (frequency uint64, ok bool) {
	return lookup(r.fsts.vocabulary, folded)
}

// OrdinaryWordCount returns the number of known words in the language that no pattern
// uses.
func (r *Release) OrdinaryWordCount() int {
	if r.fsts.vocabulary == nil {
		return 0
	}
	return max(0, r.fsts.vocabulary.Len()-len(r.DeletionWords))
}

// FindWord returns the entry of a folded word: the entry of its stem, unless the lexicon
// lists the exact word.
func (r *Release) FindWord(folded string) (found Stem, ok bool) {
	if r.fsts.stems == nil {
		return Stem{}, false
	}
	if found, ok = r.FindStem(stem.Exact(folded)); ok {
		return found, true
	}
	return r.FindStem(r.fsts.stem(folded))
}

// FindStem returns the entry of a stem.
func (r *Release) FindStem(stem string) (found Stem, ok bool) {
	index, ok := lookup(r.fsts.stems, stem)
	if !ok || index >= uint64(len(r.Stems)) {
		return Stem{}, false
	}
	return r.Stems[index], true
}

func lookup(t *fstIndex, key string) (value uint64, ok bool) {
	if t == nil {
		return 0, false
	}
	defer func() {
		if cause := recover(); cause != nil {
			value, ok = 0, false
		}
	}()
	reader, _ := t.readers.Get().(*vellum.Reader)
	if reader == nil {
		var err error
		if reader, err = t.Reader(); err != nil {
			return 0, false
		}
	}
	value, ok, err := reader.Get([]byte(key))
	t.readers.Put(reader)
	return value, ok && err == nil
}

// loadFSTs loads the transducers from their sections.
//
// It does not traverse their states. Traversal took half of the time and most of the
// memory of opening a release, and detects only damage that the section checksum
// misses, in a deliberately corrupted file. Package vellum panics on a transition that
// leads out of the transducer; lookups recover and return no result.
func (r *Release) loadFSTs() error {
	var err error
	r.fsts.stem = stemmerFor(r.Meta)
	if r.fsts.vocabulary, err = loadFST(r.VocabularyFST); err != nil {
		return fmt.Errorf("loading vocabulary FST: %w", err)
	}
	if r.fsts.stems, err = loadFST(r.StemFST); err != nil {
		return fmt.Errorf("loading stem FST: %w", err)
	}
	return nil
}

// fstFooterSize is the size of the footer of a transducer: its number of keys and the
// address of its first state, 8 bytes each.
const fstFooterSize = 16

// loadFST loads a transducer. It returns an error if the first state lies outside data.
func loadFST(data []byte) (loaded *fstIndex, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	defer recoverCorruption(&err)
	fst, err := vellum.Load(data)
	if err != nil {
		return nil, fmt.Errorf("corrupt FST: %w", err)
	}
	size := uint64(len(data))
	if first := binary.LittleEndian.Uint64(data[size-fstFooterSize+8:]); first >= size {
		return nil, fmt.Errorf("corrupt FST: root offset %d exceeds the size of %d bytes", first, size)
	}
	return &fstIndex{FST: fst}, nil
}

// matchingKeys returns the keys that an automaton accepts, in byte order. If the
// transducer is corrupt, it returns the keys before the corruption.
func (i *fstIndex) matchingKeys(automaton vellum.Automaton) (keys []string) {
	var err error
	defer recoverCorruption(&err)
	found, err := i.Search(automaton, nil, nil)
	for ; err == nil; err = found.Next() {
		key, _ := found.Current()
		keys = append(keys, string(key))
	}
	return keys
}

func recoverCorruption(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("corrupt FST: %v", cause)
	}
}
