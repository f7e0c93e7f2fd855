// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// All compiles the content in all languages in parallel. It reports each problem that
// several languages share only once.
func All(content fs.FS) ([]*Result, error) {
	languages, err := source.ListLanguages(content)
	if err != nil {
		return nil, err
	}
	if len(languages) == 0 {
		return nil, errors.New("content has no languages: expected a directory such as lang/en")
	}
	all := make([]languageResult, len(languages))
	var compiling sync.WaitGroup
	for i, language := range languages {
		compiling.Go(func() { all[i].result, all[i].err = Compile(content, language) })
	}
	compiling.Wait()
	return mergeResults(languages, all)
}

// A languageResult is the result of compiling one language.
type languageResult struct {
	result *Result
	err    error
}

// mergeResults returns the results of all languages, or their combined problems.
func mergeResults(languages []string, all []languageResult) ([]*Result, error) {
	var results []*Result
	var problems source.ValidationError
	for i, language := range languages {
		var found source.ValidationError
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
