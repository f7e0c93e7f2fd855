// SPDX-License-Identifier: Apache-2.0

// Package ssa sends objects to the API server by server-side apply, and only when
// necessary: when a sent field differs from the live object, or when the desired state
// differs from what was sent last time.
//
// The first check compares only the fields that are sent, which leaves defaults,
// autoscalers and other field managers alone. Whether lists and maps are shared between
// owners, and which keys identify list items, comes from the schema by which the API
// server itself merges, as bundled with client-go. The second check detects fields that
// are no longer sent, which a comparison with the live object cannot see. It relies on a
// hash kept in an annotation of the object.
//
// After a write, the response is compared again. If it still differs, something behind
// the API server, such as a mutating admission policy, enforces other values. The result
// is Drift, which is reported and not fought. Generations would not reveal it: the
// generation of a Deployment also increases with annotations, and a policy may keep part
// of a write.
//
// The Applier remembers drift in memory, by UID. Persisting it would cost one more write
// per object, and that write would itself be subject to the policies. After a restart,
// the operator sends each drifted object once, which changes nothing, and remembers it
// again. The same memory detects stale caches, so that a write the cache does not show
// yet is not repeated. It holds only objects that drift and writes that the cache has
// not shown yet; settled and deleted objects are evicted.
//
//	apply.go            when to send, and with which outcome
//	type_schema.go      the structure of objects, by their schema
//	compare.go          differences between sent and live objects
//	drift.go            lasting differences, formatted for people
//	write_cache.go      what is remembered of the last write
//	ownership.go        managed fields: which manager owns which field
//	rejection.go        parsing of the API server's validation errors
//	list_conflicts.go   resolution of conflicting list items;
//	                    conflict_finder.go finds them
//	upgrade.go          ownership of objects that were created, not applied
//	encode.go           objects and hashes from apply configurations
//
// The package does not know what the objects mean or who owns them.
package ssa
