// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func toUser(row queries.UserRow) storage.User {
	return storage.User{ID: row.ID, EncryptedContact: row.Contact, KeyVersion: row.Generation, CreatedAt: row.CreatedAt.UTC()}
}

// InsertUser implements storage.UserStore.
func (t tx) InsertUser(ctx context.Context, user storage.User, hashes []storage.ContactHash) error {
	err := t.Queries.InsertUser(ctx, queries.InsertUserParams{
		ID: user.ID, Contact: user.EncryptedContact, Generation: user.KeyVersion, CreatedAt: user.CreatedAt.Truncate(time.Microsecond),
	})
	if err != nil {
		return wrapError(ctx, "creating user", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

func (t tx) insertHashes(ctx context.Context, userID string, hashes []storage.ContactHash) error {
	for _, hash := range hashes {
		err := t.InsertUserHash(ctx, queries.InsertUserHashParams{Kind: hash.Kind, Key: hash.KeyID, Hash: hash.Sum, UserID: userID})
		if err == nil {
			continue
		}
		if err = wrapError(ctx, "storing user hash", err); errors.Is(err, storage.ErrAlreadyExists) {
			return &storage.AlreadyExistsError{Kind: hash.Kind}
		}
		return err
	}
	return nil
}

// GetUser implements storage.UserStore.
func (t tx) GetUser(ctx context.Context, id string) (storage.User, error) {
	row, err := t.User(ctx, id)
	if err != nil {
		return storage.User{}, wrapNotFound(ctx, "reading user", err)
	}
	return toUser(row), nil
}

// LockUser implements storage.UserStore.
func (t tx) LockUser(ctx context.Context, id string) (storage.User, error) {
	row, err := t.Queries.LockUser(ctx, id)
	if err != nil {
		return storage.User{}, wrapNotFound(ctx, "reading user", err)
	}
	return toUser(queries.UserRow(row)), nil
}

// GetUserByHash implements storage.UserStore.
func (t tx) GetUserByHash(ctx context.Context, hashes []storage.ContactHash) (storage.User, error) {
	for _, hash := range hashes {
		row, err := t.UserByHash(ctx, queries.UserByHashParams{Kind: hash.Kind, Key: hash.KeyID, Hash: hash.Sum})
		if err == nil {
			return toUser(queries.UserRow(row)), nil
		}
		if err = wrapNotFound(ctx, "finding user", err); !errors.Is(err, storage.ErrNotFound) {
			return storage.User{}, err
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// ListUsers implements storage.UserStore.
func (t tx) ListUsers(ctx context.Context, skipped, atMost int64) ([]storage.User, int64, error) {
	total, err := t.CountUsers(ctx)
	if err != nil {
		return nil, 0, wrapError(ctx, "counting users", err)
	}
	rows, err := t.Users(ctx, queries.UsersParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError(ctx, "listing users", err)
	}
	page := make([]storage.User, len(rows))
	for i, row := range rows {
		page[i] = toUser(queries.UserRow(row))
	}
	return page, total, nil
}

// ListUserIDsToReencrypt implements storage.UserStore.
func (t tx) ListUserIDsToReencrypt(ctx context.Context, generation, after string, atMost int64) ([]string, error) {
	ids, err := t.UsersOfOtherGenerations(ctx, queries.UsersOfOtherGenerationsParams{
		Generation: generation, After: after, AtMost: atMost,
	})
	if err != nil {
		return nil, wrapError(ctx, "listing users encrypted with other keys", err)
	}
	return ids, nil
}

// UpdateUser implements storage.UserStore.
func (t tx) UpdateUser(ctx context.Context, user storage.User, hashes []storage.ContactHash) error {
	err := t.Queries.UpdateUser(ctx, queries.UpdateUserParams{ID: user.ID, Contact: user.EncryptedContact, Generation: user.KeyVersion})
	if err != nil {
		return wrapError(ctx, "updating user", err)
	}
	if err := t.DeleteUserHashes(ctx, user.ID); err != nil {
		return wrapError(ctx, "deleting user hashes", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

// DeleteUser implements storage.UserStore.
func (t tx) DeleteUser(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteUser(ctx, id)
	switch {
	case err != nil:
		return wrapError(ctx, "deleting user", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
