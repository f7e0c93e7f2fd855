// SPDX-License-Identifier: Apache-2.0

package guidance

import "time"

// User is somebody who signs in and answers, for one or more patients.
type User struct {
	ID string // a UUID
	Contact
	CreatedAt time.Time
}
