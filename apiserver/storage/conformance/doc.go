// SPDX-License-Identifier: Apache-2.0

// Package conformance tests the contract of package storage on a real database, so that
// every storage behaves the same. The tests of each storage call Run, and RunChild in
// their TestMain. Tests of behavior that only one storage has belong in that storage's
// package.
package conformance
