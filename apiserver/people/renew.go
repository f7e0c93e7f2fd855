// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// renewedAtOnce is how many users are looked for at a time.
const renewedAtOnce = 100

// Renew seals and hashes with the keys of now what was sealed or hashed with
// others, and says of how many users. It may be called at any time, on several
// replicas at once. A user whose contact data does not open is left as it is, and
// told in the error.
func (r *Register) Renew(ctx context.Context) (renewed int, err error) {
	var failed error
	for after := ""; ; {
		var ids []string
		err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
			ids, err = tx.UsersOfOtherGenerations(ctx, r.Keys.Generation(), after, renewedAtOnce)
			return err
		})
		if err != nil || len(ids) == 0 {
			return renewed, errors.Join(failed, err)
		}
		for _, id := range ids {
			switch err := r.renew(ctx, id); {
			case err == nil:
				renewed++
			case failed == nil:
				failed = fmt.Errorf("seal the contact data of users anew: %w", err)
			}
		}
		after = ids[len(ids)-1]
	}
}

// renew seals one user, unless that is gone.
func (r *Register) renew(ctx context.Context, id string) error {
	err := r.Storage.Transact(ctx, func(tx storage.Tx) error {
		kept, err := tx.LockUser(ctx, id)
		if err != nil {
			return err
		}
		user, err := r.unseal(kept)
		if err != nil {
			return err
		}
		return r.update(ctx, tx, user)
	})
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
