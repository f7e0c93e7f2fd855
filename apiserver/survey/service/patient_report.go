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

// PatientReport is the result of a completed survey as shown to the patient.
type PatientReport struct {
	record.Summary
	// Assessment is nil if the survey asked for no symptoms. Conditions are omitted if the
	// tenant hides them; the urgency and the advice are always included.
	Assessment *record.Assessment
	// Hidden reports whether conditions are omitted.
	Hidden bool
	// Sex (female or male) and Age of the patient, if known.
	Sex string
	Age record.Age
	// Crisis reports whether to show a crisis helpline, as determined by flow.InCrisis.
	Crisis bool
}

// PatientReport returns the report of a survey, or ErrNotCompleted.
func (s *Service) PatientReport(ctx context.Context, principal identity.Principal, id string) (PatientReport, error) {
	p, assessment, err := s.loadCompleted(ctx, principal, id)
	if err != nil {
		return PatientReport{}, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return PatientReport{}, err
	}
	defer env.release()
	return newPatientReport(p, assessment, env), nil
}

// newPatientReport returns the report of a survey. It omits conditions if the tenant hides
// them.
func newPatientReport(p flow.Progress, assessment *record.Assessment, env leasedEnv) PatientReport {
	report := PatientReport{
		Summary: record.Summarize(p.Survey, p.Steps), Assessment: assessment,
		Hidden: !env.Features.PatientResults, Crisis: flow.InCrisis(p, env.Env),
	}
	report.Sex, report.Age = flow.Demographics(p, env.Env)
	if report.Hidden && assessment != nil {
		shown := *assessment
		shown.Conditions = nil
		report.Assessment = &shown
	}
	return report
}

// Article returns the article on a condition in the report of a survey, and the report. It
// returns record.ErrNotFound if the article does not exist or the report does not show the
// condition.
func (s *Service) Article(ctx context.Context, principal identity.Principal, id, conditionID string) (record.Article, PatientReport, error) {
	p, assessment, err := s.loadCompleted(ctx, principal, id)
	if err != nil {
		return record.Article{}, PatientReport{}, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return record.Article{}, PatientReport{}, err
	}
	defer env.release()
	report := newPatientReport(p, assessment, env)
	condition, known := env.Release.ConditionByID(conditionID)
	if !report.showsCondition(conditionID) || !known || env.Release.Conditions[condition].Article == model.None {
		return record.Article{}, PatientReport{}, record.ErrNotFound
	}
	return newArticle(env.Release, &env.Release.Articles[env.Release.Conditions[condition].Article]), report, nil
}

// showsCondition reports whether the report shows a condition to the patient.
func (r *PatientReport) showsCondition(conditionID string) bool {
	return r.Assessment != nil && slices.ContainsFunc(r.Assessment.Conditions, func(c record.RankedCondition) bool {
		return c.ID == conditionID
	})
}

// newArticle copies an article, because the copy outlives the lease of its release.
func newArticle(r *model.Release, article *model.Article) record.Article {
	result := record.Article{Title: plainText(r, article.Title)}
	for _, section := range model.Slice(r.ArticleSections, article.Sections) {
		result.Sections = append(result.Sections, record.ArticleSection{
			Name: section.Name.String(), Title: plainText(r, section.Title), Content: newArticleNodes(r, section.Content),
		})
	}
	return result
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
