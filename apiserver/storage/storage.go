// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
)

// ErrInvalidURL is wrapped by errors that say that a database URL cannot be
// used as it is written. Trying again does not help, unlike with every other
// error of opening a store.
var ErrInvalidURL = errors.New("invalid database URL")

// ErrNotOpen is wrapped by errors of everything that is asked of a store before
// it was opened.
var ErrNotOpen = errors.New("storage is not open yet")

// What a store refuses because of what it holds already.
var (
	// ErrTaken says that something that only one may have is another's.
	ErrTaken = errors.New("it is taken already")
	// ErrDangling says that what is referred to does not exist.
	ErrDangling = errors.New("what it refers to does not exist")
	// ErrContended says that somebody else changed the same at the same time:
	// trying again may help.
	ErrContended = errors.New("it was changed by somebody else at the same time")
)

// ErrInvalidUsage is wrapped by errors that say that usage counts cannot be
// stored as they are. Trying again does not help.
var ErrInvalidUsage = errors.New("invalid usage count")

// ErrInvalidFeedback is wrapped by errors that say that the feedback of an
// interview cannot be stored as it is. Trying again does not help.
var ErrInvalidFeedback = errors.New("invalid feedback of an interview")

// Store is everything that an API server keeps. It is safe for concurrent use.
//
// A store exists before it is open, so that it can be handed to those who use it
// while a server that keeps it is still starting. Until Open has succeeded, all
// else but Close fails with an error that wraps ErrNotOpen.
//
// No error of a Store holds a connection string, a host or a password.
type Store interface {
	Usage
	Feedback
	Transactor
	Jobs

	// Open reaches the store, brings its tables up to date and marks it as its
	// owner's. When it fails it may be called again, by one caller at a time. It is
	// a *ForeignError, and nothing was changed, where the store is another's.
	Open(ctx context.Context, owner Owner) error

	// Ping reports whether the store can be written to now.
	Ping(ctx context.Context) error

	// Close waits for what is under way and releases the store. The store may
	// not be used afterwards.
	Close() error
}

// Usage keeps how many calls each application made to each endpoint on each
// day.
type Usage interface {
	// AddUsage adds the counts of a batch to those already kept, all of them or
	// none, in one transaction. Two counts of one day, application and endpoint
	// add up.
	//
	// A batch that was added before, or was followed by one of a higher number
	// of the same recorder, is left alone and no error. So the same batch may
	// be sent again after any error, and is added once, for as long as the
	// store remembers the recorder: a month from its last batch.
	//
	// An error that wraps ErrInvalidUsage names what is at fault. After any
	// other error nothing was added, except when ctx ended or the connection to
	// a server broke while the batch was on its way: then it may have been.
	AddUsage(ctx context.Context, batch UsageBatch) error

	// Usage returns the counts of the days from and to and those between,
	// ordered by date, application and endpoint, the latter two by their bytes.
	// It returns none when from is after to.
	Usage(ctx context.Context, from, to civil.Date) ([]UsageCount, error)

	// UsageTotals returns how often each application called each of the
	// endpoints on the days from and to and those between, ordered by
	// application and endpoint. Who never called is left out.
	UsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]UsageTotal, error)
}

// Feedback keeps what patients meant to do before and after their interviews.
type Feedback interface {
	// PutFeedback keeps the feedback of an interview, in the place of what the
	// same application reported of it before, if anything: no application
	// overwrites what another reported. When it returns nil, the feedback is
	// as safe as the store can make it. Of two at the same time, the one that
	// is committed last stays.
	//
	// Times are kept to the microsecond. An error that wraps
	// ErrInvalidFeedback says what is at fault; after any other error the
	// feedback may or may not have been kept, and may be put again.
	PutFeedback(ctx context.Context, interview feedback.Interview) error

	// Feedback leaves out the first skipped interviews and returns the next
	// ones, at most as many as it is told, and how many there are in all. They
	// are in the order in which each had its first feedback, so that an
	// interview keeps its place when its feedback is replaced.
	Feedback(ctx context.Context, skipped, atMost int64) (page []feedback.Interview, total int64, err error)
}
