// SPDX-License-Identifier: Apache-2.0

// Package sqlite implements storage in one SQLite file, for a tenant without a
// database server. The file has one writer at a time: one process, which holds
// one handle and shares it.
//
// Every commit is on the disk before it is reported: the file is written ahead
// (WAL) with synchronous=FULL.
//
// What is kept, and the rules it obeys, are declared in package storage; here
// is only how SQLite keeps it: migrations/, queries.sql and the code that sqlc
// makes of them.
package sqlite
