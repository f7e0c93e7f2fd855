// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"net/http"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// InterviewTokens issues and verifies the tokens that grant access to articles.
// *identity.TokenIssuer implements it.
type InterviewTokens interface {
	// IssueInterviewToken issues a token for an interview that a release served.
	IssueInterviewToken(modelID, version string) (token string, err error)
	// VerifyInterviewToken returns the release that a token names, or an error if the
	// token is invalid or expired.
	VerifyInterviewToken(token string) (modelID, version string, err error)
}

// GetPatientEducation implements enginev3.StrictServerInterface.
func (a *API) GetPatientEducation(ctx context.Context, request enginev3.GetPatientEducationRequestObject) (enginev3.GetPatientEducationResponseObject, error) {
	if err := a.verifyInterviewToken(request.Params.InterviewToken); err != nil {
		return nil, err
	}
	sections, err := readSections(request.Params.Sections)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	condition, ok := release.ConditionByID(request.ConditionID)
	if !ok {
		return nil, notFound("condition", request.ConditionID)
	}
	article := release.Conditions[condition].Article
	if article == model.None {
		return nil, &requestError{http.StatusNotFound, "no article about " + request.ConditionID}
	}
	return enginev3.GetPatientEducation200JSONResponse(encodeArticle(release, &release.Articles[article], sections)), nil
}

// verifyInterviewToken verifies an interview token. The interview may have used another model
// than the request for the article, because an article in another language is better than
// none.
func (a *API) verifyInterviewToken(token string) error {
	if token == "" {
		return badRequest("Interview-Token: missing, expected %s", expectedValue("Interview-Token"))
	}
	if _, _, err := a.tokens.VerifyInterviewToken(token); err != nil {
		return &requestError{http.StatusForbidden, "Interview-Token: invalid or expired; expected " + expectedValue("Interview-Token")}
	}
	return nil
}

// readSections parses section names. Defaults to all sections.
func readSections(parameter *string) ([]model.SectionName, error) {
	var names []model.SectionName
	for _, word := range splitList(parameter) {
		name, err := model.ParseSectionName(word)
		if err != nil {
			return nil, badRequest("sections: expected section names, such as summary, got %s", assessment.Quote(word))
		}
		names = append(names, name)
	}
	return names, nil
}

func encodeArticle(r *model.Release, article *model.Article, names []model.SectionName) enginev3.Article {
	encoded := enginev3.Article{Title: encodeNode(r, article.Title), Sections: []enginev3.ArticleSection{}}
	for _, section := range model.Slice(r.ArticleSections, article.Sections) {
		if names != nil && !slices.Contains(names, section.Name) {
			continue
		}
		encoded.Sections = append(encoded.Sections, enginev3.ArticleSection{
			Name:    enginev3.SectionName(section.Name.String()),
			Title:   encodeNode(r, section.Title),
			Content: encodeNodes(r, section.Content),
		})
	}
	return encoded
}

func encodeNode(r *model.Release, i uint32) enginev3.ArticleNode {
	switch n := &r.Nodes[i]; n.Type {
	case model.TextNode:
		return enginev3.TextNode{NodeType: enginev3.TextNodeNodeTypeText, Value: r.Text(n.Text)}
	case model.LinkNode:
		return enginev3.LinkNode{NodeType: enginev3.LinkNodeNodeTypeLink, Target: r.Text(n.Text), Content: encodeNodes(r, n.Children)}
	case model.UnorderedListNode, model.OrderedListNode:
		items := make([]enginev3.BlockNode, 0, n.Children.Len())
		for item := n.Children.Start; item < n.Children.End; item++ {
			items = append(items, encodeBlock(r, item))
		}
		return enginev3.ListNode{NodeType: enginev3.ListNodeNodeType(n.Type.String()), Content: items}
	default:
		return encodeBlock(r, i)
	}
}

func encodeBlock(r *model.Release, i uint32) enginev3.BlockNode {
	n := &r.Nodes[i]
	return enginev3.BlockNode{NodeType: enginev3.BlockNodeNodeType(n.Type.String()), Content: encodeNodes(r, n.Children)}
}

func encodeNodes(r *model.Release, span model.Span) []enginev3.ArticleNode {
	nodes := make([]enginev3.ArticleNode, 0, span.Len())
	for i := span.Start; i < span.End; i++ {
		nodes = append(nodes, encodeNode(r, i))
	}
	return nodes
}
