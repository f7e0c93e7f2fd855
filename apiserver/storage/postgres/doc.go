// SPDX-License-Identifier: Apache-2.0

// Package postgres implements storage on a PostgreSQL server, or a compatible one, that
// the replicas of an instance share.
//
// Package storage defines what is stored and under which rules; this package contains
// only what is specific to PostgreSQL: connections, migrations/, and the statements in
// queries.sql. The statements shared with SQLite are in package sqlstore. Errors from this
// package never contain a host, user, database name or password: see wrapError.
package postgres
