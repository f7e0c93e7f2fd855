// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// CreateUser makes a user. It is a *storage.TakenError where somebody else has the
// address or the number.
func (r *Register) CreateUser(ctx context.Context, by audit.Actor, contact guidance.Contact) (guidance.User, error) {
	user := guidance.User{ID: uuid.NewString(), Contact: contact, CreatedAt: r.Now()}
	sealed, hashes, err := r.seal(user)
	if err != nil {
		return guidance.User{}, err
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if err := tx.InsertUser(ctx, sealed, hashes); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Create, audit.User, user.ID))
	})
	return user, err
}

// User is the user with an id.
func (r *Register) User(ctx context.Context, by audit.Actor, id string) (guidance.User, error) {
	if !isID(id) {
		return guidance.User{}, storage.ErrNotFound
	}
	var kept storage.User
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if kept, err = tx.User(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Read, audit.User, id))
	})
	if err != nil {
		return guidance.User{}, err
	}
	return r.unseal(kept)
}

// Users is a part of the users, and how many there are: of all, or of those whom
// the contact data finds, which is one at most.
func (r *Register) Users(ctx context.Context, by audit.Actor, find guidance.Contact, page Page) (users []guidance.User, total int64, err error) {
	wanted, err := r.hashes(find)
	if err != nil {
		return nil, 0, err
	}
	var kept []storage.User
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if kept, total, err = usersOf(ctx, tx, wanted, page); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.List, audit.User, ""))
	})
	if err != nil {
		return nil, 0, err
	}
	users = make([]guidance.User, len(kept))
	for i := range kept {
		if users[i], err = r.unseal(kept[i]); err != nil {
			return nil, 0, err
		}
	}
	return users, total, nil
}

// usersOf reads a part of all users, or the one whom hashes lead to.
func usersOf(ctx context.Context, tx storage.Tx, wanted []storage.ContactHash, page Page) ([]storage.User, int64, error) {
	if len(wanted) == 0 {
		return tx.Users(ctx, page.Skipped, page.AtMost)
	}
	user, err := tx.UserByHash(ctx, wanted)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case page.Skipped > 0:
		return nil, 1, nil
	}
	return []storage.User{user}, 1, nil
}

// ChangeUser changes the contact data of a user as change does. It is a
// *storage.TakenError where somebody else has the address or the number.
func (r *Register) ChangeUser(ctx context.Context, by audit.Actor, id string, change func(*guidance.Contact)) (guidance.User, error) {
	if !isID(id) {
		return guidance.User{}, storage.ErrNotFound
	}
	var user guidance.User
	err := r.Storage.Transact(ctx, func(tx storage.Tx) error {
		kept, err := tx.LockUser(ctx, id)
		if err != nil {
			return err
		}
		if user, err = r.unseal(kept); err != nil {
			return err
		}
		change(&user.Contact)
		if err := r.update(ctx, tx, user); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Change, audit.User, id))
	})
	return user, err
}

func (r *Register) update(ctx context.Context, tx storage.Tx, user guidance.User) error {
	sealed, hashes, err := r.seal(user)
	if err != nil {
		return err
	}
	return tx.UpdateUser(ctx, sealed, hashes)
}

// DeleteUser erases a user, with patients and all that is kept of them; the audit
// keeps ids.
func (r *Register) DeleteUser(ctx context.Context, by audit.Actor, id string) error {
	if !isID(id) {
		return storage.ErrNotFound
	}
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if err := tx.DeleteUser(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Delete, audit.User, id))
	})
}

// Export is all that is kept of a user.
type Export struct {
	User     guidance.User
	Patients []guidance.Patient
	Surveys  []ExportedSurvey
	Audit    []audit.Record // the latest first, at most mostExported
}

const (
	// mostExported is the most records of the audit that an export has.
	mostExported = 1000
	// everything is more patients or surveys than a user has.
	everything = 1 << 31
)

// Export is all that is kept of the user with an id.
func (r *Register) Export(ctx context.Context, by audit.Actor, id string) (Export, error) {
	if !isID(id) {
		return Export{}, storage.ErrNotFound
	}
	var (
		export Export
		kept   storage.User
	)
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if kept, err = tx.User(ctx, id); err != nil {
			return err
		}
		if err := tx.InsertAudit(ctx, r.record(by, audit.Export, audit.User, id)); err != nil {
			return err
		}
		if export.Patients, _, err = tx.Patients(ctx, id, 0, everything); err != nil {
			return err
		}
		if export.Surveys, err = surveysOf(ctx, tx, id); err != nil {
			return err
		}
		export.Audit, err = tx.AuditOfUser(ctx, id, mostExported)
		return err
	})
	if err != nil {
		return Export{}, err
	}
	export.User, err = r.unseal(kept)
	return export, err
}

// ExportedSurvey is a survey with all that was asked and answered, and what it came to.
type ExportedSurvey struct {
	guidance.Summary
	Assessment *guidance.Assessment // nil where there is none
}

func surveysOf(ctx context.Context, tx storage.Tx, userID string) ([]ExportedSurvey, error) {
	all, _, err := tx.Surveys(ctx, storage.SurveyFilter{UserID: userID}, 0, everything)
	if err != nil {
		return nil, err
	}
	exported := make([]ExportedSurvey, len(all))
	for i, survey := range all {
		if exported[i], err = exportSurvey(ctx, tx, survey); err != nil {
			return nil, err
		}
	}
	return exported, nil
}

func exportSurvey(ctx context.Context, tx storage.Tx, survey guidance.Survey) (ExportedSurvey, error) {
	steps, err := tx.Steps(ctx, survey.ID)
	if err != nil {
		return ExportedSurvey{}, err
	}
	exported := ExportedSurvey{Summary: guidance.Summarize(survey, steps)}
	result, err := tx.Result(ctx, survey.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return exported, nil
	}
	exported.Assessment = result.Assessment
	return exported, err
}
