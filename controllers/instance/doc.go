// SPDX-License-Identifier: Apache-2.0

// Package instance reconciles Instances: it drives each one toward its spec and reports
// the result in its status.
//
// A reconcile runs an ordered list of named phases over one Instance and then patches
// the status once, if it changed. Each phase declares the dependencies that it requires
// and provides, and runs when its requirements are satisfied. One invalid input
// therefore blocks only the phases that depend on it, and the status reports the worst
// failure. While an Instance is suspended, only maintenance phases run, using the last
// applied spec. Pure builders derive the desired state from the spec, and the
// operator compares it with the live objects. Pure functions also evaluate observed
// state, such as the progress of a Deployment, the state of a volume, or the result of a
// preflight check. They return nil, a problem (waiting or stalled), or a transient
// error.
//
//	controller.go   the setup and the entry of a reconcile
//	phases.go       the ordered phases and their dependencies
//	phase_….go      the phases, one file per subject
//	scope.go        the state of one reconcile, which phases share
//	status.go       the conditions and events that summarize a reconcile
//	deletion.go     the finalizer and the deletion of an Instance
//	options.go      the options and the caches
//	watches.go      the events that trigger a reconcile
//	metrics.go      Prometheus metrics
//
// Packages below it:
//
//	inventory       the owned objects of an Instance: ownership, reads and writes
//	resources       pure builders of the owned objects
//	cluster         reads objects the Instance does not own: pods, events, referenced Secrets
//	storage         the storage backends, one file each
//	rollout         chooses the Deployment's pod template and tracks its progress
//	probe           checks that an Instance responds at its clients' address
//	preflight       evaluates the result of the preflight Job that checks an image's models
//	wave            moves Instances to a new server build, a few at a time
//	authority       the operator's certificate authority and its storage
//	rotation        key rotation requests
//	podstatus       diagnoses pods that do not run
//
// Phases pass values to later phases through the scope. They delegate decisions to pure
// functions of the packages above, which have table tests, and package resources builds
// the objects. Error kinds and conditions that do not
// depend on Instances belong in packages problem and conditions.
//
// This package never imports the server. It depends only on the server's command line,
// its files as api/config defines them, and its public API.
package instance
