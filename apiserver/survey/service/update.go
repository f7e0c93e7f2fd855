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

// An UpdateRequest is a client's request to change a survey. The language of the patch
// follows from the requested language.
type UpdateRequest struct {
	flow.Patch
	Language string // if empty, unchanged
}

// Update changes a survey.
func (r *Service) Update(ctx context.Context, by identity.Principal, id string, wanted UpdateRequest) (record.Survey, error) {
	return retryOnConflict(func() (record.Survey, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return record.Survey{}, err
		}
		revised, err := r.computeUpdate(ctx, p, wanted)
		if err != nil {
			return record.Survey{}, err
		}
		err = r.Storage.Transact(ctx, func(tx Tx) error { return r.writeUpdate(ctx, tx, by, p, revised) })
		return revised.Survey, err
	})
}

// computeUpdate returns the survey after a change.
func (r *Service) computeUpdate(ctx context.Context, p flow.Progress, wanted UpdateRequest) (flow.Progress, error) {
	modelID := ""
	if wanted.Language != "" {
		var err error
		if modelID, err = r.selectModel(wanted.Language, ""); err != nil {
			return flow.Progress{}, err
		}
	}
	patch := wanted.Patch
	patch.ChangesLanguage = modelID != "" && modelID != p.Survey.ModelID
	w, err := r.envForUpdate(&p.Survey, modelID)
	if err != nil {
		return flow.Progress{}, err
	}
	defer w.release()
	var earlier flow.Progress
	if p.NeedsPriorEvidence(patch) {
		if _, earlier, err = r.loadPatient(ctx, p.Survey.PatientID, true); err != nil {
			return flow.Progress{}, err
		}
	}
	known := flow.FollowUpEvidence(earlier, w.Env)
	findings := max(len(patch.Evidence), len(p.Survey.Evidence), len(known))
	return withLimiter(ctx, r, findings, func() (flow.Progress, error) { return flow.Update(p, patch, known, w.Env) })
}

// envForUpdate returns the environment of a model, or of the survey if the ID is
// empty.
func (r *Service) envForUpdate(s *record.Survey, modelID string) (leasedEnv, error) {
	if modelID == "" {
		return r.envForSurvey(s)
	}
	return r.envForModel(modelID)
}

// writeUpdate replaces the stored survey with the updated one.
func (r *Service) writeUpdate(ctx context.Context, tx Tx, by identity.Principal, was, revised flow.Progress) error {
	id := revised.Survey.ID
	if err := tx.UpdateSurvey(ctx, revised.Survey); err != nil {
		return err
	}
	if len(record.AnsweredSteps(was.Steps)) == 0 { // once answered, the questions do not change
		if err := tx.PutSteps(ctx, id, 0, revised.Steps); err != nil {
			return err
		}
		if err := tx.DeleteSteps(ctx, id, len(revised.Steps)); err != nil {
			return err
		}
	}
	if !revised.Survey.NotificationDate.Equal(was.Survey.NotificationDate) {
		if err := webhook.ScheduleNotification(ctx, tx, revised.Survey); err != nil {
			return err
		}
	}
	return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Change, audit.Survey, id))
}
