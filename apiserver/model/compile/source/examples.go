// SPDX-License-Identifier: Apache-2.0

package source

import "path"

// examplesFiles are the files of a language that free text is learnt from.
const examplesFiles = "examples*.yaml"

// Examples is one file of things that people say.
type Examples struct {
	File string `yaml:"-"`
	// Observations are what those say who have each of them, and mean by it.
	Observations map[Word][]Word `yaml:"observations"`
	// Absent is what those say who do not have each of them, and mean by it.
	Absent map[Word][]Word `yaml:"absent"`
	// Nothing is what says of no observation.
	Nothing []Word `yaml:"nothing"`
}

// examples reads the files of examples in the folder of a language.
func (r *reader) examples(folder string) []*Examples {
	var examples []*Examples
	for _, name := range r.files(folder, ".yaml") {
		if areExamples(folder, name) {
			e := &Examples{}
			decode(name, r.bytes(name), e, r.problems)
			e.File = name
			examples = append(examples, e)
		}
	}
	return examples
}

func areExamples(folder, name string) bool {
	matched, err := path.Match(path.Join(folder, examplesFiles), name)
	return err == nil && matched
}

// examples are those of the language's own or, when it has none and no lexicon
// either, those of its base with the words replaced.
func (d *derivation) examples(own, base *Language) []*Examples {
	if len(own.Examples)+len(own.Lexicons) > 0 {
		return own.Examples
	}
	derived := make([]*Examples, len(base.Examples))
	for i, e := range base.Examples {
		derived[i] = &Examples{
			File: e.File, Observations: mapped(e.Observations, d.wordings), Absent: mapped(e.Absent, d.wordings), Nothing: d.wordings(e.Nothing),
		}
	}
	return derived
}
