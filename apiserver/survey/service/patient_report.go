// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// PatientReport is the result of a completed survey, for the patient to read.
type PatientReport struct {
	record.Summary
	// Assessment is nil if the survey asks for no symptoms. Conditions are omitted if the
	// tenant hides them; urgency and advice are always included.
	Assessment *record.Assessment
	// Hidden reports that conditions are omitted.
	Hidden bool
	// Sex, female or male, and Age are the patient's, as far as known.
	Sex string
	Age record.Age
	// Crisis reports that the report should name a crisis line, as flow.InCrisis
	// determines.
	Crisis bool
}

// PatientReport returns the report of a survey, or ErrNotCompleted.
func (r *Service) PatientReport(ctx context.Context, by identity.Principal, id string) (PatientReport, error) {
	p, assessment, err := r.loadCompleted(ctx, by, id)
	if err != nil {
		return PatientReport{}, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return PatientReport{}, err
	}
	defer w.release()
	return newPatientReport(p, assessment, w), nil
}

// newPatientReport returns the report of a survey, without conditions if they are
// hidden.
func newPatientReport(p flow.Progress, assessment *record.Assessment, w leasedEnv) PatientReport {
	advice := PatientReport{
		Summary: record.Summarize(p.Survey, p.Steps), Assessment: assessment,
		Hidden: !w.Features.PatientResults, Crisis: flow.InCrisis(p, w.Env),
	}
	advice.Sex, advice.Age = flow.Demographics(p, w.Env)
	if advice.Hidden && assessment != nil {
		shown := *assessment
		shown.Conditions = nil
		advice.Assessment = &shown
	}
	return advice
}

// Article returns the article about a condition in the report of a survey, and the
// report. It returns record.ErrNotFound if there is no such article or the report
// does not show the condition.
func (r *Service) Article(ctx context.Context, by identity.Principal, id, conditionID string) (record.Article, PatientReport, error) {
	p, assessment, err := r.loadCompleted(ctx, by, id)
	if err != nil {
		return record.Article{}, PatientReport{}, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return record.Article{}, PatientReport{}, err
	}
	defer w.release()
	advice := newPatientReport(p, assessment, w)
	condition, known := w.Release.ConditionByID(conditionID)
	if !advice.showsCondition(conditionID) || !known || w.Release.Conditions[condition].Article == model.None {
		return record.Article{}, PatientReport{}, record.ErrNotFound
	}
	return newArticle(w.Release, &w.Release.Articles[w.Release.Conditions[condition].Article]), advice, nil
}

// showsCondition reports whether the report shows a condition to the patient.
func (a *PatientReport) showsCondition(conditionID string) bool {
	return a.Assessment != nil && slices.ContainsFunc(a.Assessment.Conditions, func(c record.RankedCondition) bool {
		return c.ID == conditionID
	})
}

// newArticle copies an article, because the copy outlives the lease of its release.
func newArticle(r *model.Release, article *model.Article) record.Article {
	described := record.Article{Title: plainText(r, article.Title)}
	for _, section := range model.Slice(r.ArticleSections, article.Sections) {
		described.Sections = append(described.Sections, record.ArticleSection{
			Name: section.Name.String(), Title: plainText(r, section.Title), Content: newArticleNodes(r, section.Content),
		})
	}
	return described
}

// plainText returns the text of a node and its children.
func plainText(r *model.Release, i uint32) string {
	n := &r.Nodes[i]
	text := strings.Clone(r.Text(n.Text))
	for child := n.Children.Start; child < n.Children.End; child++ {
		text += plainText(r, child)
	}
	return text
}

func newArticleNode(r *model.Release, i uint32) record.ArticleNode {
	n := &r.Nodes[i]
	return record.ArticleNode{Type: n.Type.String(), Text: strings.Clone(r.Text(n.Text)), Children: newArticleNodes(r, n.Children)}
}

func newArticleNodes(r *model.Release, span model.Span) []record.ArticleNode {
	var nodes []record.ArticleNode
	for i := span.Start; i < span.End; i++ {
		nodes = append(nodes, newArticleNode(r, i))
	}
	return nodes
}
