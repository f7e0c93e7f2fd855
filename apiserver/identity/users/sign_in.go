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

// ErrInvalidCode indicates that a one-time password or magic code is wrong or expired, or
// that the user does not exist. It does not reveal which of these is the case.
var ErrInvalidCode = errors.New("invalid or expired code")

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

// findRecipient returns the recipient for contact data that contains either an email address
// or a phone number.
func (s *Service) findRecipient(ctx context.Context, tx Tx, hashes []record.ContactHash) (recipient, error) {
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

// SendOneTimePassword sends a one-time password to the user with this email address or phone
// number, unless the hourly limit is reached. Neither its result nor its timing reveals
// whether the user exists.
func (s *Service) SendOneTimePassword(ctx context.Context, contact record.Contact, language string) error {
	code, err := identity.NewOneTimePassword()
	if err != nil {
		return err
	}
	hashes, err := s.contactHashes(contact)
	if err != nil {
		return err
	}
	var (
		target recipient
		issued bool
	)
	err = s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if target, err = s.findRecipient(ctx, tx, hashes); err != nil {
			return err
		}
		issued, err = s.issueCode(ctx, tx, target, code)
		return err
	})
	if err != nil || !issued {
		return err
	}
	user, err := s.decryptUser(target.user) // use the stored address, which may be spelled differently
	if err != nil {
		return err
	}
	s.deliver(OneTimePassword{To: contactOfKind(user.Contact, target.contactKind), Code: code, Language: language})
	return nil
}

// contactOfKind returns the contact reduced to the email address or the phone number.
func contactOfKind(contact record.Contact, kind string) record.Contact {
	if kind == emailHashKind {
		return record.Contact{Email: contact.Email}
	}
	return record.Contact{Phone: contact.Phone}
}

func (s *Service) deliver(password OneTimePassword) {
	if s.Deliver != nil {
		s.Deliver(password)
	}
}

// issueCode sets the recipient's valid code and reports whether to send it. It always writes
// to storage, even for placeholders.
func (s *Service) issueCode(ctx context.Context, tx Tx, target recipient, code string) (issued bool, err error) {
	hashes, err := s.codeHashes(target, code)
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, target.stateName, target.user.ID, func(passwords *identity.OneTimePasswordState) {
		issued = passwords.Issue(hashes[0], s.Now())
	})
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, "budget", "", func(budget *identity.HourlyBudget) {
		issued = issued && target.exists() && budget.Take(maxMessagesPerHour, s.Now())
	})
	return issued, err
}

// codeHashes returns the keyed hashes of a recipient's code.
func (s *Service) codeHashes(target recipient, code string) ([]identity.KeyedHash, error) {
	sums, err := s.Keyring.Hashes("password", target.stateName+"\x00"+code)
	if err != nil {
		return nil, err
	}
	hashes := make([]identity.KeyedHash, len(sums))
	for i, hash := range sums {
		hashes[i] = identity.KeyedHash{KeyID: hash.KeyID, Sum: hash.Sum}
	}
	return hashes, nil
}

// updateState updates a named state.
func updateState[S any](ctx context.Context, tx Tx, name, userID string, update func(*S)) error {
	stored, err := tx.LockState(ctx, name, userID)
	if err != nil {
		return err
	}
	var state S
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &state); err != nil {
			return fmt.Errorf("decoding sign-in state %s: unexpected format", name)
		}
	}
	update(&state)
	encoded, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encoding sign-in state %s: %w", name, err)
	}
	return tx.PutState(ctx, name, string(encoded))
}

// SignInWithPassword returns the id of the user with this one-time password and invalidates
// the password. It returns ErrInvalidCode if the password is invalid.
func (s *Service) SignInWithPassword(ctx context.Context, contact record.Contact, code string) (userID string, err error) {
	hashes, err := s.contactHashes(contact)
	if err != nil {
		return "", err
	}
	var valid bool
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		target, err := s.findRecipient(ctx, tx, hashes)
		if err != nil {
			return err
		}
		if valid, err = s.verifyCode(ctx, tx, target, code); err != nil {
			return err
		}
		userID = target.user.ID
		return tx.InsertAuditRecord(ctx, s.newSignInRecord(userID, valid, audit.User, userID))
	})
	if err == nil && !valid {
		return "", ErrInvalidCode
	}
	return userID, err
}

// verifyCode reports whether code is the valid code of an existing recipient.
func (s *Service) verifyCode(ctx context.Context, tx Tx, target recipient, code string) (valid bool, err error) {
	hashes, err := s.codeHashes(target, code)
	if err != nil {
		return false, err
	}
	err = updateState(ctx, tx, target.stateName, target.user.ID, func(passwords *identity.OneTimePasswordState) {
		valid = passwords.Verify(hashes, s.Now()) && target.exists()
	})
	return valid, err
}

// newSignInRecord returns the audit record for a successful or failed sign-in.
func (s *Service) newSignInRecord(userID string, valid bool, resource audit.Resource, id string) audit.Record {
	if valid {
		return audit.NewRecord(s.Now(), audit.Actor{UserID: userID}, audit.SignIn, resource, id)
	}
	return audit.NewRecord(s.Now(), audit.Actor{}, audit.SignInFailed, resource, id)
}

// maxMagicCodeLifetime is the maximum lifetime of a magic code.
const maxMagicCodeLifetime = 14 * 24 * time.Hour

// CreateMagicCode creates a reusable code that signs a user in to a survey until the survey
// ends, but for at most two weeks.
func (s *Service) CreateMagicCode(ctx context.Context, session identity.Session, surveyEnds time.Time) (code string, err error) {
	code = identity.NewMagicCode()
	hash := sha256.Sum256([]byte(code)) // 256 random bits need no slow hash
	expires := s.Now().Add(maxMagicCodeLifetime)
	if !surveyEnds.IsZero() && surveyEnds.Before(expires) {
		expires = surveyEnds
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		return tx.InsertMagicCode(ctx, record.MagicCode{
			Hash: hash[:], UserID: session.UserID, SurveyID: session.SurveyID, ExpiresAt: expires,
		}, s.Now())
	})
	return code, err
}

// SignInWithMagicCode returns the session for a survey's magic code and the expiration time
// of the code. It returns ErrInvalidCode if the code is invalid.
func (s *Service) SignInWithMagicCode(ctx context.Context, code, surveyID string) (session identity.Session, until time.Time, err error) {
	hash := sha256.Sum256([]byte(code))
	var valid bool
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		stored, err := tx.GetMagicCode(ctx, hash[:])
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		valid = err == nil && stored.SurveyID == surveyID && s.Now().Before(stored.ExpiresAt)
		session, until = identity.Session{UserID: stored.UserID, SurveyID: stored.SurveyID}, stored.ExpiresAt
		return tx.InsertAuditRecord(ctx, s.newSignInRecord(stored.UserID, valid, audit.Survey, stored.SurveyID))
	})
	if err == nil && !valid {
		err = ErrInvalidCode
	}
	if err != nil {
		return identity.Session{}, time.Time{}, err
	}
	return session, until, nil
}
