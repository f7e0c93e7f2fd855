// SPDX-License-Identifier: Apache-2.0

// Package postgrestest runs a real PostgreSQL server for tests: a separate cluster in
// its own directory, protected by a password and run by a user other than root. The server
// stops when its parent process dies.
//
// Tests call Run in TestMain and NewDatabase for an empty database. They use the server
// at ANAMNESIS_TEST_POSTGRES, which hack/setup starts for several packages, or start
// their own. If PostgreSQL is not installed, tests fail.
//
// The API server must not use this package, and this package must not change the machine:
// hack/setup installs PostgreSQL.
package postgrestest
