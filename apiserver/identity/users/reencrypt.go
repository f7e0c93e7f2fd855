// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"errors"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// reencryptBatchSize limits the users per query.
const reencryptBatchSize = 100

// Reencrypt re-encrypts and rehashes users with the current keys and returns how many
// were updated. It is safe to call at any time and on several replicas concurrently.
// Users whose contact data cannot be decrypted stay unchanged and are reported in the
// error.
func (r *Service) Reencrypt(ctx context.Context) (renewed int, err error) {
	var failed error
	for after := ""; ; {
		var ids []string
		err := r.Storage.View(ctx, func(tx Reader) (err error) {
			ids, err = tx.ListUserIDsToReencrypt(ctx, r.Keyring.KeyVersion(), after, reencryptBatchSize)
			return err
		})
		if err != nil || len(ids) == 0 {
			return renewed, errors.Join(failed, err)
		}
		for _, id := range ids {
			switch err := r.reencryptUser(ctx, id); {
			case err == nil:
				renewed++
			case failed == nil:
				failed = fmt.Errorf("re-encrypting contact data of users: %w", err)
			}
		}
		after = ids[len(ids)-1]
	}
}

// reencryptUser re-encrypts one user, unless the user was deleted.
func (r *Service) reencryptUser(ctx context.Context, id string) error {
	err := r.Storage.Transact(ctx, func(tx Tx) error {
		kept, err := tx.LockUser(ctx, id)
		if err != nil {
			return err
		}
		user, err := r.decryptUser(kept)
		if err != nil {
			return err
		}
		return r.storeUser(ctx, tx, user)
	})
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	return err
}
