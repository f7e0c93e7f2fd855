// SPDX-License-Identifier: Apache-2.0

// Package webhookconfig reconciles WebhookConfigs: it keeps, at the public API of
// the Instance that each names, a subscription as its spec says.
//
// The subscription carries the resource's UID as its reference, by which it is
// found again whatever was lost: the answer to its creation, the status, the
// Secret with what it signs by. What is to be done follows by a pure function from
// the spec, from what the API lists, and from what is remembered beside it.
//
//	reconciler.go    a visit, and what becomes of its result
//	keep.go          a subscription that is wanted
//	release.go       one whose resource is being deleted
//	plan.go          what is to be done, pure
//	elder.go         which of several for one URL counts, pure
//	readiness.go     whether an Instance can be asked, pure
//	subscription.go  the API of an Instance, as far as it is about subscriptions
//	connection.go    how it is reached: by TLS, at its Service, as the operator
//	token.go         what receivers are shown, and how a change of it is seen
//	signing.go       the Secret by which receivers verify what they are sent
//	setup.go         what is watched, cached and limited
//	metrics.go       what Prometheus is told
//
// It never imports the server, and knows it only by its public interface.
package webhookconfig
