// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// All compiles the content in every language that it has. What is wrong with
// what languages have in common is told once.
func All(content fs.FS) ([]*Result, error) {
	languages, err := source.Languages(content)
	if err != nil {
		return nil, err
	}
	if len(languages) == 0 {
		return nil, errors.New("the content has no language: expected a folder such as lang/en")
	}
	var results []*Result
	var problems source.Error
	for _, language := range languages {
		result, err := Compile(content, language)
		var found source.Error
		switch {
		case errors.As(err, &found):
			for _, p := range found {
				if !slices.Contains(problems, p) {
					problems = append(problems, p)
				}
			}
		case err != nil:
			return nil, fmt.Errorf("compiling language %s: %w", language, err)
		default:
			results = append(results, result)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return results, nil
}
