// SPDX-License-Identifier: Apache-2.0

// Package postgres implements storage on a PostgreSQL server, or a compatible one, that
// the replicas of an instance share.
//
// Package storage defines what is stored and under which rules; this package contains
// only what PostgreSQL alone needs: connections, migrations/, and in queries.sql the
// statements that SQLite does not share. The shared ones are in package sqlstore. Errors from this package never contain a host, user, database
// name or password: see wrapError.
package postgres
