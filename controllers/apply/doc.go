// SPDX-License-Identifier: Apache-2.0

// Package apply sends objects to the API server by server-side apply, and only
// when there is something to say: when a field that is sent differs from the
// live object, or when what is sent is not what was sent last time.
//
// The first is a comparison of a subset, so that defaults, autoscalers and
// other owners of an object are left in peace. Which lists and maps several
// owners share, and what tells items of lists apart, is taken from the schema
// that the API server itself merges by, as client-go carries it. The second
// finds fields that are no longer sent, which a comparison with the live object
// cannot see; it rests on a hash kept in an annotation of the object itself.
//
// What came back is compared again. Where it differs, somebody behind the API
// server holds other values, such as a mutating admission policy: a Divergence,
// which is told and not fought. Generations would not show it: that of a
// Deployment grows also with annotations, and a policy may let in a part.
//
// Divergences are remembered by the Applier, in memory and by UID: to write them
// down would be a write more for each, and would itself pass the policies. An
// operator that restarts sends each diverging object once, which changes
// nothing, and remembers again. The same memory tells how far behind a cache is,
// so that what the cache does not show yet is not sent again. It holds what
// diverges and what was written and not seen since; what is settled or deleted
// is forgotten.
//
//	apply.go       when to send, and what became of it
//	structure.go   how objects are made up, by the schema
//	compare.go     what differs
//	divergence.go  what differs for good, for people
//	memory.go      what is remembered of the last write
//	ownership.go   who owns which field
//	refusal.go     what the API server says when it refuses a write
//	room.go        what to do when both do not fit; clash.go finds what is in the
//	               way
//	encode.go      objects and hashes from apply configurations
//
// Nothing here knows what the objects mean or whose they are.
package apply
