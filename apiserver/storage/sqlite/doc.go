// SPDX-License-Identifier: Apache-2.0

// Package sqlite implements storage in a single SQLite file, for tenants without a
// database server. A file has one writer: one process, with one connection that writes and
// a few that read.
//
// Commits are durable before they are reported: the file uses write-ahead logging (WAL)
// with synchronous=FULL.
//
// Package storage defines what is stored and under which rules; this package contains
// only what SQLite alone needs: connections, migrations/, and in queries.sql the statements
// that PostgreSQL does not share. The shared ones are in package sqlstore.
package sqlite
