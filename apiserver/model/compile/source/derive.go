// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// readBase reads the language that another is derived from. It is nil when
// there is none; when there should be one, the problems are broken, for all that
// the language takes over would seem not to be there.
func readBase(content fs.FS, own *Language, problems *Problems) (*Language, error) {
	if own.Base.Line == 0 {
		for _, word := range byLine(own.Replace) {
			problems.Add(Position{File: own.File, Line: word.Line}, "%s is replaced, and the language has no base to replace it in", word.Text)
		}
		return nil, nil
	}
	at := Position{File: own.File, Line: own.Base.Line}
	languages, err := Languages(content)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(languages, own.Base.Text) {
		problems.broken = true
		problems.Add(at, "unknown language %s: expected one of %s", own.Base.Text, strings.Join(languages, ", "))
		return nil, nil
	}
	base, err := readFolder(content, own.Base.Text, problems)
	if err != nil {
		return nil, err
	}
	if base.Base.Line != 0 {
		problems.broken = true
		problems.Add(at, "the base %s is derived from %s itself: expected a language with words of its own", own.Base.Text, base.Base.Text)
		return nil, nil
	}
	return base, nil
}

// derive gives a language what its base says and it does not, with the words
// replaced. What an entry of its own inherits stands, for problems, on the line
// of that entry; what language.yaml inherits, on the line that names the base.
func derive(base, own *Language, problems *Problems) *Language {
	d := derivation{replacer: newReplacer(own, problems), at: own.Base.Line}
	derived := *own
	derived.Choices = Choices{
		Present: d.label(own.Choices.Present, base.Choices.Present),
		Absent:  d.label(own.Choices.Absent, base.Choices.Absent),
		Unknown: d.label(own.Choices.Unknown, base.Choices.Unknown),
	}
	derived.Questions = Questions{
		Duration:            d.label(own.Questions.Duration, base.Questions.Duration),
		DurationThirdPerson: d.label(own.Questions.DurationThirdPerson, base.Questions.DurationThirdPerson),
	}
	derived.Specialists = d.labels(own.Specialists, base.Specialists)
	derived.Categories = d.labels(own.Categories, base.Categories)
	derived.LabCategories = d.labels(own.LabCategories, base.LabCategories)
	derived.Conditions = d.words(own.Conditions, base.Conditions)
	derived.Observations = d.words(own.Observations, base.Observations)
	derived.Groups = d.words(own.Groups, base.Groups)
	derived.LabTests = d.words(own.LabTests, base.LabTests)
	derived.Drugs = d.words(own.Drugs, base.Drugs)
	derived.ChronicDiseases = d.words(own.ChronicDiseases, base.ChronicDiseases)
	derived.Articles = d.articles(own.Articles, base.Articles)
	derived.Lexicons = d.lexicons(own.Lexicons, base.Lexicons)
	derived.Examples = d.examples(own, base)
	if len(own.Lexicons)+len(own.OrdinaryWords) == 0 {
		derived.OrdinaryWords = base.OrdinaryWords
	}
	derived.Inherited = d.inherited
	d.replacer.refuseUnused(own, problems)
	return &derived
}

// derivation is a language being derived.
type derivation struct {
	replacer  *replacer
	at        int // the line that names the base
	inherited int // concepts, groups and articles that the base alone has words of
}

// pick is a text of the language's own, or else the one of its base, which
// then stands on a line.
func (d *derivation) pick(own, base Word, line int) Word {
	if own.Line != 0 || base.Line == 0 {
		return own
	}
	return Word{Text: d.replacer.replace(base.Text), Line: line}
}

func (d *derivation) label(own, base Word) Word { return d.pick(own, base, d.at) }

func (d *derivation) labels(own, base map[Word]Word) map[Word]Word {
	derived, given := map[Word]Word{}, map[string]bool{}
	for key, label := range own {
		derived[key] = label
		given[key.Text] = true
	}
	for key, label := range base {
		if !given[key.Text] {
			derived[Word{Text: key.Text, Line: d.at}] = d.label(Word{}, label)
		}
	}
	return derived
}

// words are those of the base, in its order and with what the language says
// itself, and behind them the entries that the base does not have.
func (d *derivation) words(own, base []*Words) []*Words {
	entries := map[string]*Words{}
	for _, w := range own {
		if entries[w.Slug.Text] == nil {
			entries[w.Slug.Text] = w
		}
	}
	derived, used := make([]*Words, 0, len(base)), map[*Words]bool{}
	for _, w := range base {
		entry := entries[w.Slug.Text]
		used[entry] = true
		derived = append(derived, d.entry(entry, w))
	}
	for _, w := range own {
		if !used[w] {
			derived = append(derived, w)
		}
	}
	return derived
}

// entry is what a language says about a concept, nil for nothing, on top of
// what its base does.
func (d *derivation) entry(own, base *Words) *Words {
	line := func(of Word) int { return of.Line }
	if own == nil {
		d.inherited++
		own = &Words{File: base.File, Slug: base.Slug}
	} else {
		line = func(Word) int { return own.Slug.Line }
	}
	derived := &Words{
		File:                own.File,
		Slug:                own.Slug,
		Name:                d.pick(own.Name, base.Name, line(base.Name)),
		CommonName:          d.pick(own.CommonName, base.CommonName, line(base.CommonName)),
		Hint:                d.pick(own.Hint, base.Hint, line(base.Hint)),
		Question:            d.pick(own.Question, base.Question, line(base.Question)),
		QuestionThirdPerson: d.pick(own.QuestionThirdPerson, base.QuestionThirdPerson, line(base.QuestionThirdPerson)),
		Synonyms:            own.Synonyms,
	}
	if len(own.Synonyms) == 0 {
		for _, synonym := range base.Synonyms {
			derived.Synonyms = append(derived.Synonyms, d.pick(Word{}, synonym, line(synonym)))
		}
	}
	derived.Brands = own.Brands // those of the base are sold where that is spoken
	return derived
}

// articles are those of the base that the language does not have itself, and
// its own.
func (d *derivation) articles(own, base []*Article) []*Article {
	derived := slices.Clone(own)
	for _, a := range base {
		if slices.ContainsFunc(own, func(o *Article) bool { return o.Slug.Text == a.Slug.Text }) {
			continue
		}
		d.inherited++
		article := &Article{File: a.File, Slug: a.Slug, Title: d.nodes(a.Title)}
		for _, s := range a.Sections {
			article.Sections = append(article.Sections, &Section{Name: s.Name, Title: d.nodes(s.Title), Content: d.nodes(s.Content)})
		}
		derived = append(derived, article)
	}
	return derived
}

// nodes are those of the base. Where links lead stays.
func (d *derivation) nodes(base []model.DraftNode) []model.DraftNode {
	derived := slices.Clone(base)
	for i := range derived {
		n := &derived[i]
		if n.Type == model.TextNode {
			n.Text = d.replacer.replace(n.Text)
		}
		n.Children = d.nodes(n.Children)
	}
	return derived
}
