// SPDX-License-Identifier: Apache-2.0

// Package postgres implements storage on a PostgreSQL server that the replicas
// of an instance share, or on anything that speaks its protocol.
//
// What is kept, and the rules it obeys, are declared in package storage; here
// is only how PostgreSQL keeps it: migrations/, queries.sql and the code that
// sqlc makes of them. No error that leaves this package holds a host, a user,
// a database's name or a password: see failure.
package postgres
