// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// An unauthenticatedError is a failed authentication. It maps to status 401.
type unauthenticatedError string

// Error implements error.
func (e unauthenticatedError) Error() string { return string(e) }

const errWrongInstance = unauthenticatedError("invalid Instance-Id header: expected the id of this instance, with or without the suffix -mgp")

// SendPassword implements contract.StrictServerInterface.
func (h handlers) SendPassword(ctx context.Context, request contract.SendPasswordRequestObject) (contract.SendPasswordResponseObject, error) {
	if !h.TokenIssuer.MatchesInstance(stringOrEmpty(request.Params.InstanceID)) {
		return nil, errWrongInstance
	}
	contact, err := readSingleContact(request.Body.Email, request.Body.Phone)
	if err != nil {
		return nil, err
	}
	attempt := throttle.CodeRequest(middleware.RequestInfoFrom(ctx).ClientAddr, contact)
	if wait := h.Throttle.Wait(attempt); wait > 0 {
		return nil, throttledError(wait)
	}
	h.Throttle.RecordFailure(attempt) // a request for a code proves nothing, so it counts as a failure
	if err := h.Users.SendOneTimePassword(ctx, contact, stringOrEmpty(request.Params.AcceptLanguage)); err != nil {
		return nil, wrapStorageError("users", err)
	}
	return contract.SendPassword204Response{}, nil
}

// A throttledError is the time to wait after too many failed attempts.
type throttledError time.Duration

// Error implements error.
func (e throttledError) Error() string { return "wait for " + time.Duration(e).String() }

// readSingleContact parses contact data, which must contain either an email address or a
// phone number.
func readSingleContact(email, phone *string) (record.Contact, error) {
	if (stringOrEmpty(email) == "") == (stringOrEmpty(phone) == "") {
		return record.Contact{}, validationError{{Field: "email", Message: "expected either email or phone, not both"}}
	}
	return readContact(stringOrEmpty(email), stringOrEmpty(phone))
}

// SignInByPassword implements contract.StrictServerInterface.
func (h handlers) SignInByPassword(ctx context.Context, request contract.SignInByPasswordRequestObject) (contract.SignInByPasswordResponseObject, error) {
	if !h.TokenIssuer.MatchesInstance(stringOrEmpty(request.Params.InstanceID)) {
		return nil, errWrongInstance
	}
	contact, err := readSingleContact(request.Body.Email, request.Body.Phone)
	if code := stringOrEmpty(request.Body.Otp); code == "" {
		err = joinValidationErrors([]contract.FieldError{{Field: "otp", Message: "missing, expected the code that was sent"}}, err)
	}
	if err != nil {
		return nil, err
	}
	attempt := throttle.CodeAttempt(middleware.RequestInfoFrom(ctx).ClientAddr, contact)
	if wait := h.Throttle.Wait(attempt); wait > 0 {
		return nil, throttledError(wait)
	}
	userID, err := h.Users.SignInWithPassword(ctx, contact, *request.Body.Otp)
	if errors.Is(err, users.ErrInvalidCode) {
		h.Throttle.RecordFailure(attempt)
	}
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	token, err := h.TokenIssuer.IssueUserToken(userID)
	if err != nil {
		return nil, err
	}
	return contract.SignInByPassword200JSONResponse{Token: token}, nil
}

// SignInByMagicCode implements contract.StrictServerInterface.
func (h handlers) SignInByMagicCode(ctx context.Context, request contract.SignInByMagicCodeRequestObject) (contract.SignInByMagicCodeResponseObject, error) {
	code, survey, err := readMagicCode(request.Body)
	if err != nil {
		return nil, err
	}
	session, _, err := h.Users.SignInWithMagicCode(ctx, code, survey)
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	token, err := h.TokenIssuer.IssueUserToken(session.UserID)
	if err != nil {
		return nil, err
	}
	return contract.SignInByMagicCode200JSONResponse{Token: token}, nil
}

func readMagicCode(body *contract.MagicCodeSignIn) (code, survey string, err error) {
	var fieldErrs validationError
	expect := func(field, got, expected string, right bool) {
		if !right || got == "" {
			fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: "expected " + expected})
		}
	}
	code, survey = stringOrEmpty(body.Code), stringOrEmpty(body.ResourceID)
	expect("code", code, "the magicCode value of the link", true)
	expect("resource_type", stringOrEmpty(body.ResourceType), "survey", stringOrEmpty(body.ResourceType) == "survey")
	expect("resource_id", survey, "the id of the survey", true)
	return code, survey, fieldErrs.errorOrNil()
}

// unauthenticatedDetail returns the message for a rejected sign-in, or an empty string for
// any other error.
func unauthenticatedDetail(err error) string {
	var deniedErr unauthenticatedError
	switch {
	case errors.As(err, &deniedErr):
		return deniedErr.Error()
	case errors.Is(err, users.ErrInvalidCode):
		return users.ErrInvalidCode.Error()
	}
	return ""
}

// signInPaths are the sign-in routes, which require no token.
var signInPaths = []string{"/api/mgp/v1/auth/otp", "/api/mgp/v1/auth/login/otp"}

// jwksPath is the path of the public keys.
const jwksPath = "/.well-known/jwks.json"
