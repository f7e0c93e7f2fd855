// SPDX-License-Identifier: Apache-2.0

// Package instance reconciles Instances: it makes each one what its spec says,
// and says in its status how far that is true.
//
// A reconcile is a visit: a list of named steps run in order over one Instance,
// then one patch of its status, and only if it changed. A step says which facts it
// needs and which it gives; each whose needs are met runs, so that one bad input
// stops only what depends on it, and the status tells the worst that was met.
// While an Instance is suspended, the steps that keep what runs go by the spec
// that was applied last. What the spec asks for
// is the wish; a wish is made of pure builders and compared with what is there.
// Whoever judges says by a pure function what follows from what was found: a
// Deployment's progress, a volume's state, the answer of a preflight check. Its
// judgement is nothing, a problem (waiting or stalled), or a transient error.
//
//	reconciler.go   a visit, and what becomes of its result
//	setup.go        what is watched, cached and limited
//	metrics.go      what Prometheus is told
//	steps           the visit and its steps, one subject each
//	children        the objects of an Instance: whose they are, what is written
//	resources       builders of those objects, pure
//	surroundings    what is read and is nobody's child: pods, events, others' Secrets
//	storage         the kinds of storage, each in a file
//	rollout         which pod template the Deployment is to have, and how far it is
//	address         whether an Instance answers where its clients call it
//	preflight       what an image answered when asked for its models
//	wave            which Instances move to another build of the server, and when
//	authority       the operator's authority and where it is kept
//	rotation        which keys somebody asks to be turned
//	pods            what keeps pods from running, in words
//	problem         waiting, stalled, transient
//	status          conditions and events that sum a visit up
//
// It never imports the server, and knows it only by its command line, its files
// and its public interface.
package instance
