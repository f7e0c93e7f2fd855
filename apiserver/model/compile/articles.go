// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// requiredSections are those that every article must have.
var requiredSections = []model.SectionName{model.DisclaimerSection, model.SourcesSection}

// addArticles gives conditions their articles.
func (c *compiler) addArticles() {
	for _, s := range c.words.Articles {
		d := c.conditions[s.Slug.Text]
		if d == nil {
			c.at(s.File, s.Slug.Line).add("an article about the unknown condition %s: it is named like its file", s.Slug.Text)
			continue
		}
		d.Article = c.article(s)
	}
}

func (c *compiler) article(s *source.Article) *model.DraftArticle {
	article := &model.DraftArticle{Title: titled(s.Title)}
	lines := map[model.SectionName]int{}
	for _, section := range s.Sections {
		p := c.at(s.File, section.Name.Line)
		name, err := model.ParseSectionName(section.Name.Text)
		switch {
		case section.Name.Text == "":
			continue // refused when it was read
		case err != nil:
			p.add("%v", err)
			continue
		case lines[name] != 0:
			p.add("section %v stands on line %d already", name, lines[name])
			continue
		}
		lines[name] = section.Name.Line
		article.Sections = append(article.Sections, model.DraftSection{Name: name, Title: titled(section.Title), Content: section.Content})
	}
	for _, name := range requiredSections {
		if lines[name] == 0 {
			c.at(s.File, s.Slug.Line).add("the article has no section %v", name)
		}
	}
	return article
}

// titled is a title as a node.
func titled(words []model.DraftNode) model.DraftNode {
	return model.DraftNode{Type: model.Heading1Node, Children: words}
}
