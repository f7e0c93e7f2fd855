// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

// LockState implements storage.SignInStore.
func (t *Tx) LockState(ctx context.Context, name, userID string) (string, error) {
	owner := &userID
	if userID == "" {
		owner = nil
	}
	if err := t.InsertState(ctx, queries.InsertStateParams{Name: name, UserID: owner}); err != nil {
		return "", t.wrap(ctx, "creating sign-in state", err)
	}
	state, err := t.State(ctx, name)
	return state, t.wrap(ctx, "reading sign-in state", err)
}

// PutState implements storage.SignInStore.
func (t *Tx) PutState(ctx context.Context, name, state string) error {
	err := t.UpdateState(ctx, queries.UpdateStateParams{Name: name, State: state})
	return t.wrap(ctx, "updating sign-in state", err)
}

// InsertMagicCode implements storage.SignInStore.
func (t *Tx) InsertMagicCode(ctx context.Context, code record.MagicCode, now time.Time) error {
	if err := t.DeleteExpiredMagicCodes(ctx, now); err != nil {
		return t.wrap(ctx, "deleting expired codes", err)
	}
	err := t.Queries.InsertMagicCode(ctx, queries.InsertMagicCodeParams{
		Hash: code.Hash, UserID: code.UserID, SurveyID: code.SurveyID, ExpiresAt: code.ExpiresAt,
	})
	return t.wrap(ctx, "storing code", err)
}

// GetMagicCode implements storage.SignInStore.
func (t *Tx) GetMagicCode(ctx context.Context, hash []byte) (record.MagicCode, error) {
	row, err := t.MagicCode(ctx, hash)
	if err != nil {
		return record.MagicCode{}, t.wrapFound(ctx, "reading code", err)
	}
	return record.MagicCode{Hash: hash, UserID: row.UserID, SurveyID: row.SurveyID, ExpiresAt: row.ExpiresAt.UTC()}, nil
}
