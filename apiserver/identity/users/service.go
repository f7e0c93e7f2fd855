// SPDX-License-Identifier: Apache-2.0

// Package users is the service for users and patients. It encrypts contact data before
// storage and looks up users by it, enforces the rules of package access, and writes each
// audit record in the transaction of the audited change. The user and patient types belong in
// package record; SQL and HTTP do not belong here.
package users

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// Service manages the users and patients of an instance. All fields except Deliver are
// required. Methods return record.ErrNotFound for users that do not exist or that the end
// user may not see.
type Service struct {
	Storage Storage
	Keyring *encryption.Keyring
	Now     func() time.Time
	// Deliver sends a one-time password to a user. It must not block and may drop messages;
	// the user can request another. If unset, nothing is sent.
	Deliver func(OneTimePassword)
}

// ListAuditRecords returns a page of the audit records, newest first, and the total
// count.
func (s *Service) ListAuditRecords(ctx context.Context, filter audit.Filter, page record.Page) (records []audit.Record, total int64, err error) {
	err = s.Storage.View(ctx, func(tx Reader) (err error) {
		records, total, err = tx.ListAuditRecords(ctx, filter, page.Offset, page.Limit)
		return err
	})
	return records, total, err
}

// Kinds of contact hashes.
const (
	emailHashKind = "email"
	phoneHashKind = "phone"
)

// encryptUser converts a user to the stored form.
func (s *Service) encryptUser(user record.User) (record.EncryptedUser, []record.ContactHash, error) {
	keyVersion := s.Keyring.KeyVersion() // read before encrypting, so that a concurrent key change is detected
	text, err := json.Marshal(user.Contact)
	if err != nil {
		return record.EncryptedUser{}, nil, fmt.Errorf("encoding contact data: %w", err)
	}
	encrypted, err := s.Keyring.Encrypt(text, user.ID)
	if err != nil {
		return record.EncryptedUser{}, nil, err
	}
	hashes, err := s.contactHashes(user.Contact)
	if err != nil {
		return record.EncryptedUser{}, nil, err
	}
	return record.EncryptedUser{ID: user.ID, EncryptedContact: encrypted, KeyVersion: keyVersion, CreatedAt: user.CreatedAt}, hashes, nil
}

// contactHashes returns the hashes used to look up users with this contact data.
func (s *Service) contactHashes(contact record.Contact) ([]record.ContactHash, error) {
	var all []record.ContactHash
	for _, part := range []struct{ kind, text string }{
		{emailHashKind, record.NormalizeEmail(contact.Email)}, {phoneHashKind, contact.Phone},
	} {
		if part.text == "" {
			continue
		}
		hashes, err := s.Keyring.Hashes(part.kind, part.text)
		if err != nil {
			return nil, err
		}
		for _, hash := range hashes {
			all = append(all, record.ContactHash{Kind: part.kind, KeyID: hash.KeyID, Sum: hash.Sum})
		}
	}
	return all, nil
}

// decryptUser decrypts a stored user.
func (s *Service) decryptUser(stored record.EncryptedUser) (record.User, error) {
	user := record.User{ID: stored.ID, CreatedAt: stored.CreatedAt}
	text, err := s.Keyring.Decrypt(stored.EncryptedContact, stored.ID)
	if err != nil {
		return record.User{}, fmt.Errorf("decrypting contact data of user %s: %w", stored.ID, err)
	}
	if err := json.Unmarshal(text, &user.Contact); err != nil {
		return record.User{}, fmt.Errorf("decoding contact data of user %s: unexpected format", stored.ID)
	}
	return user, nil
}
