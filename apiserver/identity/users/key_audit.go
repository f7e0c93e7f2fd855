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
	// Digest distinguishes the keys of an application. Only its keyed hash is stored.
	Digest []byte
}

// storedKey is the stored form of an AuditedKey.
type storedKey struct {
	Resource audit.Resource `json:"resource"`
	ID       string         `json:"id"`
	Hash     string         `json:"hash"`
}

// keysStateName is the name of the stored state that contains the last known keys.
const keysStateName = "keys"

// AuditKeyChanges records which keys were added and removed since the last call by any
// replica. The first call records nothing.
func (s *Service) AuditKeyChanges(ctx context.Context, keys []AuditedKey) error {
	return s.Storage.Transact(ctx, func(tx Tx) error {
		text, err := tx.LockState(ctx, keysStateName, "")
		if err != nil {
			return err
		}
		var before []storedKey
		if text != "" && json.Unmarshal([]byte(text), &before) != nil {
			return errors.New("decoding stored key state: unexpected format")
		}
		after, added, err := s.matchKeys(keys, before)
		if err != nil {
			return err
		}
		removed := slices.DeleteFunc(slices.Clone(before), func(key storedKey) bool { return slices.Contains(after, key) })
		if len(added)+len(removed) == 0 {
			return nil
		}
		if text != "" {
			if err := s.auditKeys(ctx, tx, added, removed); err != nil {
				return err
			}
		}
		return storeKeys(ctx, tx, after)
	})
}

// matchKeys converts keys to their stored form and also returns the added keys. Keys that are
// already stored under the hash of another hash key keep that form.
func (s *Service) matchKeys(keys []AuditedKey, before []storedKey) (after, added []storedKey, err error) {
	for _, key := range keys {
		forms, err := s.storedForms(key)
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(before, func(stored storedKey) bool { return slices.Contains(forms, stored) })
		if i < 0 {
			after, added = append(after, forms[0]), append(added, forms[0])
		} else {
			after = append(after, before[i])
		}
	}
	return after, added, nil
}

// storedForms returns the stored forms of a key, one for each hash key available during
// keyset rotation.
func (s *Service) storedForms(key AuditedKey) ([]storedKey, error) {
	if len(key.Digest) == 0 {
		return []storedKey{{Resource: key.Resource, ID: key.ID}}, nil
	}
	hashes, err := s.Keyring.Hashes("key", string(key.Digest))
	if err != nil {
		return nil, err
	}
	forms := make([]storedKey, len(hashes))
	for i, hash := range hashes {
		forms[i] = storedKey{key.Resource, key.ID, base64.RawStdEncoding.EncodeToString(hash.Sum)}
	}
	return forms, nil
}

func (s *Service) auditKeys(ctx context.Context, tx Tx, added, removed []storedKey) error {
	for _, change := range []struct {
		action audit.Action
		keys   []storedKey
	}{{audit.Create, added}, {audit.Delete, removed}} {
		for _, key := range change.keys {
			if err := tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), audit.Actor{}, change.action, key.Resource, key.ID)); err != nil {
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
