// SPDX-License-Identifier: Apache-2.0

// Package webhookconfig reconciles WebhookConfigs. For each WebhookConfig, it maintains a
// subscription through the public API of the Instance that the spec refers to.
//
// The reference of the subscription is the WebhookConfig's UID. It lets the operator find
// the subscription even if the response to its creation, the status, or the Secret with
// the signing secret is lost. A pure function plans the changes from the spec, the
// subscriptions that the API lists, and the state that is stored outside the API.
//
//	controller.go       the setup and the entry of a reconcile
//	scope.go            the state of a reconcile
//	status.go           the conditions and events that summarize a reconcile
//	ensure.go           creating and updating a subscription
//	deletion.go         deleting the subscription of a deleted resource
//	plan.go             the planned changes, pure
//	duplicates.go       precedence of several WebhookConfigs for one URL, pure
//	readiness.go        readiness of an Instance for calls, pure
//	subscription.go     the subscription API of an Instance
//	connection.go       the TLS connection to an Instance's Service, as the operator
//	token.go            the token sent to receivers, and the detection of its changes
//	signing_secret.go   the Secret that receivers use to verify deliveries
//	watches.go          the events that trigger a reconcile
//	metrics.go          Prometheus metrics
//
// The package never imports the server. It uses only the server's public API.
package webhookconfig
