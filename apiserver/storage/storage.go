// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// ErrInvalidURL indicates that a database URL is invalid. Retrying does not help, unlike
// for all other errors of opening a store.
var ErrInvalidURL = errors.New("invalid database URL")

// ErrNotOpen indicates that a store was used before it was opened.
var ErrNotOpen = errors.New("storage is not open yet")

// Errors caused by data already in the store.
var (
	// ErrAlreadyExists indicates that a unique value is already in use.
	ErrAlreadyExists = errors.New("already exists")
	// ErrReferenceNotFound indicates that a referenced object does not exist.
	ErrReferenceNotFound = errors.New("referenced object does not exist")
	// ErrConflict indicates a conflict with a concurrent transaction. Retrying may help.
	ErrConflict = errors.New("conflict with a concurrent transaction")
)

// ErrInvalidUsage indicates that usage counts cannot be stored. Retrying does not help.
var ErrInvalidUsage = errors.New("invalid usage count")

// ErrInvalidFeedback indicates that the feedback of an interview cannot be stored.
// Retrying does not help.
var ErrInvalidFeedback = errors.New("invalid interview feedback")

// Store is the storage of an API server. It is safe for concurrent use.
//
// A store exists before it is open, so that it can be passed to its users while the
// server is still starting. Until Open succeeds, all methods except Close return an
// error that wraps ErrNotOpen.
//
// Errors of a Store never contain connection strings, hosts or passwords.
type Store interface {
	UsageStore
	FeedbackStore
	Transactor
	JobQueue

	// Open connects to the store, migrates its tables and marks it with its owner. After an
	// error it may be called again, by one caller at a time. If another Instance owns the
	// store, Open returns a *WrongOwnerError and changes nothing.
	Open(ctx context.Context, owner Owner) error

	// Ping checks that the store is writable.
	Ping(ctx context.Context) error

	// Close waits for running operations and releases the store. The store must not be used
	// afterwards.
	Close() error
}

// UsageStore stores how many calls each application made to each endpoint per day.
type UsageStore interface {
	// AddUsage adds the counts of a batch to the stored counts in one transaction. Several
	// counts for the same day, application and endpoint add up.
	//
	// A batch that was added before, or that was followed by a batch with a higher sequence
	// from the same recorder, is ignored without an error. A batch can therefore be retried
	// after any error and is added once, as long as the store remembers the recorder: for
	// one month after its last batch.
	//
	// An error that wraps ErrInvalidUsage describes the invalid value. After any other error
	// nothing was added, unless ctx ended or the connection broke during the commit: then
	// the batch may have been added.
	AddUsage(ctx context.Context, batch UsageBatch) error

	// ListUsage returns the counts of the days from through to, both inclusive, ordered by
	// date, application and endpoint (bytewise). It returns no counts if from is after to.
	ListUsage(ctx context.Context, from, to civil.Date) ([]UsageCount, error)

	// ListUsageTotals returns how often each application called each of the endpoints on the
	// days from through to, both inclusive, ordered by application and endpoint. It omits
	// pairs without calls.
	ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]UsageTotal, error)
}

// FeedbackStore stores what patients intended to do before and after their interviews.
type FeedbackStore interface {
	// PutFeedback stores the feedback of an interview and replaces earlier feedback of the
	// same application for it. Applications never overwrite each other's feedback. When
	// PutFeedback returns nil, the feedback is durable. Of concurrent calls, the last commit
	// wins.
	//
	// Times are stored with microsecond precision. An error that wraps ErrInvalidFeedback
	// describes the invalid value; after any other error the feedback may or may not be
	// stored, and PutFeedback can be retried.
	PutFeedback(ctx context.Context, interview feedback.InterviewFeedback) error

	// ListFeedback returns a page of the interviews, at most atMost after the first skipped,
	// and the total number. Interviews are ordered by their first feedback, so replacing
	// feedback does not change the order.
	ListFeedback(ctx context.Context, skipped, atMost int64) (page []feedback.InterviewFeedback, total int64, err error)
}
