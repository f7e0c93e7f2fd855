// SPDX-License-Identifier: Apache-2.0

// Package outbox implements the transactional outbox of an instance with River jobs in
// the instance's database. A job is inserted in the transaction that causes it, so it
// exists if and only if that transaction commits. The package defines the jobs, inserts
// them, and works them, with one queue per receiver so that a hanging receiver does not
// block the others.
//
// Delivery, retry rules and the choice of receivers belong in the other webhook
// packages. Storage packages insert jobs and provide the River driver; SQL does not
// belong here.
package outbox
