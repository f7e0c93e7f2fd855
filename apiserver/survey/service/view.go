// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// View returns the patient's view of a survey.
func (r *Service) View(ctx context.Context, by identity.Principal, id string) (flow.View, error) {
	p, err := r.load(ctx, by, id, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return flow.View{}, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return flow.View{}, err
	}
	defer w.release()
	return withLimiter(ctx, r, flow.CountFindings(p, w.Env), func() (flow.View, error) { return flow.NewView(p, w.Env) })
}

// Explain returns the patient's view of a survey and the reason why its current
// question is asked. Some questions need no reason and have none. Condition names are
// hidden from end users if the tenant hides them.
func (r *Service) Explain(ctx context.Context, by identity.Principal, id string) (flow.ExplainedView, error) {
	p, err := r.load(ctx, by, id, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return flow.ExplainedView{}, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return flow.ExplainedView{}, err
	}
	defer w.release()
	explained, err := withLimiter(ctx, r, flow.CountFindings(p, w.Env), func() (flow.ExplainedView, error) { return flow.Explain(p, w.Env) })
	if !access.CanSeeConditions(by, w.Features.PatientResults) {
		explained.Reason.Conditions = nil
	}
	return explained, err
}

// ParseText returns the items of a symptom list that a patient's own words mention.
// The text may be up to section.MaxFreeTextLength long.
func (r *Service) ParseText(list record.SourceList, words string) ([]record.Item, error) {
	if length := utf8.RuneCountInString(words); length > section.MaxFreeTextLength {
		problem := fmt.Sprintf("expected at most %d characters, got %d", section.MaxFreeTextLength, length)
		return nil, &assessment.FieldError{Field: "words", Problem: problem}
	}
	modelID, _ := r.matchModel(list.Language)
	w, err := r.envForModel(modelID)
	if err != nil {
		return nil, err
	}
	defer w.release()
	return section.ParseText(w.Release, w.Lists, list, strings.ToValidUTF8(words, "\ufffd")), nil
}

// ItemsByID returns the list entries with the given IDs, in that order. It omits
// entries that the list does not have for the patient.
func (r *Service) ItemsByID(list record.SourceList, ids []string) ([]record.Item, error) {
	modelID, _ := r.matchModel(list.Language)
	w, err := r.envForModel(modelID)
	if err != nil {
		return nil, err
	}
	defer w.release()
	items := make([]record.Item, 0, len(ids))
	for _, id := range ids {
		if found, ok := w.Lists.Find(list, id); ok {
			items = append(items, record.Item{ID: found.ID, Name: found.Name})
		}
	}
	return items, nil
}
