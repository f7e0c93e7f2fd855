// SPDX-License-Identifier: Apache-2.0

package storage

import "context"

// Transactor runs transactions. Times are stored with microsecond precision.
type Transactor interface {
	// View runs work in a read-only transaction on a consistent snapshot. The transaction
	// must not be used after work returns. View returns the error of work, or an error from
	// begin or commit.
	View(ctx context.Context, work func(Reader) error) error

	// Transact runs work in a transaction and commits it if work returns nil. On conflicts
	// with concurrent transactions it runs work again. The transaction must not be used
	// after work returns. Transact returns the error of work, or an error from begin or
	// commit; after a failed commit the changes may be stored if ctx ended or the connection
	// broke.
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

// Tx is a transaction. After any error except record.ErrNotFound, it must be rolled back.
type Tx interface {
	UserStore
	PatientStore
	SignInStore
	SurveyStore
	WebhookStore
	Outbox
	AuditStore
}

// Scope adapts the transactions of a store to the interfaces that a consumer declares: R
// for read-only transactions and T for others. Reader must implement R, and Tx must
// implement T.
type Scope[R, T any] struct{ Store Transactor }

// View runs work in a read-only transaction, like Transactor.
func (s Scope[R, T]) View(ctx context.Context, work func(R) error) error {
	return s.Store.View(ctx, func(tx Reader) error { return work(tx.(R)) })
}

// Transact runs work in a transaction, like Transactor.
func (s Scope[R, T]) Transact(ctx context.Context, work func(T) error) error {
	return s.Store.Transact(ctx, func(tx Tx) error { return work(tx.(T)) })
}
