// SPDX-License-Identifier: Apache-2.0

package sqlite

// LockOpening lets tests be the other process.
var LockOpening = lockOpening
