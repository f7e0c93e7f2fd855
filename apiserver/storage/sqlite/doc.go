// SPDX-License-Identifier: Apache-2.0

// Package sqlite implements storage in a single SQLite file, for tenants without a
// database server. A file has one writer: one process that shares a single connection.
//
// Commits are durable before they are reported: the file uses write-ahead logging (WAL)
// with synchronous=FULL.
//
// Package storage defines what is stored and under which rules; this package contains
// only the SQLite implementation: migrations/, queries.sql and the code that sqlc
// generates from them.
package sqlite
