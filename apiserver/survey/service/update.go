// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// An UpdateRequest is a client's request to change a survey. The requested language
// determines the language of the patch.
type UpdateRequest struct {
	flow.Patch
	Language string // if empty, unchanged
}

// Update changes a survey.
func (s *Service) Update(ctx context.Context, principal identity.Principal, id string, request UpdateRequest) (record.Survey, error) {
	return retryOnConflict(func() (record.Survey, error) {
		p, err := s.load(ctx, principal, id)
		if err != nil {
			return record.Survey{}, err
		}
		updated, err := s.computeUpdate(ctx, p, request)
		if err != nil {
			return record.Survey{}, err
		}
		err = s.Storage.Transact(ctx, func(tx Tx) error { return s.writeUpdate(ctx, tx, principal, p, updated) })
		return updated.Survey, err
	})
}

// computeUpdate returns the survey after a change.
func (s *Service) computeUpdate(ctx context.Context, p flow.Progress, request UpdateRequest) (flow.Progress, error) {
	modelID := ""
	if request.Language != "" {
		var err error
		if modelID, err = s.selectModel(request.Language, ""); err != nil {
			return flow.Progress{}, err
		}
	}
	patch := request.Patch
	patch.ChangesLanguage = modelID != "" && modelID != p.Survey.ModelID
	env, err := s.envForUpdate(&p.Survey, modelID)
	if err != nil {
		return flow.Progress{}, err
	}
	defer env.release()
	var prior flow.Progress
	if p.NeedsPriorEvidence(patch) {
		if _, prior, err = s.loadPatient(ctx, p.Survey.PatientID, true); err != nil {
			return flow.Progress{}, err
		}
	}
	priorEvidence := flow.FollowUpEvidence(prior, env.Env)
	findings := max(len(patch.Evidence), len(p.Survey.Evidence), len(priorEvidence))
	return withLimiter(ctx, s, findings, func() (flow.Progress, error) { return flow.Update(p, patch, priorEvidence, env.Env) })
}

// envForUpdate returns the environment of a model, or of the survey if the ID is
// empty.
func (s *Service) envForUpdate(survey *record.Survey, modelID string) (leasedEnv, error) {
	if modelID == "" {
		return s.envForSurvey(survey)
	}
	return s.envForModel(modelID)
}

// writeUpdate replaces the stored survey with the updated one.
func (s *Service) writeUpdate(ctx context.Context, tx Tx, principal identity.Principal, before, updated flow.Progress) error {
	id := updated.Survey.ID
	if err := tx.UpdateSurvey(ctx, updated.Survey); err != nil {
		return err
	}
	if len(record.AnsweredSteps(before.Steps)) == 0 { // answered questions do not change
		if err := tx.PutSteps(ctx, id, 0, updated.Steps); err != nil {
			return err
		}
		if err := tx.DeleteSteps(ctx, id, len(updated.Steps)); err != nil {
			return err
		}
	}
	if !updated.Survey.NotificationDate.Equal(before.Survey.NotificationDate) {
		if err := webhook.ScheduleNotification(ctx, tx, updated.Survey); err != nil {
			return err
		}
	}
	return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Change, audit.Survey, id))
}
