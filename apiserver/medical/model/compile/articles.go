// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// requiredSections are the sections that every article must have.
var requiredSections = []model.SectionName{model.DisclaimerSection, model.SourcesSection}

// addArticles adds the articles to their conditions.
func (c *compiler) addArticles() {
	for _, s := range c.language.Articles {
		d := c.conditions[s.Slug.Text]
		if d == nil {
			c.reportAt(s.File, s.Slug.Line).errorf("article about unknown condition %s: name the file after the slug of the condition", s.Slug.Text)
			continue
		}
		d.Article = c.article(s)
	}
}

func (c *compiler) article(s *source.Article) *model.DraftArticle {
	article := &model.DraftArticle{Title: titleNode(s.Title)}
	lines := map[model.SectionName]int{}
	for _, section := range s.Sections {
		p := c.reportAt(s.File, section.Name.Line)
		name, err := model.ParseSectionName(section.Name.Text)
		switch {
		case section.Name.Text == "":
			continue // already reported by the reader
		case err != nil:
			p.errorf("%v", err)
			continue
		case lines[name] != 0:
			p.errorf("section %v is already defined on line %d", name, lines[name])
			continue
		}
		lines[name] = section.Name.Line
		article.Sections = append(article.Sections, model.DraftSection{Name: name, Title: titleNode(section.Title), Content: section.Content})
	}
	for _, name := range requiredSections {
		if lines[name] == 0 {
			c.reportAt(s.File, s.Slug.Line).errorf("article has no section %v", name)
		}
	}
	return article
}

// titleNode returns a title as a node.
func titleNode(words []model.DraftNode) model.DraftNode {
	return model.DraftNode{Type: model.Heading1Node, Children: words}
}
