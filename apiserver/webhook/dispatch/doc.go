// SPDX-License-Identifier: Apache-2.0

// Package dispatch delivers webhook events from the outbox. It runs the outbox client
// while there is due work and a receiver to deliver to, isolates failing receivers from
// healthy ones, and records each attempt. A tenant without webhooks and notifications
// incurs no cost; an embedded server with webhooks sleeps until a commit or a timer
// wakes it.
//
// Single attempts belong in package delivery, the retry and circuit-breaker rules in
// package event, and the jobs in package outbox.
package dispatch
