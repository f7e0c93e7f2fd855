// SPDX-License-Identifier: Apache-2.0

// Package storage defines what an API server stores: the interfaces through which the
// rest of the server reads and writes, and the few types they use. storage/sqlite
// (embedded, single process) and storage/postgres (shared by replicas) implement them;
// storage/open selects an implementation by URL; storage/conformance tests that both
// behave the same.
//
// SQL, drivers and domain rules do not belong here.
package storage
