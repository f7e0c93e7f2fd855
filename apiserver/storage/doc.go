// SPDX-License-Identifier: Apache-2.0

// Package storage declares what an API server keeps: the interfaces through
// which the rest of the server reads and writes, and the few types that cross
// them. The interfaces are implemented in storage/sqlite (embedded, one
// process) and storage/postgres (a server shared by replicas); storage/open
// picks one by its URL; storage/conformance holds both to the same behaviour.
//
// No SQL, no driver and no rule of the domain may live here.
package storage
