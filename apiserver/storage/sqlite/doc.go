// SPDX-License-Identifier: Apache-2.0

// Package sqlite implements storage in a single SQLite file, for tenants without a
// database server. Only one process may use the file, with one connection that writes and
// a few that read.
//
// Commits are durable before they are reported: the file uses write-ahead logging (WAL)
// with synchronous=FULL.
//
// Package storage defines what is stored and under which rules; this package contains
// only what is specific to SQLite: connections, migrations/, and the statements in
// queries.sql. The statements shared with PostgreSQL are in package sqlstore.
package sqlite
