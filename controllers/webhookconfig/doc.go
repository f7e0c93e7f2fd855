// SPDX-License-Identifier: Apache-2.0

// Package webhookconfig reconciles WebhookConfigs: for each, it maintains a subscription
// at the public API of the Instance that the spec names.
//
// The subscription carries the resource's UID as its reference. The operator finds the
// subscription by it even if the response to its creation, the status, or the Secret
// with the signing secret is lost. A pure function plans the changes from the spec, the
// subscriptions that the API lists, and the state that is stored outside it.
//
//	controller.go       the setup and the entry of a reconcile
//	scope.go            the state of one reconcile
//	status.go           the conditions and events that summarize a reconcile
//	ensure.go           creating and updating a subscription
//	deletion.go         deleting the subscription of a deleted resource
//	plan.go             the planned changes, pure
//	duplicates.go       which of several resources for one URL wins, pure
//	readiness.go        whether an Instance can be called, pure
//	subscription.go     the subscription API of an Instance
//	connection.go       the TLS connection to an Instance's Service, as the operator
//	token.go            the token sent to receivers, and how its changes are detected
//	signing_secret.go   the Secret with which receivers verify deliveries
//	watches.go          the events that trigger a reconcile
//	metrics.go          Prometheus metrics
//
// The package never imports the server. It uses only the server's public API.
package webhookconfig
