// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func userOf(row queries.UserRow) storage.User {
	return storage.User{ID: row.ID, Contact: row.Contact, Generation: row.Generation, CreatedAt: row.CreatedAt.UTC()}
}

// InsertUser implements storage.Users.
func (t tx) InsertUser(ctx context.Context, user storage.User, hashes []storage.ContactHash) error {
	err := t.Queries.InsertUser(ctx, queries.InsertUserParams{
		ID: user.ID, Contact: user.Contact, Generation: user.Generation, CreatedAt: user.CreatedAt.Truncate(time.Microsecond),
	})
	if err != nil {
		return failure(ctx, "keep a user", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

func (t tx) insertHashes(ctx context.Context, userID string, hashes []storage.ContactHash) error {
	for _, hash := range hashes {
		err := t.InsertUserHash(ctx, queries.InsertUserHashParams{Kind: hash.Kind, Key: hash.Key, Hash: hash.Sum, UserID: userID})
		if err == nil {
			continue
		}
		if err = failure(ctx, "keep a hash of a user", err); errors.Is(err, storage.ErrTaken) {
			return &storage.TakenError{Kind: hash.Kind}
		}
		return err
	}
	return nil
}

// User implements storage.Users.
func (t tx) User(ctx context.Context, id string) (storage.User, error) {
	row, err := t.Queries.User(ctx, id)
	if err != nil {
		return storage.User{}, found(ctx, "read a user", err)
	}
	return userOf(row), nil
}

// LockUser implements storage.Users.
func (t tx) LockUser(ctx context.Context, id string) (storage.User, error) {
	row, err := t.Queries.LockUser(ctx, id)
	if err != nil {
		return storage.User{}, found(ctx, "read a user", err)
	}
	return userOf(queries.UserRow(row)), nil
}

// UserByHash implements storage.Users.
func (t tx) UserByHash(ctx context.Context, hashes []storage.ContactHash) (storage.User, error) {
	for _, hash := range hashes {
		row, err := t.Queries.UserByHash(ctx, queries.UserByHashParams{Kind: hash.Kind, Key: hash.Key, Hash: hash.Sum})
		if err == nil {
			return userOf(queries.UserRow(row)), nil
		}
		if err = found(ctx, "look for a user", err); !errors.Is(err, storage.ErrNotFound) {
			return storage.User{}, err
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// Users implements storage.Users.
func (t tx) Users(ctx context.Context, skipped, atMost int64) ([]storage.User, int64, error) {
	total, err := t.CountUsers(ctx)
	if err != nil {
		return nil, 0, failure(ctx, "count users", err)
	}
	rows, err := t.Queries.Users(ctx, queries.UsersParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure(ctx, "read users", err)
	}
	page := make([]storage.User, len(rows))
	for i, row := range rows {
		page[i] = userOf(queries.UserRow(row))
	}
	return page, total, nil
}

// UsersOfOtherGenerations implements storage.Users.
func (t tx) UsersOfOtherGenerations(ctx context.Context, generation, after string, atMost int64) ([]string, error) {
	ids, err := t.Queries.UsersOfOtherGenerations(ctx, queries.UsersOfOtherGenerationsParams{
		Generation: generation, After: after, AtMost: atMost,
	})
	if err != nil {
		return nil, failure(ctx, "look for users that were sealed with other keys", err)
	}
	return ids, nil
}

// UpdateUser implements storage.Users.
func (t tx) UpdateUser(ctx context.Context, user storage.User, hashes []storage.ContactHash) error {
	err := t.Queries.UpdateUser(ctx, queries.UpdateUserParams{ID: user.ID, Contact: user.Contact, Generation: user.Generation})
	if err != nil {
		return failure(ctx, "change a user", err)
	}
	if err := t.DeleteUserHashes(ctx, user.ID); err != nil {
		return failure(ctx, "take away the hashes of a user", err)
	}
	return t.insertHashes(ctx, user.ID, hashes)
}

// DeleteUser implements storage.Users.
func (t tx) DeleteUser(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteUser(ctx, id)
	switch {
	case err != nil:
		return failure(ctx, "erase a user", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
