// SPDX-License-Identifier: Apache-2.0

// Package survey leads a patient through a survey: how it is created and changed,
// what comes next, what an answer changes, what it comes to in the end. It is a
// pure function over data: the survey and its steps in, the rows to write out. It
// knows no storage, no HTTP and no clock; where the time matters it is given.
//
// # How it is used
//
// A call loads the survey with its steps, and leases the release of the survey's
// model at the version it began with, or else the one that is served. Outside of
// any transaction it has Answer or Change compute a Move. One transaction then
// writes it where the version is still that of what was loaded: steps from
// Move.From on give way to Move.Steps, the survey's status and version are those of
// Move.Survey, and when that is completed, the result is stored, the record of the
// patient is filled with Move.Learned and the event goes to the outbox, all in the
// same commit. When the version is another, somebody else was faster: load again
// and answer again, which may then be a conflict.
//
// The last step of a survey that goes on is its current question, as it was asked.
// So reading it costs nothing, an answer is held against what the patient saw
// whatever has changed since, and an answer costs the engine one question. Where
// that step is lost Current finds the same question again from the others.
//
// # Errors
//
// An *assessment.FieldError is the client's (422): it names the field and what was
// allowed. ClosedError, ExpiredError, NotCurrentError and FrozenError are conflicts
// (409), NotAnsweredError is not found (404). Any other is ours.
package survey
