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

// ListLanguages returns the languages of the content.
func ListLanguages(content fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(content, "lang")
	if err != nil {
		return nil, fmt.Errorf("listing content languages: %w", err)
	}
	var languages []string
	for _, entry := range entries {
		if entry.IsDir() {
			languages = append(languages, entry.Name())
		}
	}
	return languages, nil
}

// ReadCore reads all files under core. It reports syntax errors as problems, and
// returns an error only if a file cannot be read.
func ReadCore(content fs.FS, problems *Problems) (*Core, error) {
	core := &Core{}
	release := releaseFile{}
	r := reader{content: content, problems: problems}
	r.readYAML(ReleaseFile, &release)
	core.Version, core.LeakCourse = release.Version, release.Course
	r.readYAML(RegistryFile, &core.Registry)
	for _, name := range r.listFiles("core", ".yaml", ReleaseFile, RegistryFile) {
		file := coreFile{}
		r.readYAML(name, &file)
		core.add(name, file)
	}
	return core, r.err
}

// add appends the entries of a file.
func (core *Core) add(name string, file coreFile) {
	core.Observations = appendEntries(core.Observations, name, file.Observations, func(o *Observation) *string { return &o.File })
	core.Groups = appendEntries(core.Groups, name, file.Groups, func(g *Group) *string { return &g.File })
	core.Tuples = appendEntries(core.Tuples, name, file.Tuples, func(t *Tuple) *string { return &t.File })
	core.SimilarPairs = appendEntries(core.SimilarPairs, name, file.SimilarPairs, func(p *SimilarPair) *string { return &p.File })
	core.LabTests = appendEntries(core.LabTests, name, file.LabTests, func(t *LabTest) *string { return &t.File })
	core.Conditions = appendEntries(core.Conditions, name, file.Conditions, func(c *Condition) *string { return &c.File })
	core.Drugs = appendEntries(core.Drugs, name, file.Drugs, func(d *Drug) *string { return &d.File })
	core.ChronicDiseases = appendEntries(core.ChronicDiseases, name, file.ChronicDiseases, func(d *ChronicDisease) *string { return &d.File })
	for _, factor := range file.Hospitalizations {
		core.Hospitalizations = append(core.Hospitalizations, &Hospitalization{File: name, RiskFactor: factor})
	}
}

// appendEntries appends the entries of a list in a file, and sets the file name of
// each. It skips empty entries, which are a dash with no value.
func appendEntries[T any](list []*T, name string, entries []*T, file func(*T) *string) []*T {
	for _, entry := range entries {
		if entry == nil {
			continue
		}
		*file(entry) = name
		list = append(list, entry)
	}
	return list
}

// ReadLanguage reads the texts of one language, with errors as in ReadCore. A derived
// language includes the texts of its base.
func ReadLanguage(content fs.FS, language string, problems *Problems) (*Language, error) {
	own, err := readLanguageDir(content, language, problems)
	if err != nil {
		return nil, err
	}
	base, err := readBase(content, own, problems)
	if err != nil || base == nil {
		return own, err
	}
	return derive(base, own, problems), nil
}

// readLanguageDir reads the directory of a language.
func readLanguageDir(content fs.FS, language string, problems *Problems) (*Language, error) {
	folder := path.Join("lang", language)
	words := &Language{File: path.Join(folder, languageFile)}
	r := reader{content: content, problems: problems}
	r.readYAML(words.File, words)
	words.Lexicons = r.readLexicons(folder)
	words.Examples = r.readExamples(folder)
	words.OrdinaryWords = r.readOrdinaryWords(folder)
	for _, name := range r.listFiles(folder, ".yaml", words.File) {
		if isLexiconFile(folder, name) || isExamplesFile(folder, name) {
			continue
		}
		file := localizationFile{}
		r.readYAML(name, &file)
		words.add(name, file)
	}
	for _, name := range r.listFiles(folder, articleExt) {
		if path.Dir(name) == path.Join(folder, articlesDir) {
			words.Articles = append(words.Articles, ParseArticle(name, r.readFile(name), problems))
		}
	}
	return words, r.err
}

func (l *Language) add(name string, file localizationFile) {
	for _, slug := range keysByLine(file.Conditions) {
		w := file.Conditions[slug]
		l.Conditions = append(l.Conditions, &Localization{File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName, Hint: w.Hint, Synonyms: w.Synonyms})
	}
	for _, slug := range keysByLine(file.Observations) {
		w := file.Observations[slug]
		l.Observations = append(l.Observations, &Localization{
			File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName,
			Question: w.Question, QuestionThirdPerson: w.QuestionThirdPerson, Synonyms: w.Synonyms,
		})
	}
	for _, slug := range keysByLine(file.Groups) {
		w := file.Groups[slug]
		l.Groups = append(l.Groups, &Localization{File: name, Slug: slug, Question: w.Question, QuestionThirdPerson: w.QuestionThirdPerson})
	}
	for _, slug := range keysByLine(file.LabTests) {
		w := file.LabTests[slug]
		l.LabTests = append(l.LabTests, &Localization{File: name, Slug: slug, Name: w.Name, CommonName: w.CommonName})
	}
	for _, slug := range keysByLine(file.Drugs) {
		w := file.Drugs[slug]
		l.Drugs = append(l.Drugs, &Localization{File: name, Slug: slug, Name: w.Name, Synonyms: w.Synonyms, Brands: w.Brands})
	}
	for _, slug := range keysByLine(file.ChronicDiseases) {
		w := file.ChronicDiseases[slug]
		l.ChronicDiseases = append(l.ChronicDiseases, &Localization{File: name, Slug: slug, Name: w.Name, Synonyms: w.Synonyms})
	}
}

// keysByLine returns the keys of a mapping in file order.
func keysByLine[V any](mapping map[Scalar]V) []Scalar {
	return SortByLine(maps.Keys(mapping))
}

// reader reads files and keeps the first read error.
type reader struct {
	content  fs.FS
	problems *Problems
	err      error
}

// listFiles returns the files under a directory with an extension, except the excluded
// files and the files under texts, which are not part of a release.
func (r *reader) listFiles(folder, ext string, excluded ...string) []string {
	var names []string
	err := fs.WalkDir(r.content, folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name == path.Join(folder, textsDir) {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && path.Ext(name) == ext && !slices.Contains(excluded, name) {
			names = append(names, name)
		}
		return err
	})
	r.addError(err)
	return names
}

// readFile returns the content of a file known to exist.
func (r *reader) readFile(name string) []byte {
	data, err := fs.ReadFile(r.content, name)
	r.addError(err)
	return data
}

func (r *reader) addError(err error) {
	if err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("reading content: %w", err))
	}
}

// readYAML decodes a required file.
func (r *reader) readYAML(name string, target any) {
	data, err := fs.ReadFile(r.content, name)
	if errors.Is(err, fs.ErrNotExist) {
		r.problems.Addf(Position{File: name}, "file is missing")
		return
	}
	if err != nil {
		r.addError(err)
		return
	}
	decodeYAML(name, data, target, r.problems)
}

// decodeYAML decodes YAML strictly: an unknown key is a problem.
func decodeYAML(name string, data []byte, target any, problems *Problems) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	err := decoder.Decode(target)
	if errors.Is(err, io.EOF) {
		return
	}
	if messages, ok := typeErrorMessages(err); ok {
		for _, message := range messages {
			problems.addYAMLError(name, message)
		}
	} else if err != nil {
		problems.unreadable = true
		problems.addYAMLError(name, strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		problems.Addf(Position{File: name}, "unexpected second document after a line of three dashes: move it to a separate file")
	}
}

// Error messages of package yaml begin with the line, and some contain the names of Go
// types, which are meaningless to content authors.
var (
	lineMessage        = regexp.MustCompile(`^line (\d+): `)
	unknownKeyMessage  = regexp.MustCompile(`^field (\S+) not found in type .*`)
	notAListMessage    = regexp.MustCompile(`^cannot unmarshal .* into \[\].*`)
	notAMappingMessage = regexp.MustCompile(`^cannot unmarshal .* into .*`)
)

// addYAMLError adds an error reported by package yaml for a file.
func (p *Problems) addYAMLError(name, message string) {
	at := Position{File: name}
	if match := lineMessage.FindStringSubmatch(message); match != nil {
		at.Line, _ = strconv.Atoi(match[1])
		message = message[len(match[0]):]
	}
	message = unknownKeyMessage.ReplaceAllString(message, "unknown key $1")
	message = notAListMessage.ReplaceAllString(message, "expected a list")
	message = notAMappingMessage.ReplaceAllString(message, "expected keys with values")
	if strings.HasPrefix(message, "mapping key ") {
		p.unreadable = true // package yaml does not decode a mapping with a duplicate key
	}
	p.Addf(at, "%s", message)
}

// SortByLine returns scalars sorted by line, then by text.
func SortByLine(words func(yield func(Scalar) bool)) []Scalar {
	return slices.SortedFunc(words, func(a, b Scalar) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
}
