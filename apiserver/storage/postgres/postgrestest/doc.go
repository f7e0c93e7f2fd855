// SPDX-License-Identifier: Apache-2.0

// Package postgrestest runs a real PostgreSQL server for tests: a cluster of
// its own in a directory of its own, with a password, as a user that is not
// root, gone when it is stopped or when its parent dies.
//
// Tests call Run in TestMain and Database for an empty database. They use the
// server that ANAMNESIS_TEST_POSTGRES names, as hack/setup starts one for many
// packages, or start their own. A missing server is a failure.
//
// Nothing here may be used by the API server itself, and nothing here changes
// the machine: installing PostgreSQL is for hack/setup.
package postgrestest
