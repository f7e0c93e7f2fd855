// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// Handlers do jobs. They may be called for several at a time, and again for one that
// they did, when the server was killed before that was known.
type Handlers struct {
	// Deliver tells a receiver, and says what becomes of the delivery. It ends soon
	// after the context does.
	Deliver func(ctx context.Context, delivery Delivery, attempt int) Outcome
	// Notify puts in the deliveries of a notification that is due.
	Notify func(ctx context.Context, notification Notification) error
	// RetryAt is when to try again after a try that ended with its process.
	RetryAt func(attempt int) time.Time
}

// Outcome is what becomes of a delivery. The zero value is one that is done.
type Outcome struct {
	// Err says why it is not done. It is kept with the job, so that nothing of an
	// answer may be in it.
	Err error
	// RetryAt is when it is tried again, and zero for never.
	RetryAt time.Time
	// PostponeFor is how long nothing is tried, which counts as no attempt.
	PostponeFor time.Duration
}

// Client does the jobs of an instance, while it runs, in queues that come and go. It is
// made to run once.
type Client interface {
	// Start begins with notifications alone.
	Start(ctx context.Context) error
	// Stop ends it, and what is being done when the context ends, which is done again
	// later.
	Stop(ctx context.Context) error
	// Serve begins with the deliveries of a receiver, so many at a time.
	Serve(receiver string, atOnce int) error
	// Leave ends with those of a receiver, once what is being done is.
	Leave(ctx context.Context, receiver string) error
	// Rest has no other delivery to a receiver begin, by whatever client, until one of
	// them goes on.
	Rest(ctx context.Context, receiver string) error
	// GoOn ends a rest.
	GoOn(ctx context.Context, receiver string) error
}

const (
	// deliveryTimeout is how long a delivery takes at most: the fifteen seconds that a
	// receiver has, and what is written down of it.
	deliveryTimeout = 20 * time.Second
	// rescueAfter is when a job is taken for one whose process was killed.
	rescueAfter = 30 * time.Second
	// fetchCooldown is the least time between two looks at a queue, and pollInterval
	// the most: who puts a job in tells.
	fetchCooldown = 5 * time.Millisecond
	pollInterval  = time.Second
	// keepCompleted, keepFailed: how long jobs are kept that are done. What is shown to
	// the tenant is kept elsewhere.
	keepCompleted, keepFailed = 10 * time.Minute, 24 * time.Hour
)

// NewClient makes a client that does the jobs in the database of a driver.
func NewClient[Tx any](driver riverdriver.Driver[Tx], handlers Handlers, log *slog.Logger) (Client, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &deliverer{handlers: handlers})
	river.AddWorker(workers, &notifier{handlers: handlers})
	made, err := river.NewClient(ending[Tx]{driver}, &river.Config{
		ID:      uuid.NewString(),
		Logger:  slog.New(warnings{log.Handler()}),
		Workers: workers,
		Queues:  map[string]river.QueueConfig{notifications: {MaxWorkers: 1}},

		JobTimeout:           deliveryTimeout,
		RescueStuckJobsAfter: rescueAfter,
		RetryPolicy:          retryPolicy{handlers.RetryAt},
		FetchCooldown:        fetchCooldown,
		FetchPollInterval:    pollInterval,

		CompletedJobRetentionPeriod: keepCompleted,
		CancelledJobRetentionPeriod: keepFailed,
		DiscardedJobRetentionPeriod: keepFailed,
		ReindexerIndexNames:         indexes,
	})
	if err != nil {
		return nil, fmt.Errorf("make a client of the outbox: %w", err)
	}
	return &client[Tx]{made}, nil
}

// indexes are those that the tables have; River's has more.
var indexes = []string{
	"river_job_kind", "river_job_pkey", "river_job_prioritized_fetching_index",
	"river_job_state_and_finalized_at_index", "river_job_unique_idx",
}

type client[Tx any] struct{ river *river.Client[Tx] }

// Start implements Client. What runs outlives the context.
func (c *client[Tx]) Start(ctx context.Context) error {
	if err := c.river.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("begin with the outbox: %w", err)
	}
	return nil
}

// Stop implements Client.
func (c *client[Tx]) Stop(ctx context.Context) error {
	err := c.river.Stop(ctx)
	if err != nil && ctx.Err() != nil {
		err = c.river.StopAndCancel(context.WithoutCancel(ctx))
	}
	if err != nil {
		return fmt.Errorf("end with the outbox: %w", err)
	}
	return nil
}

// Serve implements Client.
func (c *client[Tx]) Serve(receiver string, atOnce int) error {
	if err := c.river.Queues().Add(queueOf(receiver), river.QueueConfig{MaxWorkers: atOnce}); err != nil {
		return fmt.Errorf("serve a receiver: %w", err)
	}
	return nil
}

// Leave implements Client.
func (c *client[Tx]) Leave(ctx context.Context, receiver string) error {
	var none *river.QueueNotFoundError
	if err := c.river.Queues().Remove(ctx, queueOf(receiver)); err != nil && !errors.As(err, &none) {
		return fmt.Errorf("serve a receiver no more: %w", err)
	}
	return nil
}

// Rest implements Client.
func (c *client[Tx]) Rest(ctx context.Context, receiver string) error {
	if err := c.river.QueuePause(ctx, queueOf(receiver), nil); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("leave a receiver alone: %w", err)
	}
	return nil
}

// GoOn implements Client.
func (c *client[Tx]) GoOn(ctx context.Context, receiver string) error {
	if err := c.river.QueueResume(ctx, queueOf(receiver), nil); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("go on with a receiver: %w", err)
	}
	return nil
}

type deliverer struct {
	river.WorkerDefaults[Delivery]
	handlers Handlers
}

// Work implements river.Worker.
func (d *deliverer) Work(ctx context.Context, job *river.Job[Delivery]) error {
	outcome := d.handlers.Deliver(ctx, job.Args, job.Attempt)
	switch {
	case outcome.PostponeFor > 0:
		return river.JobSnooze(outcome.PostponeFor)
	case outcome.Err == nil || errors.Is(outcome.Err, context.Canceled):
		return outcome.Err // one that is cancelled is as if never tried
	case outcome.RetryAt.IsZero():
		return river.JobCancel(outcome.Err)
	}
	job.Args.retryAt = outcome.RetryAt
	return outcome.Err
}

// NextRetry implements river.Worker: it is asked with the job that Work had.
func (*deliverer) NextRetry(job *river.Job[Delivery]) time.Time { return job.Args.retryAt }

type notifier struct {
	river.WorkerDefaults[Notification]
	handlers Handlers
}

// Work implements river.Worker.
func (n *notifier) Work(ctx context.Context, job *river.Job[Notification]) error {
	return n.handlers.Notify(ctx, job.Args)
}

// NextRetry implements river.Worker. A notification fails where storage does.
func (*notifier) NextRetry(*river.Job[Notification]) time.Time {
	return time.Now().Add(10 * time.Second)
}

// retryPolicy is asked for jobs whose process was killed.
type retryPolicy struct{ at func(attempt int) time.Time }

// NextRetry implements river.ClientRetryPolicy.
func (p retryPolicy) NextRetry(job *rivertype.JobRow) time.Time { return p.at(job.Attempt) }

// warnings lets nothing less than warnings into a log: River tells of each job that
// fails, as we do.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attributes []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
