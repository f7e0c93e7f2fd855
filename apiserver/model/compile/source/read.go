// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Languages are the languages that the content has words in.
func Languages(content fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(content, "lang")
	if err != nil {
		return nil, fmt.Errorf("listing the languages of the content: %w", err)
	}
	var languages []string
	for _, entry := range entries {
		if entry.IsDir() {
			languages = append(languages, entry.Name())
		}
	}
	return languages, nil
}

// ReadCore reads everything under core. What does not have the form of
// content is added to the problems; the error is for files that cannot be
// read at all.
func ReadCore(content fs.FS, problems *Problems) (*Core, error) {
	core := &Core{}
	release := releaseFile{}
	r := reader{content: content, problems: problems}
	r.read(ReleaseFile, &release)
	core.Version, core.Course = release.Version, release.Course
	r.read(RegistryFile, &core.Registry)
	for _, name := range r.files("core", ".yaml", ReleaseFile, RegistryFile) {
		file := coreFile{}
		r.read(name, &file)
		core.add(name, file)
	}
	return core, r.err
}

func (core *Core) add(name string, file coreFile) {
	for _, o := range present(file.Observations) {
		o.File = name
		core.Observations = append(core.Observations, o)
	}
	for _, g := range present(file.Groups) {
		g.File = name
		core.Groups = append(core.Groups, g)
	}
	for _, t := range present(file.Tuples) {
		t.File = name
		core.Tuples = append(core.Tuples, t)
	}
	for _, a := range present(file.Alike) {
		a.File = name
		core.Alike = append(core.Alike, a)
	}
	for _, t := range present(file.LabTests) {
		t.File = name
		core.LabTests = append(core.LabTests, t)
	}
	for _, c := range present(file.Conditions) {
		c.File = name
		core.Conditions = append(core.Conditions, c)
	}
	for _, d := range present(file.Drugs) {
		d.File = name
		core.Drugs = append(core.Drugs, d)
	}
	for _, d := range present(file.ChronicDiseases) {
		d.File = name
		core.ChronicDiseases = append(core.ChronicDiseases, d)
	}
	for _, factor := range file.Hospitalizations {
		core.Hospitalizations = append(core.Hospitalizations, &Hospitalization{File: name, Factor: factor})
	}
}

// present leaves out the empty entries of a list: a dash with nothing behind.
func present[T any](list []*T) []*T {
	return slices.DeleteFunc(list, func(entry *T) bool { return entry == nil })
}

// ReadLanguage reads the words of one language, as ReadCore reads the core. A
// derived language has those of its base too.
func ReadLanguage(content fs.FS, language string, problems *Problems) (*Language, error) {
	own, err := readFolder(content, language, problems)
	if err != nil {
		return nil, err
	}
	base, err := readBase(content, own, problems)
	if err != nil || base == nil {
		return own, err
	}
	return derive(base, own, problems), nil
}

// readFolder reads what stands in the folder of a language.
func readFolder(content fs.FS, language string, problems *Problems) (*Language, error) {
	folder := path.Join("lang", language)
	words := &Language{File: path.Join(folder, languageFile)}
	r := reader{content: content, problems: problems}
	r.read(words.File, words)
	words.Lexicons = r.lexicons(folder)
	words.Examples = r.examples(folder)
	words.OrdinaryWords = r.ordinaryWords(folder)
	for _, name := range r.files(folder, ".yaml", words.File) {
		if isLexicon(folder, name) || areExamples(folder, name) {
			continue
		}
		file := wordsFile{}
		r.read(name, &file)
		words.add(name, file)
	}
	for _, name := range r.files(folder, articleExt) {
		if path.Dir(name) == path.Join(folder, articles) {
			words.Articles = append(words.Articles, ParseArticle(name, r.bytes(name), problems))
		}
	}
	return words, r.err
}

func (l *Language) add(name string, file wordsFile) {
	for _, slug := range byLine(file.Conditions) {
		w := file.Conditions[slug]
		l.Conditions = append(l.Conditions, &Words{File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName, Hint: w.Hint, Synonyms: w.Synonyms})
	}
	for _, slug := range byLine(file.Observations) {
		w := file.Observations[slug]
		l.Observations = append(l.Observations, &Words{
			File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName,
			Question: w.Question, QuestionThirdPerson: w.QuestionThirdPerson, Synonyms: w.Synonyms,
		})
	}
	for _, slug := range byLine(file.Groups) {
		w := file.Groups[slug]
		l.Groups = append(l.Groups, &Words{File: name, Slug: slug, Question: w.Question, QuestionThirdPerson: w.QuestionThirdPerson})
	}
	for _, slug := range byLine(file.LabTests) {
		w := file.LabTests[slug]
		l.LabTests = append(l.LabTests, &Words{File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName})
	}
	for _, slug := range byLine(file.Drugs) {
		w := file.Drugs[slug]
		l.Drugs = append(l.Drugs, &Words{File: name, Slug: slug, Name: w.Name, Synonyms: w.Synonyms, Brands: w.Brands})
	}
	for _, slug := range byLine(file.ChronicDiseases) {
		w := file.ChronicDiseases[slug]
		l.ChronicDiseases = append(l.ChronicDiseases, &Words{File: name, Slug: slug, Name: w.Name, Synonyms: w.Synonyms})
	}
}

// byLine are the keys of a mapping as they stand in the file.
func byLine[V any](mapping map[Word]V) []Word {
	return ByLine(maps.Keys(mapping))
}

// reader reads files and keeps the first reason why one could not be.
type reader struct {
	content  fs.FS
	problems *Problems
	err      error
}

// files are the files under a folder with an extension, but for some.
func (r *reader) files(folder, ext string, but ...string) []string {
	var names []string
	err := fs.WalkDir(r.content, folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ext && !slices.Contains(but, name) {
			names = append(names, name)
		}
		return err
	})
	r.fail(err)
	return names
}

// bytes are those of a file that is there.
func (r *reader) bytes(name string) []byte {
	data, err := fs.ReadFile(r.content, name)
	r.fail(err)
	return data
}

func (r *reader) fail(err error) {
	if err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("reading the content: %w", err))
	}
}

// read decodes a file that must be there.
func (r *reader) read(name string, into any) {
	data, err := fs.ReadFile(r.content, name)
	if errors.Is(err, fs.ErrNotExist) {
		r.problems.Add(Position{File: name}, "this file is missing")
		return
	}
	if err != nil {
		r.fail(err)
		return
	}
	decode(name, data, into, r.problems)
}

// decode reads YAML strictly: a key that its form does not have is a problem.
func decode(name string, data []byte, into any, problems *Problems) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if errors.Is(err, io.EOF) {
		return
	}
	if messages, ok := asTypeError(err); ok {
		for _, message := range messages {
			problems.add(name, message)
		}
	} else if err != nil {
		problems.broken = true
		problems.add(name, strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		problems.Add(Position{File: name}, "a second document, behind a line of three dashes, is not read: make it a file of its own")
	}
}

// The messages of package yaml begin with the line; some name our types, which
// are nothing to their reader.
var (
	messageLine = regexp.MustCompile(`^line (\d+): `)
	unknownKey  = regexp.MustCompile(`^field (\S+) not found in type .*`)
	noList      = regexp.MustCompile(`^cannot unmarshal .* into \[\].*`)
	noMapping   = regexp.MustCompile(`^cannot unmarshal .* into .*`)
)

// add notes what package yaml says is wrong with a file.
func (p *Problems) add(name, message string) {
	at := Position{File: name}
	if match := messageLine.FindStringSubmatch(message); match != nil {
		at.Line, _ = strconv.Atoi(match[1])
		message = message[len(match[0]):]
	}
	message = unknownKey.ReplaceAllString(message, "unknown key $1")
	message = noList.ReplaceAllString(message, "expected a list")
	message = noMapping.ReplaceAllString(message, "expected keys with values")
	if strings.HasPrefix(message, "mapping key ") {
		p.broken = true // a mapping with a key twice is not read at all
	}
	p.Add(at, "%s", message)
}

// ByLine sorts words by line, those on one line by their text.
func ByLine(words func(yield func(Word) bool)) []Word {
	return slices.SortedFunc(words, func(a, b Word) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
}
