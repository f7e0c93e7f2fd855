// SPDX-License-Identifier: Apache-2.0

// Package flow implements the flow of a survey: creating and updating it, choosing the
// next question, applying an answer and computing the result. Its functions are pure:
// they take the survey and its steps, and return the rows to write. Storage, HTTP and
// the clock do not belong here. Callers pass the current time where it matters.
//
// # Usage
//
// The caller loads the survey with its steps, and leases the release of the survey's
// model at the version the survey started with, or the served version if that one is
// unavailable. It calls Answer or ChangeAnswer outside any transaction to compute a
// Transition. One transaction then writes the Transition if the stored version still
// equals the loaded one: it replaces the steps from Transition.FirstStep on with
// Transition.Steps and updates the survey's status and version to those of
// Transition.Survey. If that completes the survey, the same transaction stores the
// result, adds Transition.PatientUpdate to the patient's record and writes the event
// to the outbox. If the version differs, a concurrent request has won: load the survey
// and answer again, which may then return a conflict.
//
// The last step of an open survey is its current question, as it was asked. Reading it
// therefore costs nothing, answers are validated against the question that the patient
// saw, and each answer requires the inference engine to choose one question only. If
// that step is missing, CurrentQuestion chooses the same question again from the other
// steps.
//
// # Errors
//
// An *assessment.FieldError is a client error (422) that contains the field and the
// expected values. ClosedError, ExpiredError, NotCurrentError and ImmutableFieldError
// are conflicts (409), and NotAnsweredError means not found (404). All other errors
// are internal.
package flow
