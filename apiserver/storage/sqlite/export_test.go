// SPDX-License-Identifier: Apache-2.0

package sqlite

// LockOpening lets tests be the other process.
var LockOpening = lockOpening

// Pragma returns what the store's connection has for a setting of SQLite.
func (s *Store) Pragma(name string) (value string, err error) {
	err = s.database.Load().QueryRow("PRAGMA " + name).Scan(&value)
	return value, err
}
