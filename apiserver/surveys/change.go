// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// A Change is what a client wants to change of a survey. The language of the patch
// follows from the one that is asked for.
type Change struct {
	survey.Patch
	Language string // empty: the one that it has
}

// Change changes a survey.
func (r *Register) Change(ctx context.Context, by audit.Actor, id string, wanted Change) (guidance.Survey, error) {
	return again(func() (guidance.Survey, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return guidance.Survey{}, err
		}
		revised, err := r.revise(ctx, p, wanted)
		if err != nil {
			return guidance.Survey{}, err
		}
		err = r.Storage.Transact(ctx, func(tx storage.Tx) error { return r.rewrite(ctx, tx, by, p, revised) })
		return revised.Survey, err
	})
}

// revise computes what a change makes of a survey.
func (r *Register) revise(ctx context.Context, p survey.Progress, wanted Change) (survey.Progress, error) {
	modelID := ""
	if wanted.Language != "" {
		var err error
		if modelID, err = r.chosenModel(wanted.Language, ""); err != nil {
			return survey.Progress{}, err
		}
	}
	patch := wanted.Patch
	patch.Language = modelID != "" && modelID != p.Survey.ModelID
	w, err := r.worldFor(&p.Survey, modelID)
	if err != nil {
		return survey.Progress{}, err
	}
	defer w.done()
	var earlier survey.Progress
	if p.NeedsEarlier(patch) {
		if _, earlier, err = r.before(ctx, p.Survey.PatientID, true); err != nil {
			return survey.Progress{}, err
		}
	}
	known := survey.Reported(earlier, w.World)
	findings := max(len(patch.Evidence), len(p.Survey.Evidence), len(known))
	return inTurn(ctx, r, findings, func() (survey.Progress, error) { return survey.Revise(p, patch, known, w.World) })
}

// worldFor is the world of a model, or the one of a survey for an empty id.
func (r *Register) worldFor(s *guidance.Survey, modelID string) (world, error) {
	if modelID == "" {
		return r.worldOf(s)
	}
	return r.worldIn(modelID)
}

// rewrite keeps a revised survey in the place of what it was.
func (r *Register) rewrite(ctx context.Context, tx storage.Tx, by audit.Actor, was, revised survey.Progress) error {
	id := revised.Survey.ID
	if err := tx.UpdateSurvey(ctx, revised.Survey); err != nil {
		return err
	}
	if len(guidance.Answered(was.Steps)) == 0 { // else no question changes
		if err := tx.PutSteps(ctx, id, 0, revised.Steps); err != nil {
			return err
		}
		if err := tx.DeleteSteps(ctx, id, len(revised.Steps)); err != nil {
			return err
		}
	}
	if !revised.Survey.NotificationDate.Equal(was.Survey.NotificationDate) {
		if err := webhooks.Schedule(ctx, tx, revised.Survey); err != nil {
			return err
		}
	}
	return tx.InsertAudit(ctx, r.record(by, audit.Change, audit.Survey, id))
}
