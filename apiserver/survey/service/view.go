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
func (s *Service) View(ctx context.Context, principal identity.Principal, id string) (flow.View, error) {
	p, err := s.load(ctx, principal, id, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return flow.View{}, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return flow.View{}, err
	}
	defer env.release()
	return withLimiter(ctx, s, flow.CountFindings(p, env.Env), func() (flow.View, error) { return flow.NewView(p, env.Env) })
}

// Explain returns the patient's view of a survey and the reason for its current question.
// Some questions have no reason. Condition names are hidden from end users if the tenant
// hides them.
func (s *Service) Explain(ctx context.Context, principal identity.Principal, id string) (flow.ExplainedView, error) {
	p, err := s.load(ctx, principal, id, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return flow.ExplainedView{}, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return flow.ExplainedView{}, err
	}
	defer env.release()
	explained, err := withLimiter(ctx, s, flow.CountFindings(p, env.Env), func() (flow.ExplainedView, error) { return flow.Explain(p, env.Env) })
	if !access.CanSeeConditions(principal, env.Features.PatientResults) {
		explained.Reason.Conditions = nil
	}
	return explained, err
}

// ParseText returns the items of a symptom list that a text mentions. The text may contain up
// to section.MaxFreeTextLength characters.
func (s *Service) ParseText(list record.SourceList, text string) ([]record.Item, error) {
	if length := utf8.RuneCountInString(text); length > section.MaxFreeTextLength {
		problem := fmt.Sprintf("expected at most %d characters, got %d", section.MaxFreeTextLength, length)
		return nil, &assessment.FieldError{Field: "words", Problem: problem}
	}
	modelID, _ := s.matchModel(list.Language)
	env, err := s.envForModel(modelID)
	if err != nil {
		return nil, err
	}
	defer env.release()
	return section.ParseText(env.Release, env.Lists, list, strings.ToValidUTF8(text, "\ufffd")), nil
}

// ItemsByID returns the list entries with the given IDs, in the same order. It omits IDs that
// the list does not contain for the patient.
func (s *Service) ItemsByID(list record.SourceList, ids []string) ([]record.Item, error) {
	modelID, _ := s.matchModel(list.Language)
	env, err := s.envForModel(modelID)
	if err != nil {
		return nil, err
	}
	defer env.release()
	items := make([]record.Item, 0, len(ids))
	for _, id := range ids {
		if found, ok := env.Lists.Find(list, id); ok {
			items = append(items, record.Item{ID: found.ID, Name: found.Name})
		}
	}
	return items, nil
}
