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

// Handlers work jobs. They may be called concurrently, and repeatedly for a completed job
// if the server was killed before the completion was stored.
type Handlers struct {
	// Deliver sends an event to a receiver and returns the outcome. It returns soon after
	// ctx is done.
	Deliver func(ctx context.Context, delivery Delivery, attempt int) Outcome
	// Notify enqueues the deliveries of a due notification.
	Notify func(ctx context.Context, notification Notification) error
	// RetryAt returns the time at which to retry an attempt whose process was killed.
	RetryAt func(attempt int) time.Time
}

// Outcome is the outcome of a delivery. The zero value is a completed delivery.
type Outcome struct {
	// Err is the reason why the delivery is incomplete. It is stored with the job, so it must
	// not contain response data.
	Err error
	// RetryAt is the time of the retry. Zero means never.
	RetryAt time.Time
	// SnoozeFor delays the delivery without counting an attempt.
	SnoozeFor time.Duration
}

// Client works the jobs of an instance from queues that are added and removed at run
// time. It can be started once.
type Client interface {
	// Start starts the client with the notification queue only.
	Start(ctx context.Context) error
	// Stop stops the client and waits for running jobs until ctx is done. Canceled jobs are
	// retried later.
	Stop(ctx context.Context) error
	// AddReceiver starts working the deliveries to a receiver, at most concurrency at a time.
	AddReceiver(receiver string, concurrency int) error
	// RemoveReceiver stops working the deliveries to a receiver after the running ones
	// complete.
	RemoveReceiver(ctx context.Context, receiver string) error
	// PauseReceiver stops all clients from starting deliveries to a receiver until a client
	// resumes it.
	PauseReceiver(ctx context.Context, receiver string) error
	// ResumeReceiver ends a pause.
	ResumeReceiver(ctx context.Context, receiver string) error
}

const (
	// deliveryTimeout limits a delivery job: 15 seconds for the receiver plus the time to
	// record the attempt.
	deliveryTimeout = 20 * time.Second
	// rescueAfter is how long a job may run before its process is presumed killed.
	rescueAfter = 30 * time.Second
	// fetchCooldown is the minimum and pollInterval the maximum time between two fetches
	// from a queue. Inserts notify the client.
	fetchCooldown = 5 * time.Millisecond
	pollInterval  = time.Second
	// completedRetention and failedRetention are how long finished jobs are kept. The
	// attempts shown to the tenant are stored separately.
	completedRetention, failedRetention = 10 * time.Minute, 24 * time.Hour
)

// NewClient returns a client for the database of a driver.
func NewClient[Tx any](driver riverdriver.Driver[Tx], handlers Handlers, log *slog.Logger) (Client, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &deliveryWorker{handlers: handlers})
	river.AddWorker(workers, &notificationWorker{handlers: handlers})
	riverClient, err := river.NewClient(cancelableDriver[Tx]{driver}, &river.Config{
		ID:      uuid.NewString(),
		Logger:  slog.New(warningHandler{log.Handler()}),
		Workers: workers,
		Queues:  map[string]river.QueueConfig{notificationQueue: {MaxWorkers: 1}},

		JobTimeout:           deliveryTimeout,
		RescueStuckJobsAfter: rescueAfter,
		RetryPolicy:          retryPolicy{handlers.RetryAt},
		FetchCooldown:        fetchCooldown,
		FetchPollInterval:    pollInterval,

		CompletedJobRetentionPeriod: completedRetention,
		CancelledJobRetentionPeriod: failedRetention,
		DiscardedJobRetentionPeriod: failedRetention,
		ReindexerIndexNames:         reindexedIndexNames,
	})
	if err != nil {
		return nil, fmt.Errorf("creating outbox client: %w", err)
	}
	return &client[Tx]{riverClient}, nil
}

// reindexedIndexNames lists the indexes of this schema, which has fewer than River's
// default.
var reindexedIndexNames = []string{
	"river_job_kind", "river_job_pkey", "river_job_prioritized_fetching_index",
	"river_job_state_and_finalized_at_index", "river_job_unique_idx",
}

type client[Tx any] struct{ river *river.Client[Tx] }

// Start implements Client. The client outlives ctx.
func (c *client[Tx]) Start(ctx context.Context) error {
	if err := c.river.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting outbox client: %w", err)
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
		return fmt.Errorf("stopping outbox client: %w", err)
	}
	return nil
}

// AddReceiver implements Client.
func (c *client[Tx]) AddReceiver(receiver string, concurrency int) error {
	if err := c.river.Queues().Add(queueName(receiver), river.QueueConfig{MaxWorkers: concurrency}); err != nil {
		return fmt.Errorf("adding receiver queue: %w", err)
	}
	return nil
}

// RemoveReceiver implements Client.
func (c *client[Tx]) RemoveReceiver(ctx context.Context, receiver string) error {
	var notFound *river.QueueNotFoundError
	if err := c.river.Queues().Remove(ctx, queueName(receiver)); err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("removing receiver queue: %w", err)
	}
	return nil
}

// PauseReceiver implements Client.
func (c *client[Tx]) PauseReceiver(ctx context.Context, receiver string) error {
	if err := c.river.QueuePause(ctx, queueName(receiver), nil); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("pausing receiver queue: %w", err)
	}
	return nil
}

// ResumeReceiver implements Client.
func (c *client[Tx]) ResumeReceiver(ctx context.Context, receiver string) error {
	if err := c.river.QueueResume(ctx, queueName(receiver), nil); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("resuming receiver queue: %w", err)
	}
	return nil
}

type deliveryWorker struct {
	river.WorkerDefaults[Delivery]
	handlers Handlers
}

// Work implements river.Worker.
func (d *deliveryWorker) Work(ctx context.Context, job *river.Job[Delivery]) error {
	outcome := d.handlers.Deliver(ctx, job.Args, job.Attempt)
	switch {
	case outcome.SnoozeFor > 0:
		return river.JobSnooze(outcome.SnoozeFor)
	case outcome.Err == nil || errors.Is(outcome.Err, context.Canceled):
		return outcome.Err // canceled attempts do not count
	case outcome.RetryAt.IsZero():
		return river.JobCancel(outcome.Err)
	}
	job.Args.retryAt = outcome.RetryAt
	return outcome.Err
}

// NextRetry implements river.Worker. River passes the same job as to Work.
func (*deliveryWorker) NextRetry(job *river.Job[Delivery]) time.Time { return job.Args.retryAt }

type notificationWorker struct {
	river.WorkerDefaults[Notification]
	handlers Handlers
}

// Work implements river.Worker.
func (n *notificationWorker) Work(ctx context.Context, job *river.Job[Notification]) error {
	return n.handlers.Notify(ctx, job.Args)
}

// NextRetry implements river.Worker. A notification fails only when storage fails.
func (*notificationWorker) NextRetry(*river.Job[Notification]) time.Time {
	return time.Now().Add(10 * time.Second)
}

// retryPolicy schedules jobs whose process was killed.
type retryPolicy struct{ retryAt func(attempt int) time.Time }

// NextRetry implements river.ClientRetryPolicy.
func (p retryPolicy) NextRetry(job *rivertype.JobRow) time.Time { return p.retryAt(job.Attempt) }

// warningHandler drops log records below warning level. River logs every failed job, which
// the dispatcher also does.
type warningHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warningHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warningHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return warningHandler{w.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (w warningHandler) WithGroup(name string) slog.Handler {
	return warningHandler{w.Handler.WithGroup(name)}
}
