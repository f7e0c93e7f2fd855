// SPDX-License-Identifier: Apache-2.0

// Package compiled is the content of the tree as releases, for the tests and the
// commands that judge it. Compiling takes seconds, and minutes under the race
// detector, so who runs many of them compiles it once, with `apiserver model
// build`, and names the directory in the environment. Nothing that serves may
// use this package.
package compiled

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

// Variable names in the environment a directory that holds the content of this
// tree compiled, every language. Unset, each process compiles for itself.
const Variable = "ANAMNESIS_COMPILED"

// A File is a release file.
type File struct {
	Name string // as model.FileName gives it
	Data []byte
	*model.Release
}

// Release is the content in a language, such as "en". The release is shared by
// all who ask for it.
func Release(language string) (*model.Release, error) {
	file, err := In(language)
	if err != nil {
		return nil, err
	}
	return file.Release, nil
}

// In is the file of the content in a language, spelt as its folder or as its model has it:
// en-us or en-US.
func In(language string) (File, error) {
	if os.Getenv(Variable) == "" {
		return compileOnce(strings.ToLower(language))
	}
	files, err := All()
	if err != nil {
		return File{}, err
	}
	at := slices.IndexFunc(files, func(f File) bool { return strings.EqualFold(f.Meta.Language, language) })
	if at < 0 {
		return File{}, fmt.Errorf("the content in %s is in no language %q", os.Getenv(Variable), language)
	}
	return files[at], nil
}

// All are the files of the content, by name.
var All = sync.OnceValues(func() (files []File, err error) {
	if directory := os.Getenv(Variable); directory != "" {
		files, err = read(directory)
	} else {
		files, err = compileAll()
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, err
})

// alone are the languages that were compiled by themselves.
var alone struct {
	sync.Mutex
	files map[string]File
}

// compileOnce compiles the content that the program was built with in the language of a
// folder, the first time.
func compileOnce(language string) (File, error) {
	alone.Lock()
	defer alone.Unlock()
	if file, ok := alone.files[language]; ok {
		return file, nil
	}
	result, err := compile.Compile(content.FS, language)
	if err != nil {
		return File{}, fmt.Errorf("the content in %s has problems:\n%w", language, err)
	}
	file, err := open(result)
	if err != nil {
		return File{}, err
	}
	if alone.files == nil {
		alone.files = map[string]File{}
	}
	alone.files[language] = file
	return file, nil
}

// read reads the files of a directory.
func read(directory string) ([]File, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.release"))
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(fmt.Errorf("%s names %s, which holds no release: compile the content with `apiserver model build --out`", Variable, directory), err)
	}
	files := make([]File, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path) //nolint:gosec // the directory is the developer's own
		if err != nil {
			return nil, fmt.Errorf("reading the compiled content: %w", err)
		}
		file, err := decode(filepath.Base(path), data)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// compileAll compiles the content that the program was built with.
func compileAll() ([]File, error) {
	results, err := compile.All(content.FS)
	if err != nil {
		return nil, fmt.Errorf("the content has problems:\n%w", err)
	}
	files := make([]File, 0, len(results))
	for _, result := range results {
		file, err := open(result)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func open(result *compile.Result) (File, error) {
	return decode(model.FileName(result.Meta.ModelID, result.Meta.Version), result.Release)
}

func decode(name string, data []byte) (File, error) {
	release, err := model.Decode(data)
	if err != nil {
		return File{}, fmt.Errorf("opening %s: %w", name, err)
	}
	return File{Name: name, Data: data, Release: release}, nil
}
