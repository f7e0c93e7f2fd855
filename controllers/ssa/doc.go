// SPDX-License-Identifier: Apache-2.0

// Package ssa sends objects to the API server by server-side apply, and only when
// necessary: when a sent field differs from the live object, or when the desired state
// differs from what was sent last time.
//
// The first check compares only the sent fields, and ignores fields set by defaults,
// autoscalers and other field managers. The schema bundled with client-go, by which the
// API server itself merges objects, defines whether lists and maps are shared between
// owners, and which keys identify list items. The second check detects fields that were
// removed from the desired state, which a comparison with the live object cannot detect.
// It relies on a hash in an annotation of the object.
//
// After a write, the response is compared again. If it still differs, something in the API
// server, such as a mutating admission policy, enforces other values. The result is Drift,
// which is reported and not overwritten again. Generations cannot detect drift: the
// generation of a Deployment also increases when annotations change, and a policy may keep
// part of a write.
//
// The Applier remembers drift in memory, by UID. Persisting it would cost one more write
// per object, and that write would itself be subject to the policies. After a restart, the
// operator sends each drifted object once, which changes nothing, and remembers the drift
// again. The same memory detects stale caches, so that a write is not repeated before the
// cache shows it. It holds only objects that drift and writes that the cache does not show
// yet; all other objects are evicted.
//
//	apply.go            decides whether to send an object, and sends it
//	type_schema.go      the structure of objects, according to their schema
//	compare.go          differences between sent and live objects
//	drift.go            lasting differences, formatted for users
//	write_cache.go      the remembered state of the last write
//	ownership.go        managed fields: the owners of fields
//	rejection.go        parsing of the API server's validation errors
//	list_conflicts.go   resolution of conflicting list items;
//	                    conflict_finder.go finds them
//	upgrade.go          ownership of objects that were created, not applied
//	encode.go           objects and hashes from apply configurations
//
// The package is independent of the meaning and the owners of the objects.
package ssa
