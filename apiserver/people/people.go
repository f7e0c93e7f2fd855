// SPDX-License-Identifier: Apache-2.0

// Package people is the register of users and patients: it seals contact data on
// its way to storage and finds people by it, lets an end user reach no more than
// what is that user's, and records who did what in the transaction that did it.
// What a user or a patient is stands in package guidance; no SQL and no HTTP lives
// here.
package people

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Register keeps the people of an instance. All its fields are required but the
// last. Where there is nobody with an id, or nobody whom an end user may see, its
// methods return storage.ErrNotFound.
type Register struct {
	Storage storage.Transactor
	Keys    *sealing.Keys
	Now     func() time.Time
	// Send hands a one-time password on, on its way to a user. It may not wait, and
	// may lose it: the user asks again. Nil sends nothing.
	Send func(Password)
}

// Page is a part of a list.
type Page struct{ Skipped, AtMost int64 }

// record is what is recorded of an act.
func (r *Register) record(by audit.Actor, action audit.Action, resource audit.Resource, id string) audit.Record {
	return audit.Record{At: r.Now(), Actor: by, Action: action, Resource: resource, ResourceID: id}
}

// Audit is a part of what is recorded, the latest first, and how much there is.
func (r *Register) Audit(ctx context.Context, filter audit.Filter, page Page) (records []audit.Record, total int64, err error) {
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		records, total, err = tx.Audit(ctx, filter, page.Skipped, page.AtMost)
		return err
	})
	return records, total, err
}

// isID says whether somebody may have an id. Others are not looked for: not every
// text can be handed to every store.
func isID(id string) bool { return uuid.Validate(id) == nil }

// The kinds of hashes by which users are found.
const (
	emailHash = "email"
	phoneHash = "phone"
)

// seal brings a user into the form in which one is kept.
func (r *Register) seal(user guidance.User) (storage.User, []storage.ContactHash, error) {
	generation := r.Keys.Generation() // before sealing: keys that change meanwhile are noticed later
	text, err := json.Marshal(user.Contact)
	if err != nil {
		return storage.User{}, nil, fmt.Errorf("write down contact data: %w", err)
	}
	sealed, err := r.Keys.Seal(text, user.ID)
	if err != nil {
		return storage.User{}, nil, err
	}
	hashes, err := r.hashes(user.Contact)
	if err != nil {
		return storage.User{}, nil, err
	}
	return storage.User{ID: user.ID, Contact: sealed, Generation: generation, CreatedAt: user.CreatedAt}, hashes, nil
}

// hashes are those by which a user with the contact data is found.
func (r *Register) hashes(contact guidance.Contact) ([]storage.ContactHash, error) {
	var all []storage.ContactHash
	for _, part := range []struct{ kind, text string }{
		{emailHash, guidance.FoldEmail(contact.Email)}, {phoneHash, contact.Phone},
	} {
		if part.text == "" {
			continue
		}
		hashes, err := r.Keys.Hashes(part.kind, part.text)
		if err != nil {
			return nil, err
		}
		for _, hash := range hashes {
			all = append(all, storage.ContactHash{Kind: part.kind, Key: hash.Key, Sum: hash.Sum})
		}
	}
	return all, nil
}

// unseal reads what is kept of a user.
func (r *Register) unseal(kept storage.User) (guidance.User, error) {
	user := guidance.User{ID: kept.ID, CreatedAt: kept.CreatedAt}
	text, err := r.Keys.Unseal(kept.Contact, kept.ID)
	if err != nil {
		return guidance.User{}, fmt.Errorf("open the contact data of the user %s: %w", kept.ID, err)
	}
	if err := json.Unmarshal(text, &user.Contact); err != nil {
		return guidance.User{}, fmt.Errorf("the contact data of the user %s is not what was sealed once", kept.ID)
	}
	return user, nil
}
