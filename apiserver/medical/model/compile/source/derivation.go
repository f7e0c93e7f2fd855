// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// readBase reads the base language of a derived language. It returns nil if the
// language has no base. If the base is invalid, it marks the problems as unreadable,
// because all inherited texts would appear to be missing.
func readBase(content fs.FS, own *Language, problems *Problems) (*Language, error) {
	if own.Base.Line == 0 {
		for _, word := range keysByLine(own.Replacements) {
			problems.Addf(Position{File: own.File, Line: word.Line}, "unexpected replacement of %s: the language has no base", word.Text)
		}
		return nil, nil
	}
	at := Position{File: own.File, Line: own.Base.Line}
	languages, err := ListLanguages(content)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(languages, own.Base.Text) {
		problems.unreadable = true
		problems.Addf(at, "unknown language %s: expected one of %s", own.Base.Text, strings.Join(languages, ", "))
		return nil, nil
	}
	base, err := readLanguageDir(content, own.Base.Text, problems)
	if err != nil {
		return nil, err
	}
	if base.Base.Line != 0 {
		problems.unreadable = true
		problems.Addf(at, "base language %s is derived from %s: expected a base language that is not derived", own.Base.Text, base.Base.Text)
		return nil, nil
	}
	return base, nil
}

// derive returns the language with the texts that it inherits from its base, with words
// replaced. In problems, texts inherited by an entry are on the line of that entry;
// texts inherited by language.yaml are on the line of the base key.
func derive(base, own *Language, problems *Problems) *Language {
	d := derivation{replacer: newReplacer(own, problems), baseLine: own.Base.Line}
	derived := *own
	derived.Choices = Choices{
		Present: d.inheritLabel(own.Choices.Present, base.Choices.Present),
		Absent:  d.inheritLabel(own.Choices.Absent, base.Choices.Absent),
		Unknown: d.inheritLabel(own.Choices.Unknown, base.Choices.Unknown),
	}
	derived.Questions = Questions{
		Duration:            d.inheritLabel(own.Questions.Duration, base.Questions.Duration),
		DurationThirdPerson: d.inheritLabel(own.Questions.DurationThirdPerson, base.Questions.DurationThirdPerson),
	}
	derived.Specialists = d.inheritLabels(own.Specialists, base.Specialists)
	derived.Categories = d.inheritLabels(own.Categories, base.Categories)
	derived.LabCategories = d.inheritLabels(own.LabCategories, base.LabCategories)
	derived.Conditions = d.inheritLocalizations(own.Conditions, base.Conditions)
	derived.Observations = d.inheritLocalizations(own.Observations, base.Observations)
	derived.Groups = d.inheritLocalizations(own.Groups, base.Groups)
	derived.LabTests = d.inheritLocalizations(own.LabTests, base.LabTests)
	derived.Drugs = d.inheritLocalizations(own.Drugs, base.Drugs)
	derived.ChronicDiseases = d.inheritLocalizations(own.ChronicDiseases, base.ChronicDiseases)
	derived.Articles = d.inheritArticles(own.Articles, base.Articles)
	derived.Lexicons = d.inheritLexicons(own.Lexicons, base.Lexicons)
	derived.Examples = d.inheritExamples(own, base)
	if len(own.Lexicons)+len(own.OrdinaryWords) == 0 {
		derived.OrdinaryWords = base.OrdinaryWords
	}
	derived.InheritedCount = d.inherited
	d.replacer.reportUnused(own, problems)
	return &derived
}

// derivation is the state of deriving a language.
type derivation struct {
	replacer  *replacer
	baseLine  int // line of the base key
	inherited int // number of concepts, groups and articles with texts only in the base
}

// inherit returns the language's own text or, if unset, the text of the base with words
// replaced, at the given line.
func (d *derivation) inherit(own, base Scalar, line int) Scalar {
	if own.Line != 0 || base.Line == 0 {
		return own
	}
	return Scalar{Text: d.replacer.replace(base.Text), Line: line}
}

func (d *derivation) inheritLabel(own, base Scalar) Scalar { return d.inherit(own, base, d.baseLine) }

func (d *derivation) inheritLabels(own, base map[Scalar]Scalar) map[Scalar]Scalar {
	derived, overridden := map[Scalar]Scalar{}, map[string]bool{}
	for key, label := range own {
		derived[key] = label
		overridden[key.Text] = true
	}
	for key, label := range base {
		if !overridden[key.Text] {
			derived[Scalar{Text: key.Text, Line: d.baseLine}] = d.inheritLabel(Scalar{}, label)
		}
	}
	return derived
}

// inheritLocalizations returns the localizations of the base in their order, merged with
// the language's own localizations, followed by the entries that the base does not have.
func (d *derivation) inheritLocalizations(own, base []*Localization) []*Localization {
	entries := map[string]*Localization{}
	for _, w := range own {
		if entries[w.Slug.Text] == nil {
			entries[w.Slug.Text] = w
		}
	}
	derived, used := make([]*Localization, 0, len(base)), map[*Localization]bool{}
	for _, w := range base {
		entry := entries[w.Slug.Text]
		used[entry] = true
		derived = append(derived, d.inheritLocalization(entry, w))
	}
	for _, w := range own {
		if !used[w] {
			derived = append(derived, w)
		}
	}
	return derived
}

// inheritLocalization merges a language's own localization of a concept, which may be
// nil, with the localization of its base.
func (d *derivation) inheritLocalization(own, base *Localization) *Localization {
	line := func(text Scalar) int { return text.Line }
	if own == nil {
		d.inherited++
		own = &Localization{File: base.File, Slug: base.Slug}
	} else {
		line = func(Scalar) int { return own.Slug.Line }
	}
	derived := &Localization{
		File:                own.File,
		Slug:                own.Slug,
		Name:                d.inherit(own.Name, base.Name, line(base.Name)),
		CommonName:          d.inherit(own.CommonName, base.CommonName, line(base.CommonName)),
		Hint:                d.inherit(own.Hint, base.Hint, line(base.Hint)),
		Question:            d.inherit(own.Question, base.Question, line(base.Question)),
		QuestionThirdPerson: d.inherit(own.QuestionThirdPerson, base.QuestionThirdPerson, line(base.QuestionThirdPerson)),
		Synonyms:            own.Synonyms,
	}
	if len(own.Synonyms) == 0 {
		for _, synonym := range base.Synonyms {
			derived.Synonyms = append(derived.Synonyms, d.inherit(Scalar{}, synonym, line(synonym)))
		}
	}
	derived.Brands = own.Brands // brands are specific to a market, so they are not inherited
	return derived
}

// inheritArticles returns the language's own articles, and the articles of the base that
// the language does not have.
func (d *derivation) inheritArticles(own, base []*Article) []*Article {
	derived := slices.Clone(own)
	for _, a := range base {
		if slices.ContainsFunc(own, func(o *Article) bool { return o.Slug.Text == a.Slug.Text }) {
			continue
		}
		d.inherited++
		article := &Article{File: a.File, Slug: a.Slug, Title: d.replaceInNodes(a.Title)}
		for _, s := range a.Sections {
			article.Sections = append(article.Sections, &Section{Name: s.Name, Title: d.replaceInNodes(s.Title), Content: d.replaceInNodes(s.Content)})
		}
		derived = append(derived, article)
	}
	return derived
}

// replaceInNodes returns the nodes of the base with words replaced. Link targets stay
// unchanged.
func (d *derivation) replaceInNodes(base []model.DraftNode) []model.DraftNode {
	derived := slices.Clone(base)
	for i := range derived {
		n := &derived[i]
		if n.Type == model.TextNode {
			n.Text = d.replacer.replace(n.Text)
		}
		n.Children = d.replaceInNodes(n.Children)
	}
	return derived
}
