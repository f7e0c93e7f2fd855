// SPDX-License-Identifier: Apache-2.0

package record

// An Article explains a condition to patients. It holds copies only, no references
// into a release.
type Article struct {
	Title    string
	Sections []ArticleSection
}

// An ArticleSection is one titled part of an article.
type ArticleSection struct {
	Name    string // such as summary
	Title   string
	Content []ArticleNode
}

// An ArticleNode is one element of an article's text.
type ArticleNode struct {
	Type     string // a model.NodeType, such as paragraph
	Text     string // the text; for a link, its URL
	Children []ArticleNode
}
