// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/blevesearch/vellum"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/stem"
)

// trees are the finite state transducers of a release, which lead from text to
// numbers. They read the sections in place; what they hold themselves is a few
// words of memory. Look-ups are safe for concurrent use.
type trees struct {
	vocabulary, stems *tree
	stem              stem.Stemmer // of the release's language
}

// A tree is one of them, with readers that go from look-up to look-up: each has
// room for a state, which a look-up would allocate.
type tree struct {
	*vellum.FST
	readers sync.Pool // of *vellum.Reader
}

// stemmerOf is the stemmer that a release is made with.
func stemmerOf(m Meta) stem.Stemmer {
	stemmer, ok := stem.For(m.Stemmer)
	if !ok {
		stemmer, _ = stem.For(stem.None)
	}
	return stemmer
}

// WordFrequency is how often the wordings of the release use a word, folded,
// 1 and more; ok says whether they do, or the word is an ordinary one of the
// language, which has 1 when no pattern uses it.
func (r *Release) WordFrequency(folded string) (frequency uint64, ok bool) {
	return lookUp(r.trees.vocabulary, folded)
}

// OrdinaryWords is how many words the release knows of its language that no
// pattern uses.
func (r *Release) OrdinaryWords() int {
	if r.trees.vocabulary == nil {
		return 0
	}
	return max(0, r.trees.vocabulary.Len()-len(r.DeleteWords))
}

// FindWord is what the release knows of a folded word, by its stem unless the
// lexicon has it as it is.
func (r *Release) FindWord(folded string) (found Stem, ok bool) {
	if r.trees.stems == nil {
		return Stem{}, false
	}
	if found, ok = r.FindStem(stem.Exact(folded)); ok {
		return found, true
	}
	return r.FindStem(r.trees.stem(folded))
}

// FindStem is what the release knows of a stem.
func (r *Release) FindStem(stem string) (found Stem, ok bool) {
	at, ok := lookUp(r.trees.stems, stem)
	if !ok || at >= uint64(len(r.Stems)) {
		return Stem{}, false
	}
	return r.Stems[at], true
}

func lookUp(t *tree, key string) (value uint64, ok bool) {
	if t == nil {
		return 0, false
	}
	defer func() {
		if damage := recover(); damage != nil {
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

// loadTrees makes the trees of their sections ready to be looked up.
//
// Their states are not visited: that took half of the time of opening a release
// and most of its memory, to find only what the checksum of the section misses,
// a file made to be damaged. Package vellum panics at a step that leads out of a
// tree, and whoever takes one recovers and has found nothing.
func (r *Release) loadTrees() error {
	var err error
	r.trees.stem = stemmerOf(r.Meta)
	if r.trees.vocabulary, err = loadTree(r.Vocabulary); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	if r.trees.stems, err = loadTree(r.StemTree); err != nil {
		return fmt.Errorf("stem tree: %w", err)
	}
	return nil
}

// treeFooter is the size of what stands at the end of a tree: the number of its
// keys, and the address of its first state, 8 bytes each.
const treeFooter = 16

// loadTree makes a tree ready. Its first state must stand in it.
func loadTree(data []byte) (loaded *tree, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	defer recoverDamage(&err)
	fst, err := vellum.Load(data)
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	size := uint64(len(data))
	if first := binary.LittleEndian.Uint64(data[size-treeFooter+8:]); first >= size {
		return nil, fmt.Errorf("damaged: it begins at byte %d of %d", first, size)
	}
	return &tree{FST: fst}, nil
}

// accepted are the keys that an automaton accepts, in order of their bytes; of a
// damaged tree those before the damage.
func (t *tree) accepted(automaton vellum.Automaton) (keys []string) {
	var err error
	defer recoverDamage(&err)
	found, err := t.Search(automaton, nil, nil)
	for ; err == nil; err = found.Next() {
		key, _ := found.Current()
		keys = append(keys, string(key))
	}
	return keys
}

func recoverDamage(err *error) {
	if damage := recover(); damage != nil {
		*err = fmt.Errorf("damaged: %v", damage)
	}
}
