// SPDX-License-Identifier: Apache-2.0

package sqlite

// LockForOpen lets tests act as another process.
var LockForOpen = lockForOpen

// Pragma returns the value of a pragma on the store's connection.
func (s *Store) Pragma(name string) (value string, err error) {
	err = s.db.Load().QueryRow("PRAGMA " + name).Scan(&value)
	return value, err
}
