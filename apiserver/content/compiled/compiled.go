// SPDX-License-Identifier: Apache-2.0

// Package compiled provides the content of the source tree as compiled releases, for
// tests and evaluation commands. Compiling takes seconds, or minutes under the race
// detector. To run many tests or commands, compile once with `apiserver model build`
// and set ANAMNESIS_COMPILED to the output directory. Production code must not use this
// package.
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
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
)

// DirEnvVar is the environment variable with the path of a directory that contains the
// compiled content of this source tree in every language. If unset, each process
// compiles the content itself.
const DirEnvVar = "ANAMNESIS_COMPILED"

// A File is a release file.
type File struct {
	Name string // as returned by model.FileName
	Data []byte
	*model.Release
}

// Release returns the content in a language, such as "en". All callers share the
// release.
func Release(language string) (*model.Release, error) {
	file, err := ForLanguage(language)
	if err != nil {
		return nil, err
	}
	return file.Release, nil
}

// ForLanguage returns the release file of a language. The language may be spelled as in
// its directory name or in its model: en-us or en-US.
func ForLanguage(language string) (File, error) {
	if os.Getenv(DirEnvVar) == "" {
		return compileOnce(strings.ToLower(language))
	}
	files, err := Files()
	if err != nil {
		return File{}, err
	}
	i := slices.IndexFunc(files, func(f File) bool { return strings.EqualFold(f.Meta.Language, language) })
	if i < 0 {
		return File{}, fmt.Errorf("release for language %q not found in %s", language, os.Getenv(DirEnvVar))
	}
	return files[i], nil
}

// Files returns the release files of the content, sorted by name.
var Files = sync.OnceValues(func() (files []File, err error) {
	if directory := os.Getenv(DirEnvVar); directory != "" {
		files, err = readDir(directory)
	} else {
		files, err = compileAll()
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, err
})

// compileCache caches the languages that were compiled individually.
var compileCache struct {
	sync.Mutex
	files map[string]File
}

// compileOnce compiles the embedded content of a language, identified by its directory
// name, on the first call and caches the result.
func compileOnce(language string) (File, error) {
	compileCache.Lock()
	defer compileCache.Unlock()
	if file, ok := compileCache.files[language]; ok {
		return file, nil
	}
	result, err := compile.Compile(content.FS, language)
	if err != nil {
		return File{}, fmt.Errorf("compiling content in language %s:\n%w", language, err)
	}
	file, err := fileFromResult(result)
	if err != nil {
		return File{}, err
	}
	if compileCache.files == nil {
		compileCache.files = map[string]File{}
	}
	compileCache.files[language] = file
	return file, nil
}

// readDir reads the release files in a directory.
func readDir(directory string) ([]File, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.release"))
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(fmt.Errorf("release files not found in %s, the directory in %s: compile the content with `apiserver model build --out`", directory, DirEnvVar), err)
	}
	files := make([]File, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path) //nolint:gosec // the directory is the developer's own
		if err != nil {
			return nil, fmt.Errorf("reading compiled content: %w", err)
		}
		file, err := decodeFile(filepath.Base(path), data)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// compileAll compiles the embedded content in all languages.
func compileAll() ([]File, error) {
	results, err := compile.All(content.FS)
	if err != nil {
		return nil, fmt.Errorf("compiling content:\n%w", err)
	}
	files := make([]File, 0, len(results))
	for _, result := range results {
		file, err := fileFromResult(result)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func fileFromResult(result *compile.Result) (File, error) {
	return decodeFile(model.FileName(result.Meta.ModelID, result.Meta.Version), result.Release)
}

func decodeFile(name string, data []byte) (File, error) {
	release, err := model.Decode(data)
	if err != nil {
		return File{}, fmt.Errorf("opening %s: %w", name, err)
	}
	return File{Name: name, Data: data, Release: release}, nil
}
