// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// All compiles the content in every language that it has, side by side. What is
// wrong with what languages have in common is told once.
func All(content fs.FS) ([]*Result, error) {
	languages, err := source.Languages(content)
	if err != nil {
		return nil, err
	}
	if len(languages) == 0 {
		return nil, errors.New("the content has no language: expected a folder such as lang/en")
	}
	all := make([]outcome, len(languages))
	var compiling sync.WaitGroup
	for i, language := range languages {
		compiling.Go(func() { all[i].result, all[i].err = Compile(content, language) })
	}
	compiling.Wait()
	return merged(languages, all)
}

// An outcome is what became of a language.
type outcome struct {
	result *Result
	err    error
}

// merged are the results of all languages, or the problems of all.
func merged(languages []string, all []outcome) ([]*Result, error) {
	var results []*Result
	var problems source.Error
	for i, language := range languages {
		var found source.Error
		switch err := all[i].err; {
		case errors.As(err, &found):
			for _, p := range found {
				if !slices.Contains(problems, p) {
					problems = append(problems, p)
				}
			}
		case err != nil:
			return nil, fmt.Errorf("compiling language %s: %w", language, err)
		default:
			results = append(results, all[i].result)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return results, nil
}
