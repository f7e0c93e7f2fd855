// SPDX-License-Identifier: Apache-2.0

package record

import "time"

// User is a person who signs in and answers surveys for one or more patients.
type User struct {
	ID string // a UUID
	Contact
	CreatedAt time.Time
}
