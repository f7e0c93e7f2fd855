// SPDX-License-Identifier: Apache-2.0

package source

import "path"

// examplesGlob matches the files with example sentences for training free-text parsing.
const examplesGlob = "examples*.yaml"

// Examples is one file of example sentences.
type Examples struct {
	File string `yaml:"-"`
	// Observations are sentences of patients who have the observation and refer to it.
	Observations map[Scalar][]Scalar `yaml:"observations"`
	// Absent are sentences of patients who do not have the observation and refer to it.
	Absent map[Scalar][]Scalar `yaml:"absent"`
	// Unrelated are sentences that mention no observation.
	Unrelated []Scalar `yaml:"nothing"`
}

// readExamples reads the example files in the directory of a language.
func (r *reader) readExamples(folder string) []*Examples {
	var examples []*Examples
	for _, name := range r.listFiles(folder, ".yaml") {
		if isExamplesFile(folder, name) {
			e := &Examples{}
			decodeYAML(name, r.readFile(name), e, r.problems)
			e.File = name
			examples = append(examples, e)
		}
	}
	return examples
}

func isExamplesFile(folder, name string) bool {
	matched, err := path.Match(path.Join(folder, examplesGlob), name)
	return err == nil && matched
}

// inheritExamples returns the language's own examples. If it has neither examples nor a
// lexicon, it returns the examples of its base with words replaced.
func (d *derivation) inheritExamples(own, base *Language) []*Examples {
	if len(own.Examples)+len(own.Lexicons) > 0 {
		return own.Examples
	}
	derived := make([]*Examples, len(base.Examples))
	for i, e := range base.Examples {
		derived[i] = &Examples{
			File: e.File, Observations: mapValues(e.Observations, d.replaceInWordings), Absent: mapValues(e.Absent, d.replaceInWordings), Unrelated: d.replaceInWordings(e.Unrelated),
		}
	}
	return derived
}
