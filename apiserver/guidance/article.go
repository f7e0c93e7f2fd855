// SPDX-License-Identifier: Apache-2.0

package guidance

// An Article tells patients about a condition. Nothing in it points into a release.
type Article struct {
	Title    string
	Sections []ArticleSection
}

// An ArticleSection is about one subject.
type ArticleSection struct {
	Name    string // such as summary
	Title   string
	Content []Node
}

// A Node is a piece of an article.
type Node struct {
	Type     string // as model.NodeType has it, such as paragraph
	Text     string // of a text; the address of a link
	Children []Node
}
