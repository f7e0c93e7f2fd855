// SPDX-License-Identifier: Apache-2.0

// Package flow implements the flow of a survey: creating and updating it, choosing the next
// question, applying an answer and computing the result. Its functions are pure: they take
// the survey and its steps, and return the rows to write. Callers pass the current time where
// needed. Storage, HTTP and the clock do not belong here.
//
// # Usage
//
// The caller loads the survey with its steps, and leases the release with which the survey
// started, or the served release if that one is unavailable. It calls Answer or ChangeAnswer
// outside any transaction to compute a Transition. One transaction then writes the
// Transition, provided that the stored version still equals the loaded one: it replaces the
// steps from Transition.FirstStep on with Transition.Steps and updates the survey's status
// and version to those of Transition.Survey. If the survey is now completed, the same
// transaction stores the result, adds Transition.PatientUpdate to the patient's record and
// writes the event to the outbox. If the version differs, a concurrent request came first:
// the caller loads the survey and answers again, which may then return a conflict.
//
// The last step of an open survey is its current question, exactly as it was asked. Reading
// it is therefore cheap, answers are validated against the question that the patient saw, and
// an answer requires the inference engine to choose only one question. If that step is
// missing, CurrentQuestion chooses the same question again from the other steps.
//
// # Errors
//
// An *assessment.FieldError is a client error (422) with the field and the expected values.
// ClosedError, ExpiredError, NotCurrentError and ImmutableFieldError are conflicts (409), and
// NotAnsweredError means not found (404). All other errors are internal.
package flow
