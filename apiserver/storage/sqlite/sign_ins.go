// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// LockState implements storage.SignInStore.
func (t tx) LockState(ctx context.Context, name, userID string) (string, error) {
	owner := &userID
	if userID == "" {
		owner = nil
	}
	if err := t.InsertState(ctx, queries.InsertStateParams{Name: name, UserID: owner}); err != nil {
		return "", wrapError("creating sign-in state", err)
	}
	state, err := t.State(ctx, name)
	if err != nil {
		return "", wrapError("reading sign-in state", err)
	}
	return state, nil
}

// PutState implements storage.SignInStore.
func (t tx) PutState(ctx context.Context, name, state string) error {
	if err := t.UpdateState(ctx, queries.UpdateStateParams{Name: name, State: state}); err != nil {
		return wrapError("updating sign-in state", err)
	}
	return nil
}

// InsertMagicCode implements storage.SignInStore.
func (t tx) InsertMagicCode(ctx context.Context, code storage.MagicCode, now time.Time) error {
	if err := t.DeleteMagicCodes(ctx, now.UnixMicro()); err != nil {
		return wrapError("deleting expired codes", err)
	}
	err := t.Queries.InsertMagicCode(ctx, queries.InsertMagicCodeParams{
		Hash: code.Hash, UserID: code.UserID, SurveyID: code.SurveyID, ExpiresAt: code.ExpiresAt.UnixMicro(),
	})
	if err != nil {
		return wrapError("storing code", err)
	}
	return nil
}

// GetMagicCode implements storage.SignInStore.
func (t tx) GetMagicCode(ctx context.Context, hash []byte) (storage.MagicCode, error) {
	row, err := t.MagicCode(ctx, hash)
	if err != nil {
		return storage.MagicCode{}, wrapNotFound("reading code", err)
	}
	return storage.MagicCode{Hash: hash, UserID: row.UserID, SurveyID: row.SurveyID, ExpiresAt: time.UnixMicro(row.ExpiresAt).UTC()}, nil
}
