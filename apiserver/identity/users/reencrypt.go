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

// Reencrypt re-encrypts and rehashes users with the current keys and returns how many were
// updated. It may be called at any time and by several replicas concurrently. Users whose
// contact data cannot be decrypted stay unchanged and are reported in the error.
func (s *Service) Reencrypt(ctx context.Context) (updated int, err error) {
	var failed error
	for after := ""; ; {
		var ids []string
		err := s.Storage.View(ctx, func(tx Reader) (err error) {
			ids, err = tx.ListUserIDsToReencrypt(ctx, s.Keyring.KeyVersion(), after, reencryptBatchSize)
			return err
		})
		if err != nil || len(ids) == 0 {
			return updated, errors.Join(failed, err)
		}
		for _, id := range ids {
			switch err := s.reencryptUser(ctx, id); {
			case err == nil:
				updated++
			case failed == nil:
				failed = fmt.Errorf("re-encrypting contact data of users: %w", err)
			}
		}
		after = ids[len(ids)-1]
	}
}

// reencryptUser re-encrypts one user. It does nothing if the user has been deleted.
func (s *Service) reencryptUser(ctx context.Context, id string) error {
	err := s.Storage.Transact(ctx, func(tx Tx) error {
		stored, err := tx.LockUser(ctx, id)
		if err != nil {
			return err
		}
		user, err := s.decryptUser(stored)
		if err != nil {
			return err
		}
		return s.storeUser(ctx, tx, user)
	})
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	return err
}
