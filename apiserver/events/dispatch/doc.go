// SPDX-License-Identifier: Apache-2.0

// Package dispatch is the part of a server that tells receivers of events: it works the
// outbox while there is something in it and somebody to tell, keeps receivers that fail
// from holding up anything, and writes down each attempt. A tenant without webhooks and
// notifications pays nothing for it; an embedded one with webhooks sleeps until a commit
// or a timer wakes it.
//
// How one attempt is made, and what follows from how it went, is decided in packages
// deliver and events; what is in the outbox, in package outbox.
package dispatch
