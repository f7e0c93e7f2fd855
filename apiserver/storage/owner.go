// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"
)

// Owner identifies the Instance that opens a store. The zero Owner opens every store and
// does not mark it, for servers that are run manually.
type Owner struct {
	UID string
	// AdoptUIDs are the UIDs of former Instances whose data this Instance takes over.
	AdoptUIDs []string
}

// CheckMarker returns a *WrongOwnerError if the owner may not open a store marked with a
// UID. Every owner may open an unmarked store, for which marked is empty.
func (o Owner) CheckMarker(marked string) error {
	if o.UID == "" || marked == "" || marked == o.UID || slices.Contains(o.AdoptUIDs, marked) {
		return nil
	}
	return &WrongOwnerError{OwnerUID: marked, RequestedUID: o.UID}
}

// WrongOwnerError indicates that a store holds the data of another Instance. Retrying
// does not help.
type WrongOwnerError struct {
	OwnerUID     string // UID of the Instance that owns the data
	RequestedUID string // UID of the Instance that tried to open it
}

// Error names the owner and explains how to take over the data.
func (e *WrongOwnerError) Error() string {
	return fmt.Sprintf("the database belongs to the Instance with UID %s, not to this one with UID %s: "+
		"use a separate database or, once that Instance is deleted, set the annotation anamnesis.dev/adopt: %s to adopt its data", e.OwnerUID, e.RequestedUID, e.OwnerUID)
}
