// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// AuditedKey is a key that protects an instance: an application key, a signing key or an
// encryption keyset.
type AuditedKey struct {
	Resource audit.Resource // audit.ApplicationKey, SigningKey or Keyset
	ID       string         // application id for application keys, key id otherwise
	// Digest distinguishes the keys of an application. Only a keyed hash of it is stored.
	Digest []byte
}

// storedKey is the stored form of an AuditedKey.
type storedKey struct {
	Resource audit.Resource `json:"resource"`
	ID       string         `json:"id"`
	Hash     string         `json:"hash"`
}

// keysStateName is the name of the state that holds the last known keys.
const keysStateName = "keys"

// AuditKeyChanges records which keys were added and removed since the last call by any
// replica. The first call of an instance records nothing.
func (r *Service) AuditKeyChanges(ctx context.Context, keys []AuditedKey) error {
	return r.Storage.Transact(ctx, func(tx Tx) error {
		text, err := tx.LockState(ctx, keysStateName, "")
		if err != nil {
			return err
		}
		var before []storedKey
		if text != "" && json.Unmarshal([]byte(text), &before) != nil {
			return errors.New("decoding stored key state: unexpected format")
		}
		after, came, err := r.matchKeys(keys, before)
		if err != nil {
			return err
		}
		went := slices.DeleteFunc(slices.Clone(before), func(key storedKey) bool { return slices.Contains(after, key) })
		if len(came)+len(went) == 0 {
			return nil
		}
		if text != "" {
			if err := r.auditKeys(ctx, tx, came, went); err != nil {
				return err
			}
		}
		return storeKeys(ctx, tx, after)
	})
}

// matchKeys converts keys to their stored form and returns the keys that are new. Keys
// already stored under the hash of another hash key are kept as they are.
func (r *Service) matchKeys(keys []AuditedKey, before []storedKey) (after, came []storedKey, err error) {
	for _, key := range keys {
		forms, err := r.storedForms(key)
		if err != nil {
			return nil, nil, err
		}
		known := slices.IndexFunc(before, func(kept storedKey) bool { return slices.Contains(forms, kept) })
		if known < 0 {
			after, came = append(after, forms[0]), append(came, forms[0])
		} else {
			after = append(after, before[known])
		}
	}
	return after, came, nil
}

// storedForms returns the stored forms of a key, one for each hash key available during
// keyset rotation.
func (r *Service) storedForms(key AuditedKey) ([]storedKey, error) {
	if len(key.Digest) == 0 {
		return []storedKey{{Resource: key.Resource, ID: key.ID}}, nil
	}
	hashes, err := r.Keyring.Hashes("key", string(key.Digest))
	if err != nil {
		return nil, err
	}
	forms := make([]storedKey, len(hashes))
	for i, hash := range hashes {
		forms[i] = storedKey{key.Resource, key.ID, base64.RawStdEncoding.EncodeToString(hash.Sum)}
	}
	return forms, nil
}

func (r *Service) auditKeys(ctx context.Context, tx Tx, came, went []storedKey) error {
	for _, turned := range []struct {
		action audit.Action
		keys   []storedKey
	}{{audit.Create, came}, {audit.Delete, went}} {
		for _, key := range turned.keys {
			if err := tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), audit.Actor{}, turned.action, key.Resource, key.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

func storeKeys(ctx context.Context, tx Tx, keys []storedKey) error {
	text, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("encoding key state: %w", err)
	}
	return tx.PutState(ctx, keysStateName, string(text))
}
