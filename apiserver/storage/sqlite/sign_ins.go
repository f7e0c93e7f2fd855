// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// LockState implements storage.SignIns.
func (t tx) LockState(ctx context.Context, name, userID string) (string, error) {
	owner := &userID
	if userID == "" {
		owner = nil
	}
	if err := t.InsertState(ctx, queries.InsertStateParams{Name: name, UserID: owner}); err != nil {
		return "", failure("begin a state of signing in", err)
	}
	state, err := t.State(ctx, name)
	if err != nil {
		return "", failure("read a state of signing in", err)
	}
	return state, nil
}

// PutState implements storage.SignIns.
func (t tx) PutState(ctx context.Context, name, state string) error {
	if err := t.UpdateState(ctx, queries.UpdateStateParams{Name: name, State: state}); err != nil {
		return failure("keep a state of signing in", err)
	}
	return nil
}

// InsertMagicCode implements storage.SignIns.
func (t tx) InsertMagicCode(ctx context.Context, code storage.MagicCode, now time.Time) error {
	if err := t.DeleteMagicCodes(ctx, now.UnixMicro()); err != nil {
		return failure("forget expired codes", err)
	}
	err := t.Queries.InsertMagicCode(ctx, queries.InsertMagicCodeParams{
		Hash: code.Hash, UserID: code.UserID, SurveyID: code.SurveyID, ExpiresAt: code.ExpiresAt.UnixMicro(),
	})
	if err != nil {
		return failure("keep a code", err)
	}
	return nil
}

// MagicCode implements storage.SignIns.
func (t tx) MagicCode(ctx context.Context, hash []byte) (storage.MagicCode, error) {
	row, err := t.Queries.MagicCode(ctx, hash)
	if err != nil {
		return storage.MagicCode{}, found("read a code", err)
	}
	return storage.MagicCode{Hash: hash, UserID: row.UserID, SurveyID: row.SurveyID, ExpiresAt: time.UnixMicro(row.ExpiresAt).UTC()}, nil
}
