// SPDX-License-Identifier: Apache-2.0

// Package event defines the webhook events, their payloads and signatures, the retry
// schedule, and the circuit breaker of a receiver. It is pure: HTTP, SQL, clocks and
// randomness do not belong here; callers pass in times and random values.
//
// Deliveries follow Standard Webhooks (https://www.standardwebhooks.com).
package event
