// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"
)

// Owner is the Instance that opens a store. The zero Owner opens every store and
// leaves no mark: that of somebody who runs a server by hand.
type Owner struct {
	UID string
	// Adopts are the UIDs of former Instances whose data this one takes over.
	Adopts []string
}

// May says, in a *ForeignError, that the owner may not open a store that is marked
// with a UID. A store without a mark, which is empty, is anybody's.
func (o Owner) May(marked string) error {
	if o.UID == "" || marked == "" || marked == o.UID || slices.Contains(o.Adopts, marked) {
		return nil
	}
	return &ForeignError{Marked: marked, UID: o.UID}
}

// A ForeignError says that a store holds the data of another Instance. Trying again
// does not help.
type ForeignError struct {
	Marked string // the UID of the Instance whose data it is
	UID    string // that of the one that wanted to open it
}

// Error says whose it is, and how it is taken over.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("the database holds the data of the Instance with the UID %s, and this is the one with the UID %s: "+
		"give it a database of its own, or the annotation anamnesis.dev/adopt: %s to take that data over once the other is gone", e.Marked, e.UID, e.Marked)
}
