// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Advice is what a completed survey comes to, for the patient to read.
type Advice struct {
	guidance.Summary
	// Assessment is nil for a survey that asks for no symptoms. Its conditions are left
	// out where the tenant hides them; how urgent it is and what to do never is.
	Assessment *guidance.Assessment
	// Hidden says that conditions are left out.
	Hidden bool
	// Sex, female or male, and Age are the patient's, as far as they are known.
	Sex string
	Age guidance.Age
	// Crisis says that somebody to talk to should be named, as survey.InCrisis has it.
	Crisis bool
}

// Advice is that of a survey. It is ErrNotCompleted.
func (r *Register) Advice(ctx context.Context, by audit.Actor, id string) (Advice, error) {
	p, assessment, err := r.whole(ctx, by, id)
	if err != nil {
		return Advice{}, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return Advice{}, err
	}
	defer w.done()
	return advise(p, assessment, w), nil
}

// advise is the advice of a survey, without the conditions where they are hidden.
func advise(p survey.Progress, assessment *guidance.Assessment, w world) Advice {
	advice := Advice{
		Summary: guidance.Summarize(p.Survey, p.Steps), Assessment: assessment,
		Hidden: !w.Features.PatientResults, Crisis: survey.InCrisis(p, w.World),
	}
	advice.Sex, advice.Age = survey.Whom(p, w.World)
	if advice.Hidden && assessment != nil {
		shown := *assessment
		shown.Conditions = nil
		advice.Assessment = &shown
	}
	return advice
}

// Article is that about a condition of the advice of a survey, and the advice. It is
// storage.ErrNotFound where there is none, or where the condition is not among those
// that the patient sees.
func (r *Register) Article(ctx context.Context, by audit.Actor, id, conditionID string) (guidance.Article, Advice, error) {
	p, assessment, err := r.whole(ctx, by, id)
	if err != nil {
		return guidance.Article{}, Advice{}, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return guidance.Article{}, Advice{}, err
	}
	defer w.done()
	advice := advise(p, assessment, w)
	condition, known := w.Release.ConditionByID(conditionID)
	if !advice.shows(conditionID) || !known || w.Release.Conditions[condition].Article == model.None {
		return guidance.Article{}, Advice{}, storage.ErrNotFound
	}
	return describeArticle(w.Release, &w.Release.Articles[w.Release.Conditions[condition].Article]), advice, nil
}

// shows says whether a condition is among those that the patient sees.
func (a *Advice) shows(conditionID string) bool {
	return a.Assessment != nil && slices.ContainsFunc(a.Assessment.Conditions, func(c guidance.RankedCondition) bool {
		return c.ID == conditionID
	})
}

// describeArticle copies an article, which outlives the lease of its release.
func describeArticle(r *model.Release, article *model.Article) guidance.Article {
	described := guidance.Article{Title: plainText(r, article.Title)}
	for _, section := range model.Part(r.ArticleSections, article.Sections) {
		described.Sections = append(described.Sections, guidance.ArticleSection{
			Name: section.Name.String(), Title: plainText(r, section.Title), Content: describeNodes(r, section.Content),
		})
	}
	return described
}

// plainText is the text of a node with all that it holds.
func plainText(r *model.Release, i uint32) string {
	n := &r.Nodes[i]
	text := strings.Clone(r.Text(n.Text))
	for child := n.Children.Start; child < n.Children.End; child++ {
		text += plainText(r, child)
	}
	return text
}

func describeNode(r *model.Release, i uint32) guidance.Node {
	n := &r.Nodes[i]
	return guidance.Node{Type: n.Type.String(), Text: strings.Clone(r.Text(n.Text)), Children: describeNodes(r, n.Children)}
}

func describeNodes(r *model.Release, span model.Span) []guidance.Node {
	var nodes []guidance.Node
	for i := span.Start; i < span.End; i++ {
		nodes = append(nodes, describeNode(r, i))
	}
	return nodes
}
