// SPDX-License-Identifier: Apache-2.0

// Package storage defines what an API server stores, as the interfaces that every store
// implements. storage/sqlite (embedded, single process) and storage/postgres (shared by
// replicas) implement them with the queries of storage/internal/sqlstore; storage/open
// selects an implementation by URL; storage/conformance tests that both behave the same.
//
// Consumers do not import this package: they declare the methods that they call, and
// Scope adapts a store to them. SQL, drivers and domain rules do not belong here either.
package storage
