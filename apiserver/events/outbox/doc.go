// SPDX-License-Identifier: Apache-2.0

// Package outbox is what an instance still has to tell: jobs that River keeps in the
// database of the instance, each put there in the transaction of what it tells of, so
// that it is there if and only if that happened. It says which jobs there are, puts
// them in, and works them, each receiver's in a queue of its own, so that one which
// hangs holds up no other.
//
// How an event is delivered, when it is tried again, and which receivers are served is
// decided by others. Storages put jobs in and hand over their driver; no SQL of ours
// lives here.
package outbox
