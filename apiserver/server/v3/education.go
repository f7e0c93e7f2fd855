// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"net/http"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// InterviewTokens make the tokens that open the articles, and check them.
// *identity.Authority does.
type InterviewTokens interface {
	// IssueInterviewToken makes a token for an interview that a release
	// answered.
	IssueInterviewToken(modelID, version string) (token string, err error)
	// VerifyInterviewToken is the release that a token names; an error says
	// that the token is not valid, or no longer.
	VerifyInterviewToken(token string) (modelID, version string, err error)
}

// GetPatientEducation implements enginev3.StrictServerInterface.
func (a *API) GetPatientEducation(ctx context.Context, request enginev3.GetPatientEducationRequestObject) (enginev3.GetPatientEducationResponseObject, error) {
	if err := a.checkToken(request.Params.InterviewToken); err != nil {
		return nil, err
	}
	sections, err := sectionsOf(request.Params.Sections)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	condition, ok := release.ConditionByID(request.ConditionID)
	if !ok {
		return nil, notFound("condition", request.ConditionID)
	}
	article := release.Conditions[condition].Article
	if article == model.None {
		return nil, &requestError{http.StatusNotFound, "there is no article about " + request.ConditionID}
	}
	return enginev3.GetPatientEducation200JSONResponse(writeArticle(release, &release.Articles[article], sections)), nil
}

// checkToken lets the clients of an interview through. Whether the model that
// answers is the one of the interview does not matter: an article in another
// language than the interview's is better than none.
func (a *API) checkToken(token string) error {
	if token == "" {
		return badRequest("Interview-Token: missing, expected %s", expectedOf("Interview-Token"))
	}
	if _, _, err := a.tokens.VerifyInterviewToken(token); err != nil {
		return &requestError{http.StatusForbidden, "Interview-Token: not valid, or too old; expected " + expectedOf("Interview-Token")}
	}
	return nil
}

// sectionsOf reads the names of sections; none stand for all.
func sectionsOf(parameter *string) ([]model.SectionName, error) {
	var names []model.SectionName
	for _, word := range splitList(parameter) {
		name, err := model.ParseSectionName(word)
		if err != nil {
			return nil, badRequest("sections: expected names of sections, such as summary, got %s", assessment.Quote(word))
		}
		names = append(names, name)
	}
	return names, nil
}

func writeArticle(r *model.Release, article *model.Article, only []model.SectionName) enginev3.Article {
	written := enginev3.Article{Title: writeNode(r, article.Title), Sections: []enginev3.ArticleSection{}}
	for _, section := range model.Part(r.ArticleSections, article.Sections) {
		if only != nil && !slices.Contains(only, section.Name) {
			continue
		}
		written.Sections = append(written.Sections, enginev3.ArticleSection{
			Name:    enginev3.SectionName(section.Name.String()),
			Title:   writeNode(r, section.Title),
			Content: writeNodes(r, section.Content),
		})
	}
	return written
}

func writeNode(r *model.Release, i uint32) enginev3.ArticleNode {
	switch n := &r.Nodes[i]; n.Type {
	case model.TextNode:
		return enginev3.TextNode{NodeType: enginev3.TextNodeNodeTypeText, Value: r.Text(n.Text)}
	case model.LinkNode:
		return enginev3.LinkNode{NodeType: enginev3.LinkNodeNodeTypeLink, Target: r.Text(n.Text), Content: writeNodes(r, n.Children)}
	case model.UnorderedListNode, model.OrderedListNode:
		items := make([]enginev3.BlockNode, 0, n.Children.Len())
		for item := n.Children.Start; item < n.Children.End; item++ {
			items = append(items, writeBlock(r, item))
		}
		return enginev3.ListNode{NodeType: enginev3.ListNodeNodeType(n.Type.String()), Content: items}
	default:
		return writeBlock(r, i)
	}
}

func writeBlock(r *model.Release, i uint32) enginev3.BlockNode {
	n := &r.Nodes[i]
	return enginev3.BlockNode{NodeType: enginev3.BlockNodeNodeType(n.Type.String()), Content: writeNodes(r, n.Children)}
}

func writeNodes(r *model.Release, span model.Span) []enginev3.ArticleNode {
	nodes := make([]enginev3.ArticleNode, 0, span.Len())
	for i := span.Start; i < span.End; i++ {
		nodes = append(nodes, writeNode(r, i))
	}
	return nodes
}
