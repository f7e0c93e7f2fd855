// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Key is one that an instance is guarded by: an application's, or one by which it
// signs or seals.
type Key struct {
	Resource audit.Resource // audit.ApplicationKey, SigningKey or Keyset
	ID       string         // of the application whose it is, else of the key itself
	// Digest tells the keys of an application from each other. A keyed hash of it is
	// kept.
	Digest []byte
}

// keptKey is a key as it is remembered.
type keptKey struct {
	Resource audit.Resource `json:"resource"`
	ID       string         `json:"id"`
	Hash     string         `json:"hash"`
}

// keysState is the name of the state that holds the keys that were noted last.
const keysState = "keys"

// NoteKeys records which keys came and which went since they were last noted, by
// whichever replica. Those of an instance that has noted none are not recorded.
func (r *Register) NoteKeys(ctx context.Context, keys []Key) error {
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		text, err := tx.LockState(ctx, keysState, "")
		if err != nil {
			return err
		}
		var before []keptKey
		if text != "" && json.Unmarshal([]byte(text), &before) != nil {
			return errors.New("what is kept of the keys of the instance is not what was kept once")
		}
		after, came, err := r.match(keys, before)
		if err != nil {
			return err
		}
		went := slices.DeleteFunc(slices.Clone(before), func(key keptKey) bool { return slices.Contains(after, key) })
		if len(came)+len(went) == 0 {
			return nil
		}
		if text != "" {
			if err := r.recordKeys(ctx, tx, came, went); err != nil {
				return err
			}
		}
		return putKeys(ctx, tx, after)
	})
}

// match brings keys into the form in which they are kept, and says which of them
// are not kept yet. What was kept under a hash by another key stays as it is.
func (r *Register) match(keys []Key, before []keptKey) (after, came []keptKey, err error) {
	for _, key := range keys {
		forms, err := r.forms(key)
		if err != nil {
			return nil, nil, err
		}
		known := slices.IndexFunc(before, func(kept keptKey) bool { return slices.Contains(forms, kept) })
		if known < 0 {
			after, came = append(after, forms[0]), append(came, forms[0])
		} else {
			after = append(after, before[known])
		}
	}
	return after, came, nil
}

// forms are those in which a key may be kept: with each of the hashes that there
// are while keysets turn.
func (r *Register) forms(key Key) ([]keptKey, error) {
	if len(key.Digest) == 0 {
		return []keptKey{{Resource: key.Resource, ID: key.ID}}, nil
	}
	hashes, err := r.Keys.Hashes("key", string(key.Digest))
	if err != nil {
		return nil, err
	}
	forms := make([]keptKey, len(hashes))
	for i, hash := range hashes {
		forms[i] = keptKey{key.Resource, key.ID, base64.RawStdEncoding.EncodeToString(hash.Sum)}
	}
	return forms, nil
}

func (r *Register) recordKeys(ctx context.Context, tx storage.Tx, came, went []keptKey) error {
	for _, turned := range []struct {
		action audit.Action
		keys   []keptKey
	}{{audit.Create, came}, {audit.Delete, went}} {
		for _, key := range turned.keys {
			if err := tx.InsertAudit(ctx, r.record(audit.Actor{}, turned.action, key.Resource, key.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

func putKeys(ctx context.Context, tx storage.Tx, keys []keptKey) error {
	text, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("write down the keys of the instance: %w", err)
	}
	return tx.PutState(ctx, keysState, string(text))
}
