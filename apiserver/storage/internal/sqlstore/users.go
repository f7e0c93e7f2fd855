// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

func toUser(row queries.UserRow) record.EncryptedUser {
	return record.EncryptedUser{ID: row.ID, EncryptedContact: row.Contact, KeyVersion: row.Generation, CreatedAt: row.CreatedAt.UTC()}
}

// InsertUser implements storage.UserStore.
func (t *Tx) InsertUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error {
	err := t.Queries.InsertUser(ctx, queries.InsertUserParams{
		ID: user.ID, Contact: user.EncryptedContact, Generation: user.KeyVersion, CreatedAt: user.CreatedAt,
	})
	if err != nil {
		return t.wrap(ctx, "creating user", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

func (t *Tx) insertHashes(ctx context.Context, userID string, hashes []record.ContactHash) error {
	for _, hash := range hashes {
		err := t.InsertUserHash(ctx, queries.InsertUserHashParams{Kind: hash.Kind, Key: hash.KeyID, Hash: hash.Sum, UserID: userID})
		if err = t.wrap(ctx, "storing user hash", err); errors.Is(err, record.ErrAlreadyExists) {
			return &record.AlreadyExistsError{Kind: hash.Kind}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// GetUser implements storage.UserStore.
func (t *Tx) GetUser(ctx context.Context, id string) (record.EncryptedUser, error) {
	row, err := t.User(ctx, id)
	return toUser(row), t.wrapFound(ctx, "reading user", err)
}

// LockUser implements storage.UserStore.
func (t *Tx) LockUser(ctx context.Context, id string) (record.EncryptedUser, error) {
	row, err := t.Queries.LockUser(ctx, id)
	return toUser(queries.UserRow(row)), t.wrapFound(ctx, "reading user", err)
}

// GetUserByHash implements storage.UserStore.
func (t *Tx) GetUserByHash(ctx context.Context, hashes []record.ContactHash) (record.EncryptedUser, error) {
	for _, hash := range hashes {
		row, err := t.UserByHash(ctx, queries.UserByHashParams{Kind: hash.Kind, Key: hash.KeyID, Hash: hash.Sum})
		if err = t.wrapFound(ctx, "finding user", err); !errors.Is(err, record.ErrNotFound) {
			return toUser(queries.UserRow(row)), err
		}
	}
	return record.EncryptedUser{}, record.ErrNotFound
}

// ListUsers implements storage.UserStore.
func (t *Tx) ListUsers(ctx context.Context, offset, limit int64) ([]record.EncryptedUser, int64, error) {
	total, err := t.CountUsers(ctx)
	if err != nil {
		return nil, 0, t.wrap(ctx, "counting users", err)
	}
	rows, err := t.Users(ctx, queries.UsersParams{Offset: offset, Limit: limit})
	page := convert(rows, func(row queries.UsersRow) record.EncryptedUser { return toUser(queries.UserRow(row)) })
	return page, total, t.wrap(ctx, "listing users", err)
}

// ListUserIDsToReencrypt implements storage.UserStore.
func (t *Tx) ListUserIDsToReencrypt(ctx context.Context, keyVersion, after string, limit int64) ([]string, error) {
	ids, err := t.UserIDsWithOtherKeys(ctx, queries.UserIDsWithOtherKeysParams{
		Generation: keyVersion, After: after, Limit: limit,
	})
	return ids, t.wrap(ctx, "listing users encrypted with other keys", err)
}

// UpdateUser implements storage.UserStore.
func (t *Tx) UpdateUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error {
	err := t.Queries.UpdateUser(ctx, queries.UpdateUserParams{ID: user.ID, Contact: user.EncryptedContact, Generation: user.KeyVersion})
	if err != nil {
		return t.wrap(ctx, "updating user", err)
	}
	if err := t.DeleteUserHashes(ctx, user.ID); err != nil {
		return t.wrap(ctx, "deleting user hashes", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

// DeleteUser implements storage.UserStore.
func (t *Tx) DeleteUser(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteUser(ctx, id)
	return t.wrapChanged(ctx, "deleting user", deleted, err, record.ErrNotFound)
}
