// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// OneTimePassword is a message that sends a user a one-time password.
type OneTimePassword struct {
	To       record.Contact // email address or phone number
	Code     string
	Language string // Accept-Language header of the request
}

// maxMessagesPerHour limits the messages of an instance per hour, far above normal use,
// to prevent SMS pumping.
const maxMessagesPerHour = 1000

// ErrInvalidCode indicates that a one-time password or magic code is wrong or expired,
// or that the user does not exist. It does not reveal which.
var ErrInvalidCode = errors.New("the code is wrong or has expired")

// recipient is the target of a one-time password: a user with an email address or phone
// number, or, if no such user exists, one of a few placeholders. Placeholders cost the
// same work and store nothing about the requester.
type recipient struct {
	stateName   string // name of the stored state
	user        record.EncryptedUser
	contactKind string
}

// exists reports whether the recipient is a user.
func (r recipient) exists() bool { return r.user.ID != "" }

// findRecipient finds the recipient for contact data with one part set.
func (r *Service) findRecipient(ctx context.Context, tx Tx, hashes []record.ContactHash) (recipient, error) {
	first := hashes[0]
	user, err := tx.GetUserByHash(ctx, hashes)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return recipient{stateName: fmt.Sprintf("unknown/%d", first.Sum[0]), contactKind: first.Kind}, nil
	case err != nil:
		return recipient{}, err
	}
	return recipient{stateName: "passwords/" + user.ID + "/" + first.Kind, user: user, contactKind: first.Kind}, nil
}

// SendOneTimePassword sends a one-time password to the user with this contact data, of
// which one part is set, unless the hourly limit is reached. Neither its result nor its
// timing reveals whether the user exists.
func (r *Service) SendOneTimePassword(ctx context.Context, to record.Contact, language string) error {
	code, err := identity.NewOneTimePassword()
	if err != nil {
		return err
	}
	hashes, err := r.contactHashes(to)
	if err != nil {
		return err
	}
	var (
		target recipient
		issued bool
	)
	err = r.Storage.Transact(ctx, func(tx Tx) (err error) {
		if target, err = r.findRecipient(ctx, tx, hashes); err != nil {
			return err
		}
		issued, err = r.issueCode(ctx, tx, target, code)
		return err
	})
	if err != nil || !issued {
		return err
	}
	user, err := r.decryptUser(target.user) // use the stored address, which may be spelled differently
	if err != nil {
		return err
	}
	r.deliver(OneTimePassword{To: contactOfKind(user.Contact, target.contactKind), Code: code, Language: language})
	return nil
}

// contactOfKind returns the contact reduced to the email address or the phone number.
func contactOfKind(contact record.Contact, kind string) record.Contact {
	if kind == emailHashKind {
		return record.Contact{Email: contact.Email}
	}
	return record.Contact{Phone: contact.Phone}
}

func (r *Service) deliver(password OneTimePassword) {
	if r.Deliver != nil {
		r.Deliver(password)
	}
}

// issueCode makes code the recipient's valid code and reports whether to send it. It
// writes to storage in any case.
func (r *Service) issueCode(ctx context.Context, tx Tx, target recipient, code string) (issued bool, err error) {
	hashes, err := r.codeHashes(target, code)
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, target.stateName, target.user.ID, func(passwords *identity.OneTimePasswordState) {
		issued = passwords.Issue(hashes[0], r.Now())
	})
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, "budget", "", func(budget *identity.HourlyBudget) {
		issued = issued && target.exists() && budget.Take(maxMessagesPerHour, r.Now())
	})
	return issued, err
}

// codeHashes returns the keyed hashes of a recipient's code.
func (r *Service) codeHashes(target recipient, code string) ([]identity.KeyedHash, error) {
	made, err := r.Keyring.Hashes("password", target.stateName+"\x00"+code)
	if err != nil {
		return nil, err
	}
	hashes := make([]identity.KeyedHash, len(made))
	for i, hash := range made {
		hashes[i] = identity.KeyedHash{KeyID: hash.KeyID, Sum: hash.Sum}
	}
	return hashes, nil
}

// updateState updates a named state.
func updateState[S any](ctx context.Context, tx Tx, name, userID string, how func(*S)) error {
	kept, err := tx.LockState(ctx, name, userID)
	if err != nil {
		return err
	}
	var state S
	if kept != "" {
		if err := json.Unmarshal([]byte(kept), &state); err != nil {
			return fmt.Errorf("decoding sign-in state %s: unexpected format", name)
		}
	}
	how(&state)
	next, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encoding sign-in state %s: %w", name, err)
	}
	return tx.PutState(ctx, name, string(next))
}

// SignInWithPassword returns the id of the user with this one-time password and
// invalidates the password. It returns ErrInvalidCode otherwise.
func (r *Service) SignInWithPassword(ctx context.Context, who record.Contact, code string) (userID string, err error) {
	hashes, err := r.contactHashes(who)
	if err != nil {
		return "", err
	}
	var good bool
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		target, err := r.findRecipient(ctx, tx, hashes)
		if err != nil {
			return err
		}
		if good, err = r.verifyCode(ctx, tx, target, code); err != nil {
			return err
		}
		userID = target.user.ID
		return tx.InsertAuditRecord(ctx, r.newSignInRecord(userID, good, audit.User, userID))
	})
	if err == nil && !good {
		return "", ErrInvalidCode
	}
	return userID, err
}

// verifyCode reports whether code is the valid code of an existing recipient.
func (r *Service) verifyCode(ctx context.Context, tx Tx, target recipient, code string) (good bool, err error) {
	hashes, err := r.codeHashes(target, code)
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, target.stateName, target.user.ID, func(passwords *identity.OneTimePasswordState) {
		good = passwords.Verify(hashes, r.Now()) && target.exists()
	})
	return good, err
}

// newSignInRecord returns the audit record for a successful or failed sign-in.
func (r *Service) newSignInRecord(userID string, good bool, resource audit.Resource, id string) audit.Record {
	if good {
		return audit.NewRecord(r.Now(), audit.Actor{UserID: userID}, audit.SignIn, resource, id)
	}
	return audit.NewRecord(r.Now(), audit.Actor{}, audit.SignInFailed, resource, id)
}

// maxMagicCodeLifetime is the maximum lifetime of a magic code.
const maxMagicCodeLifetime = 14 * 24 * time.Hour

// CreateMagicCode creates a reusable code that signs a user in to a survey until the
// survey ends, at most two weeks.
func (r *Service) CreateMagicCode(ctx context.Context, session identity.Session, surveyEnds time.Time) (code string, err error) {
	code = identity.NewMagicCode()
	hash := sha256.Sum256([]byte(code)) // 256 random bits need no slow hash
	expires := r.Now().Add(maxMagicCodeLifetime)
	if !surveyEnds.IsZero() && surveyEnds.Before(expires) {
		expires = surveyEnds
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		return tx.InsertMagicCode(ctx, record.MagicCode{
			Hash: hash[:], UserID: session.UserID, SurveyID: session.SurveyID, ExpiresAt: expires,
		}, r.Now())
	})
	return code, err
}

// SignInWithMagicCode returns the session for a magic code at a survey and when the code
// expires. It returns ErrInvalidCode otherwise.
func (r *Service) SignInWithMagicCode(ctx context.Context, code, surveyID string) (session identity.Session, until time.Time, err error) {
	hash := sha256.Sum256([]byte(code))
	var good bool
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		kept, err := tx.GetMagicCode(ctx, hash[:])
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		good = err == nil && kept.SurveyID == surveyID && r.Now().Before(kept.ExpiresAt)
		session, until = identity.Session{UserID: kept.UserID, SurveyID: kept.SurveyID}, kept.ExpiresAt
		return tx.InsertAuditRecord(ctx, r.newSignInRecord(kept.UserID, good, audit.Survey, kept.SurveyID))
	})
	if err == nil && !good {
		err = ErrInvalidCode
	}
	if err != nil {
		return identity.Session{}, time.Time{}, err
	}
	return session, until, nil
}
