// SPDX-License-Identifier: Apache-2.0

// Package identifier validates identifiers that clients supply: the ids of resources, and
// the ids and keys that clients choose themselves. Names and free text do not belong here.
package identifier

import "github.com/google/uuid"

// MaxLength is the maximum length of ids that clients choose themselves, in bytes.
const MaxLength = 128

// IsUUID reports whether id is well-formed for a stored resource. Malformed ids must not be
// looked up, because not every store accepts arbitrary text.
func IsUUID(id string) bool { return uuid.Validate(id) == nil }

// IsVisibleASCII reports whether text consists of at most maxLength visible ASCII
// characters, which are safe in headers and logs. It returns true for an empty text.
func IsVisibleASCII(text string, maxLength int) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) <= maxLength
}
