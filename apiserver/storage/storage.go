// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// ErrInvalidURL indicates that a database URL is invalid. It is permanent; all other
// errors of opening a store may be transient.
var ErrInvalidURL = errors.New("invalid database URL")

// ErrInvalidFeedback indicates that the feedback of an interview cannot be stored.
// Retrying does not help.
var ErrInvalidFeedback = errors.New("invalid interview feedback")

// Store is the storage of an API server. It is safe for concurrent use.
//
// A store can be passed around before it is open, while the server is still starting.
// Until Open succeeds, all methods except Close return an error that wraps
// record.ErrNotOpen.
//
// Errors of a Store never contain connection strings, hosts or passwords.
type Store interface {
	UsageStore
	FeedbackStore
	Transactor
	JobQueue

	// Open connects to the store, migrates its tables and marks it with its owner. If
	// another Instance owns the store, Open returns a *WrongOwnerError and changes nothing.
	// Open may be retried after an error, but not concurrently.
	Open(ctx context.Context, owner Owner) error

	// Ping checks that the store is writable.
	Ping(ctx context.Context) error

	// Close waits for running operations and releases the store. The store must not be used
	// afterwards.
	Close() error
}

// UsageStore stores how many calls each application made to each endpoint per day.
type UsageStore interface {
	// AddUsage adds the counts of a batch to the stored counts in one transaction. Multiple
	// counts for the same day, application and endpoint are summed.
	//
	// AddUsage ignores a batch without an error if it, or a batch with a higher sequence
	// from the same recorder, was added before. A batch can therefore be retried after any
	// error and is added once, as long as the store remembers the recorder: for one month
	// after its last batch.
	//
	// An error that wraps usage.ErrInvalid describes the invalid value. After any other
	// error the batch was not added, unless ctx ended or the connection broke during the
	// commit: then the batch may have been added.
	AddUsage(ctx context.Context, batch usage.Batch) error

	// ListUsage returns the counts of the days from through to, both inclusive, ordered by
	// date, application and endpoint (bytewise). It returns no counts if from is after to.
	ListUsage(ctx context.Context, from, to civil.Date) ([]usage.Count, error)

	// ListUsageTotals returns how often each application called each of the endpoints on the
	// days from through to, both inclusive, ordered by application and endpoint. It omits
	// pairs without calls.
	ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]usage.Total, error)
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

	// ListFeedback returns a page of the interviews and the total number. Interviews are
	// ordered by the time of their first feedback, so replacing feedback keeps the order.
	ListFeedback(ctx context.Context, offset, limit int64) (page []feedback.InterviewFeedback, total int64, err error)
}
