// SPDX-License-Identifier: Apache-2.0

// Package instance reconciles Instances: it drives each one toward its spec and reports
// the result in its status.
//
// A reconcile runs an ordered list of named phases over one Instance and then patches
// the status once, if it changed. Each phase declares the dependencies that it requires
// and provides, and runs when its requirements are satisfied. One invalid input
// therefore blocks only the phases that depend on it, and the status reports the worst
// failure. While an Instance is suspended, only maintenance phases run, using the spec
// that was last applied. Pure builders derive the desired state from the spec, and the
// operator compares it with the live objects. Pure functions also evaluate what was
// observed, such as the progress of a Deployment, the state of a volume, or the result
// of a preflight check. They return nil, a problem (waiting or stalled), or a transient
// error.
//
//	reconciler.go   the reconcile and its result
//	setup.go        watches, caches and limits
//	metrics.go      Prometheus metrics
//	phases          the scope of a reconcile and its phases, one file per subject
//	inventory       the owned objects of an Instance: ownership, reads and writes
//	resources       pure builders of the owned objects
//	cluster         reads objects the Instance does not own: pods, events, referenced Secrets
//	storage         the storage backends, one file each
//	rollout         chooses the Deployment's pod template and tracks its progress
//	probe           checks that an Instance answers at the address its clients use
//	preflight       evaluates the result of the preflight Job that checks an image's models
//	wave            moves Instances to a new server build, a few at a time
//	authority       the operator's certificate authority and its storage
//	rotation        key rotation requests
//	podstatus       diagnoses pods that do not run
//	problem         error kinds: waiting, stalled, transient
//	status          the conditions and events that summarize a reconcile
//
// This package never imports the server. It depends only on the server's command line,
// its files as api/config defines them, and its public API.
package instance
