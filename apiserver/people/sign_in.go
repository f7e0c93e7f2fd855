// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Password is a one-time password on its way to a user.
type Password struct {
	To       guidance.Contact // an address or a number
	Code     string
	Language string // as the header Accept-Language of the call that asked has it
}

// mostSentAnHour is how many messages an instance sends in an hour, so that nobody
// can pump them at its cost: far more than the users of one ask for.
const mostSentAnHour = 1000

// ErrWrongCode says that a one-time password or a magic code is not good, or that
// nobody has it. It does not tell which.
var ErrWrongCode = errors.New("the code is wrong or has expired")

// A recipient is whom a password is for: a user at an address or a number, or, where
// there is no such user, one of a few who do not exist. What is done for these
// costs the same and keeps nothing of who asked.
type recipient struct {
	name string // of the state
	user storage.User
	kind string
}

// exists says whether there is such a user.
func (r recipient) exists() bool { return r.user.ID != "" }

// recipientOf looks for whom contact data is, of which one part is given.
func (r *Register) recipientOf(ctx context.Context, tx storage.Tx, hashes []storage.ContactHash) (recipient, error) {
	first := hashes[0]
	user, err := tx.UserByHash(ctx, hashes)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return recipient{name: fmt.Sprintf("nobody/%d", first.Sum[0]), kind: first.Kind}, nil
	case err != nil:
		return recipient{}, err
	}
	return recipient{name: "passwords/" + user.ID + "/" + first.Kind, user: user, kind: first.Kind}, nil
}

// SendPassword sends a user who has the contact data, of which one part is given, a
// one-time password, unless it had as many as there are in an hour. Whether there
// is such a user cannot be told from what it answers nor from how long it takes.
func (r *Register) SendPassword(ctx context.Context, to guidance.Contact, language string) error {
	code, err := identity.NewPassword()
	if err != nil {
		return err
	}
	hashes, err := r.hashes(to)
	if err != nil {
		return err
	}
	var (
		whom   recipient
		issued bool
	)
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if whom, err = r.recipientOf(ctx, tx, hashes); err != nil {
			return err
		}
		issued, err = r.issue(ctx, tx, whom, code)
		return err
	})
	if err != nil || !issued {
		return err
	}
	user, err := r.unseal(whom.user) // to the address that is kept, which may be written otherwise
	if err != nil {
		return err
	}
	r.send(Password{To: part(user.Contact, whom.kind), Code: code, Language: language})
	return nil
}

// part is the address or the number alone.
func part(contact guidance.Contact, kind string) guidance.Contact {
	if kind == emailHash {
		return guidance.Contact{Email: contact.Email}
	}
	return guidance.Contact{Phone: contact.Phone}
}

func (r *Register) send(password Password) {
	if r.Send != nil {
		r.Send(password)
	}
}

// issue makes a code the one that is good for a recipient, where it may be sent to
// somebody. What is kept changes in any case.
func (r *Register) issue(ctx context.Context, tx storage.Tx, whom recipient, code string) (issued bool, err error) {
	hashes, err := r.codeHashes(whom, code)
	if err != nil {
		return false, err
	}
	err = change(ctx, tx, whom.name, whom.user.ID, func(passwords *identity.Passwords) {
		issued = passwords.Issue(hashes[0], r.Now())
	})
	if err != nil {
		return false, err
	}
	err = change(ctx, tx, "budget", "", func(budget *identity.Budget) {
		issued = issued && whom.exists() && budget.Take(mostSentAnHour, r.Now())
	})
	return issued, err
}

// codeHashes are the keyed hashes of the code of a recipient.
func (r *Register) codeHashes(whom recipient, code string) ([]identity.KeyedHash, error) {
	made, err := r.Keys.Hashes("password", whom.name+"\x00"+code)
	if err != nil {
		return nil, err
	}
	hashes := make([]identity.KeyedHash, len(made))
	for i, hash := range made {
		hashes[i] = identity.KeyedHash{Key: hash.Key, Sum: hash.Sum}
	}
	return hashes, nil
}

// change changes the state that has a name.
func change[S any](ctx context.Context, tx storage.Tx, name, userID string, how func(*S)) error {
	kept, err := tx.LockState(ctx, name, userID)
	if err != nil {
		return err
	}
	var state S
	if kept != "" {
		if err := json.Unmarshal([]byte(kept), &state); err != nil {
			return fmt.Errorf("the state %s of signing in is not what was kept once", name)
		}
	}
	how(&state)
	next, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("write down the state %s of signing in: %w", name, err)
	}
	return tx.PutState(ctx, name, string(next))
}

// SignInByPassword returns the id of the user whose one-time password it is, which is
// used up by that. Else it is ErrWrongCode.
func (r *Register) SignInByPassword(ctx context.Context, who guidance.Contact, code string) (userID string, err error) {
	hashes, err := r.hashes(who)
	if err != nil {
		return "", err
	}
	var good bool
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		whom, err := r.recipientOf(ctx, tx, hashes)
		if err != nil {
			return err
		}
		if good, err = r.try(ctx, tx, whom, code); err != nil {
			return err
		}
		userID = whom.user.ID
		return tx.InsertAudit(ctx, r.signIn(userID, good, audit.User, userID))
	})
	if err == nil && !good {
		return "", ErrWrongCode
	}
	return userID, err
}

// try says whether a code is the one that is good for a recipient who exists.
func (r *Register) try(ctx context.Context, tx storage.Tx, whom recipient, code string) (good bool, err error) {
	hashes, err := r.codeHashes(whom, code)
	if err != nil {
		return false, err
	}
	err = change(ctx, tx, whom.name, whom.user.ID, func(passwords *identity.Passwords) {
		good = passwords.Try(hashes, r.Now()) && whom.exists()
	})
	return good, err
}

// signIn is what is recorded of a user who signed in, or of somebody who did not.
func (r *Register) signIn(userID string, good bool, resource audit.Resource, id string) audit.Record {
	if good {
		return r.record(audit.Actor{UserID: userID}, audit.SignIn, resource, id)
	}
	return r.record(audit.Actor{}, audit.SignInFailed, resource, id)
}

// maxMagicCode is how long a magic code is good, at most.
const maxMagicCode = 14 * 24 * time.Hour

// CreateMagicCode makes a code that signs a user in at a survey, as often as it is
// used, until the survey ends and at most for two weeks.
func (r *Register) CreateMagicCode(ctx context.Context, session identity.Session, surveyEnds time.Time) (code string, err error) {
	code = identity.NewMagicCode()
	hash := sha256.Sum256([]byte(code)) // of 256 random bits, of which nobody can try all
	expires := r.Now().Add(maxMagicCode)
	if !surveyEnds.IsZero() && surveyEnds.Before(expires) {
		expires = surveyEnds
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		return tx.InsertMagicCode(ctx, storage.MagicCode{
			Hash: hash[:], UserID: session.UserID, SurveyID: session.SurveyID, ExpiresAt: expires,
		}, r.Now())
	})
	return code, err
}

// SignInByMagicCode returns who is signed in at a survey by a code, and until when
// the code is good. Else it is ErrWrongCode.
func (r *Register) SignInByMagicCode(ctx context.Context, code, surveyID string) (session identity.Session, until time.Time, err error) {
	hash := sha256.Sum256([]byte(code))
	var good bool
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		kept, err := tx.MagicCode(ctx, hash[:])
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		good = err == nil && kept.SurveyID == surveyID && r.Now().Before(kept.ExpiresAt)
		session, until = identity.Session{UserID: kept.UserID, SurveyID: kept.SurveyID}, kept.ExpiresAt
		return tx.InsertAudit(ctx, r.signIn(kept.UserID, good, audit.Survey, kept.SurveyID))
	})
	if err == nil && !good {
		err = ErrWrongCode
	}
	if err != nil {
		return identity.Session{}, time.Time{}, err
	}
	return session, until, nil
}
