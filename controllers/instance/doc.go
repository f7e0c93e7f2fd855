// SPDX-License-Identifier: Apache-2.0

// Package instance reconciles Instances: it makes each one what its spec says,
// and says in its status how far that is true.
//
// A reconcile is a visit: a list of named steps run in order over one Instance,
// then one patch of its status, and only if it changed. A step that cannot come
// to its end returns an error that says of which kind it is: waiting, stalled,
// or transient. What a step decides, it decides by a pure function with a table
// test; what it builds, package resources builds.
//
//	instance_controller.go  the visit, its steps, and what becomes of its result
//	instance_status.go      conditions, and how they sum up
//	step_*.go               the steps, one subject each
//	deletion.go             what happens when an Instance goes
//	wave.go                 which Instances move to another server image, and when
//	setup.go                what is watched, cached and limited
//
// It never imports the server, and knows it only by its command line, its files
// and its public interface.
package instance
