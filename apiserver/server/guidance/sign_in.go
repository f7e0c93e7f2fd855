// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// An unproven error says that somebody is not who they say. It is answered with 401.
type unproven string

// Error says what is wrong.
func (u unproven) Error() string { return string(u) }

const wrongInstance = unproven("the Instance-Id header has to be this instance's id, with -mgp or without")

// SendPassword implements the contract.
func (h handlers) SendPassword(ctx context.Context, request contract.SendPasswordRequestObject) (contract.SendPasswordResponseObject, error) {
	if !h.Authority.Addressed(orEmpty(request.Params.InstanceID)) {
		return nil, wrongInstance
	}
	to, err := readRecipient(request.Body.Email, request.Body.Phone)
	if err != nil {
		return nil, err
	}
	ask := throttle.Asking(middleware.CallOf(ctx).Client, to)
	if wait := h.Throttle.Wait(ask); wait > 0 {
		return nil, tooSoon(wait)
	}
	h.Throttle.Failed(ask) // nothing is proved by asking
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	if err := h.People.SendPassword(limited, to, orEmpty(request.Params.AcceptLanguage)); err != nil {
		return nil, kept("users", err)
	}
	return contract.SendPassword204Response{}, nil
}

// A tooSoon error is how long somebody has to wait who tried too often.
type tooSoon time.Duration

// Error says so.
func (t tooSoon) Error() string { return "wait for " + time.Duration(t).String() }

// readRecipient reads the one part of contact data that is given.
func readRecipient(email, phone *string) (guidance.Contact, error) {
	if (orEmpty(email) == "") == (orEmpty(phone) == "") {
		return guidance.Contact{}, refusal{{Field: "email", Message: "expected one of email and phone, not both"}}
	}
	return readContact(orEmpty(email), orEmpty(phone))
}

// SignInByPassword implements the contract.
func (h handlers) SignInByPassword(ctx context.Context, request contract.SignInByPasswordRequestObject) (contract.SignInByPasswordResponseObject, error) {
	if !h.Authority.Addressed(orEmpty(request.Params.InstanceID)) {
		return nil, wrongInstance
	}
	who, err := readRecipient(request.Body.Email, request.Body.Phone)
	if code := orEmpty(request.Body.Otp); code == "" {
		err = joined([]contract.FieldError{{Field: "otp", Message: "missing, expected the code that was sent"}}, err)
	}
	if err != nil {
		return nil, err
	}
	guess := throttle.Guessing(middleware.CallOf(ctx).Client, who)
	if wait := h.Throttle.Wait(guess); wait > 0 {
		return nil, tooSoon(wait)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	userID, err := h.People.SignInByPassword(limited, who, *request.Body.Otp)
	if errors.Is(err, people.ErrWrongCode) {
		h.Throttle.Failed(guess)
	}
	if err != nil {
		return nil, kept("users", err)
	}
	token, err := h.Authority.IssueUserToken(userID)
	if err != nil {
		return nil, err
	}
	return contract.SignInByPassword200JSONResponse{Token: token}, nil
}

// SignInByMagicCode implements the contract.
func (h handlers) SignInByMagicCode(ctx context.Context, request contract.SignInByMagicCodeRequestObject) (contract.SignInByMagicCodeResponseObject, error) {
	code, survey, err := readMagicCode(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	session, _, err := h.People.SignInByMagicCode(limited, code, survey)
	if err != nil {
		return nil, kept("users", err)
	}
	token, err := h.Authority.IssueUserToken(session.UserID)
	if err != nil {
		return nil, err
	}
	return contract.SignInByMagicCode200JSONResponse{Token: token}, nil
}

func readMagicCode(body *contract.MagicCodeSignIn) (code, survey string, err error) {
	var wrong refusal
	expect := func(field, got, expected string, right bool) {
		if !right || got == "" {
			wrong = append(wrong, contract.FieldError{Field: field, Message: "expected " + expected})
		}
	}
	code, survey = orEmpty(body.Code), orEmpty(body.ResourceID)
	expect("code", code, "the value of magicCode of the link", true)
	expect("resource_type", orEmpty(body.ResourceType), "survey", orEmpty(body.ResourceType) == "survey")
	expect("resource_id", survey, "the id of the survey", true)
	return code, survey, wrong.err()
}

// unprovenDetail says what of an error is told to one who is not let in, empty for
// another error.
func unprovenDetail(err error) string {
	var refused unproven
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.Is(err, people.ErrWrongCode):
		return people.ErrWrongCode.Error()
	}
	return ""
}

// signInPaths are those at which somebody signs in who has no token yet.
var signInPaths = []string{"/api/mgp/v1/auth/otp", "/api/mgp/v1/auth/login/otp"}

// jwksPath is where the public keys are.
const jwksPath = "/.well-known/jwks.json"
