// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// CreateUser creates a user. It returns an already-exists error if another user has the
// email address or phone number.
func (s *Service) CreateUser(ctx context.Context, principal identity.Principal, contact record.Contact) (record.User, error) {
	user := record.User{ID: uuid.NewString(), Contact: contact, CreatedAt: s.Now()}
	encrypted, hashes, err := s.encryptUser(user)
	if err != nil {
		return record.User{}, err
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.InsertUser(ctx, encrypted, hashes); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Create, audit.User, user.ID))
	})
	return user, err
}

// GetUser returns a user.
func (s *Service) GetUser(ctx context.Context, principal identity.Principal, id string) (record.User, error) {
	if !identifier.IsUUID(id) {
		return record.User{}, record.ErrNotFound
	}
	var stored record.EncryptedUser
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if stored, err = tx.GetUser(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.User, id))
	})
	if err != nil {
		return record.User{}, err
	}
	return s.decryptUser(stored)
}

// ListUsers returns a page of the users and their total number: all users, or the single
// user with the given contact data.
func (s *Service) ListUsers(ctx context.Context, principal identity.Principal, filter record.Contact, page record.Page) (users []record.User, total int64, err error) {
	hashes, err := s.contactHashes(filter)
	if err != nil {
		return nil, 0, err
	}
	var stored []record.EncryptedUser
	err = s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if stored, total, err = findUsers(ctx, tx, hashes, page); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.List, audit.User, ""))
	})
	if err != nil {
		return nil, 0, err
	}
	users = make([]record.User, len(stored))
	for i := range stored {
		if users[i], err = s.decryptUser(stored[i]); err != nil {
			return nil, 0, err
		}
	}
	return users, total, nil
}

// findUsers returns a page of all users, or the user that the hashes identify.
func findUsers(ctx context.Context, tx Tx, hashes []record.ContactHash, page record.Page) ([]record.EncryptedUser, int64, error) {
	if len(hashes) == 0 {
		return tx.ListUsers(ctx, page.Offset, page.Limit)
	}
	user, err := tx.GetUserByHash(ctx, hashes)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case page.Offset > 0:
		return nil, 1, nil
	}
	return []record.EncryptedUser{user}, 1, nil
}

// UpdateUser applies change to the contact data of a user. It returns an already-exists error
// if another user has the email address or phone number.
func (s *Service) UpdateUser(ctx context.Context, principal identity.Principal, id string, change func(*record.Contact)) (record.User, error) {
	if !identifier.IsUUID(id) {
		return record.User{}, record.ErrNotFound
	}
	var user record.User
	err := s.Storage.Transact(ctx, func(tx Tx) error {
		stored, err := tx.LockUser(ctx, id)
		if err != nil {
			return err
		}
		if user, err = s.decryptUser(stored); err != nil {
			return err
		}
		change(&user.Contact)
		if err := s.storeUser(ctx, tx, user); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Change, audit.User, id))
	})
	return user, err
}

func (s *Service) storeUser(ctx context.Context, tx Tx, user record.User) error {
	encrypted, hashes, err := s.encryptUser(user)
	if err != nil {
		return err
	}
	return tx.UpdateUser(ctx, encrypted, hashes)
}

// DeleteUser deletes a user, their patients and all their data. The audit log keeps their
// ids.
func (s *Service) DeleteUser(ctx context.Context, principal identity.Principal, id string) error {
	if !identifier.IsUUID(id) {
		return record.ErrNotFound
	}
	return s.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.DeleteUser(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Delete, audit.User, id))
	})
}

// UserExport contains all data stored about a user.
type UserExport struct {
	User         record.User
	Patients     []record.Patient
	Surveys      []ExportedSurvey
	AuditRecords []audit.Record // newest first, at most maxExportedAuditRecords
}

const (
	// maxExportedAuditRecords limits the audit records of an export.
	maxExportedAuditRecords = 1000
	// noLimit exceeds the number of patients or surveys a user can have.
	noLimit = 1 << 31
)

// ExportUser returns all data stored about a user.
func (s *Service) ExportUser(ctx context.Context, principal identity.Principal, id string) (UserExport, error) {
	if !identifier.IsUUID(id) {
		return UserExport{}, record.ErrNotFound
	}
	var (
		export UserExport
		stored record.EncryptedUser
	)
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if stored, err = tx.GetUser(ctx, id); err != nil {
			return err
		}
		if err := tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Export, audit.User, id)); err != nil {
			return err
		}
		if export.Patients, _, err = tx.ListPatients(ctx, id, 0, noLimit); err != nil {
			return err
		}
		if export.Surveys, err = exportSurveys(ctx, tx, id); err != nil {
			return err
		}
		export.AuditRecords, err = tx.ListUserAuditRecords(ctx, id, maxExportedAuditRecords)
		return err
	})
	if err != nil {
		return UserExport{}, err
	}
	export.User, err = s.decryptUser(stored)
	return export, err
}

// ExportedSurvey is a survey with its questions, answers and assessment.
type ExportedSurvey struct {
	record.Summary
	Assessment *record.Assessment // nil if not assessed
}

func exportSurveys(ctx context.Context, tx Tx, userID string) ([]ExportedSurvey, error) {
	surveys, _, err := tx.ListSurveys(ctx, record.SurveyFilter{UserID: userID}, 0, noLimit)
	if err != nil {
		return nil, err
	}
	exported := make([]ExportedSurvey, len(surveys))
	for i, survey := range surveys {
		if exported[i], err = exportSurvey(ctx, tx, survey); err != nil {
			return nil, err
		}
	}
	return exported, nil
}

func exportSurvey(ctx context.Context, tx Tx, survey record.Survey) (ExportedSurvey, error) {
	steps, err := tx.ListSteps(ctx, survey.ID)
	if err != nil {
		return ExportedSurvey{}, err
	}
	exported := ExportedSurvey{Summary: record.Summarize(survey, steps)}
	result, err := tx.GetResult(ctx, survey.ID)
	if errors.Is(err, record.ErrNotFound) {
		return exported, nil
	}
	exported.Assessment = result.Assessment
	return exported, err
}
