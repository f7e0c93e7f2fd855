// SPDX-License-Identifier: Apache-2.0

package storage

import "context"

// Transactor runs transactions. Times are stored with microsecond precision.
type Transactor interface {
	// View runs work in a read-only transaction, which sees the data of one moment. The
	// transaction must not be used afterwards. View returns the error of work, or an error
	// from begin or commit.
	View(ctx context.Context, work func(Reader) error) error

	// Transact runs work in a transaction and commits it if work returns nil. On conflicts
	// with concurrent transactions it runs work again. The transaction must not be used
	// afterwards. Transact returns the error of work, or an error from begin or commit;
	// after a failed commit the changes may be stored if ctx ended or the connection broke.
	Transact(ctx context.Context, work func(Tx) error) error
}

// Reader is a read-only transaction.
type Reader interface {
	UserReader
	PatientReader
	SurveyReader
	WebhookReader
	AuditReader
}

// Tx is a transaction. After any error except record.ErrNotFound, the transaction can
// only be ended.
type Tx interface {
	UserStore
	PatientStore
	SignInStore
	SurveyStore
	WebhookStore
	Outbox
	AuditStore
}

// Scope adapts the transactions of a store to a consumer, with the methods that the consumer
// declares: R in read-only transactions, T in others. Reader must implement R, and Tx
// must implement T.
type Scope[R, T any] struct{ Store Transactor }

// View runs work in a read-only transaction, like Transactor.
func (s Scope[R, T]) View(ctx context.Context, work func(R) error) error {
	return s.Store.View(ctx, func(tx Reader) error { return work(tx.(R)) })
}

// Transact runs work in a transaction, like Transactor.
func (s Scope[R, T]) Transact(ctx context.Context, work func(T) error) error {
	return s.Store.Transact(ctx, func(tx Tx) error { return work(tx.(T)) })
}
